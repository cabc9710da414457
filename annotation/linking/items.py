"""Linking studies: set up, dealt, the worked examples of a trial, and how simulated people link.

Work that was begun is never taken from anybody.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Unpack
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from pydantic import Field

from annotation.labelling import summaries as label_items
from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken, near
from annotation.labelling.summaries import chosen_summaries
from annotation.labelling.trial import (
    MOST,
    Example,
    ExampleAnswers,
    Judged,
    OwnItem,
    OwnSet,
    TrialKind,
    sentence,
    some,
)
from annotation.linking.answers import (
    LINK,
    UNLINKED,
    LinkingAnswer,
    Question,
    UnlinkedReasons,
    bullets_of,
    laid_out,
    linkable_numbers,
)
from annotation.linking.disputes import agreed_answers
from annotation.models import (
    CoverageLabel,
    LabelItem,
    LabelKey,
    LabelTask,
    LinkingPlan,
    Study,
    UnlinkedReason,
)
from annotation.pane import direction_of
from annotation.studies import tasks
from annotation.studies.dealing import Item, Pair, sample
from annotation.studies.gaps import Reason, rows_of
from annotation.studies.kind import NotPossible
from annotation.studies.lifecycle import NewStudy, new_study
from annotation.studies.tasks import Dealing, Dealt, task_counts
from benchmarks.io.schemas.fields import Expected, Part, Text
from benchmarks.models import Haystack, Insight, Subtopic, Summary, Verdict
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

Checks = tuple[Study, int, int]
"""The study on whose agreed or decided answers training and hidden gold items stand, and how many of each."""


class TooFewAgreed(NotPossible):
    """The source has not enough summaries whose answers are agreed on or decided; the message says how many."""

    field = "checks_source"


@transaction.atomic
def create_study(
    *,
    plan: LinkingPlan,
    summaries: Iterable[Summary],
    checks: Checks | None = None,
    at_random: bool = False,
    **values: Unpack[NewStudy],
) -> Study:
    """Make a linking study with its items and tasks, not yet open; its maker is one of its researchers.

    `at_random` says that the summaries were drawn within each system.

    Raises:
        TooFewAgreed: there are not as many summaries with agreed answers as `checks` asks for.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.LINKING, plan=plan, **values)
    add_checks(study, checks, now=now)
    label_items.add_summaries(study=study, summaries=summaries, at_random=at_random, by=by, now=now)
    deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every summary its missing annotators. With `rebalance`, tasks that nobody opened are assigned anew.

    Nobody gets a summary of their own, nor one on a haystack that they still have to write on, nor a training or
    gold item that they labelled before.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    before = task_counts(study)
    if rebalance:
        study.label_tasks.untouched().delete()
    _draw_overlap(study)
    narrows_first = study.linking_plan.narrows_first
    return tasks.deal(study=study, by=by, now=now, before=before, narrows_first=narrows_first, **dealing(study))


def dealing(study: Study) -> Dealing:
    """Summaries are assigned one by one; nobody gets a training or gold item that they labelled before."""
    barred: Any = SimpleLazyObject(partial(_barred, study))  # four queries, for where it is asked
    return {"group": "pk", "wanted": study.linking_plan.people_per_item, "barred": barred}


def _barred(study: Study) -> dict[Pair, Reason]:
    rows = rows_of(study)
    checks = {item.summary: item.pk for item in rows.items.values() if item.role != LabelItem.Role.ORDINARY}
    labelled = CoverageLabel.objects.filter(summary__in=checks, annotator__in=rows.present).exclude(study=study)
    known = Reason("Labelled the training and gold items before.")
    return label_items.barred_pairs(rows) | {
        (person, checks[summary]): known
        for person, summary in labelled.order_by().values_list("annotator_id", "summary_id").distinct()
    }


def _draw_overlap(study: Study) -> None:
    """Mark items that everyone gets, drawn among those that nobody has yet."""
    plan, assigned = study.linking_plan, set(study.label_tasks.values_list("item_id", flat=True))
    items = list(study.label_items.filter(role=LabelItem.Role.ORDINARY).select_related("summary"))
    target = plan.overlap_number or 0
    if plan.overlap_share is not None:
        target = math.ceil(plan.overlap_share * len(items))
    if (missing := target - sum(item.is_overlap for item in items)) <= 0:
        return
    free = [
        Item(item.pk, (item.summary.system_id, item.summary.subtopic_id))
        for item in items
        if not item.is_overlap and item.pk not in assigned
    ]
    chosen = sample(free, missing, seed=study.seed, label="overlap")[:missing]
    LabelItem.objects.filter(pk__in=[item.pk for item in chosen]).update(is_overlap=True)


def add_checks(study: Study, checks: Checks | None, *, now: datetime) -> None:
    """Draw training and gold items among the summaries whose answers are agreed on or decided in the source.

    Raises:
        TooFewAgreed: there are not as many of them as are asked for.
    """
    if checks is None:
        return
    source, n_training, n_gold = checks
    agreed, wanted = agreed_answers(source), n_training + n_gold
    if len(agreed) < wanted:
        raise TooFewAgreed(
            f"{wanted} summaries were asked for; in “{source.name}” all insights of {len(agreed)} are agreed on "
            "or decided."
        )
    rows = Summary.objects.in_bulk(agreed)
    items = [Item(pk, (row.system_id, row.subtopic_id)) for pk, row in rows.items()]
    for place, item in enumerate(sample(items, wanted, seed=study.seed, label="checks")[:wanted]):
        row, answers = rows[item.pk], agreed[item.pk]
        made = LabelItem.objects.create(
            study=study,
            summary=row,
            block=f"subtopic-{row.subtopic_id}",
            n_questions=len(answers),
            is_overlap=True,
            role=LabelItem.Role.TRAINING if place < n_training else LabelItem.Role.GOLD,
            added_at=now,
        )
        LabelKey.objects.bulk_create(
            LabelKey(item=made, insight_id=insight, coverage=coverage, lines=list(lines))
            for insight, (coverage, lines) in answers.items()
        )


WEIGHTS = (0.5, 0.2, 0.3)
"""How often insights are covered not at all, partially, fully."""
SHARE_UNSURE, SHARE_WITHOUT_REASON = 0.04, 0.15
"""Of answers in the demo."""
FACTS = (UnlinkedReason.SUBTOPIC.value, UnlinkedReason.UNSUPPORTED.value)
"""Why a bullet with a citation may cover nothing."""


class Truth(NamedTuple):
    """The coverage of an insight, the bullet that covers it where it is covered, and all that can be linked."""

    coverage: str
    line: int
    lines: tuple[int, ...]


class SimulatedLinking(Simulated[Truth]):
    """A coverage and a bullet, of one insight after the other."""

    careless = Rates(first=2 / 3, second=0.75, seconds=6)
    rows = ("summary",)

    def make(self, chosen: Chosen, **values: Any) -> Study:
        return create_study(
            plan=LinkingPlan(people_per_item=chosen.people_per_item, overlap_share=chosen.control_share or None),
            summaries=chosen_summaries(chosen.haystacks, chosen.n_items, seed=values["seed"]),
            at_random=chosen.n_items is not None,
            **values,
        )

    def answer(self, true: Truth, rates: Rates, dice: random.Random) -> LinkingAnswer:
        coverage = mistaken(true.coverage, COVERAGES, rate=rates.first, dice=dice)
        line = mistaken(true.line, true.lines, rate=rates.second, dice=dice)
        is_covered = coverage in COVERED and true.lines
        return LinkingAnswer(coverage, (line,)) if is_covered else LinkingAnswer(Coverage.NONE.value)

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Truth]:
        def truth_of(item: LabelItem, dice: random.Random) -> Truth:
            lines = tuple(sorted(linkable_numbers(item.summary)))
            coverage = dice.choices(COVERAGES, WEIGHTS)[0]
            return Truth(coverage, dice.choice(lines), lines) if lines else Truth(Coverage.NONE.value, 0, ())

        return truth_of

    def parts(self, answer: LinkingAnswer) -> Mapping[str, Hashable]:
        return {"coverage": answer.coverage, "link": answer.lines}

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """By what judges say of each insight, imported ones first; then why bullets cover nothing.

        Those that cite nothing are too general; some get no reason.
        """
        rows = Verdict.objects.valid().filter(summary__label_items__study=study).order_by("is_imported", "pk")
        verdicts = {(row.summary_id, row.insight_id): row for row in rows}

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            summary: Any = item.summary
            linkable, linked = sorted(linkable_numbers(summary)), set()
            for insight in summary.subtopic.insights.order_by("number"):
                verdict = verdicts.get((summary.pk, insight.pk))
                right = verdict.coverage if verdict else Coverage.NONE.value
                coverage = near(right, COVERAGES, rate=rates.first, dice=dice)
                lines = [line for line in verdict.lines if line in linkable] if verdict else []
                if linkable and (not lines or dice.random() < rates.second):
                    lines = [dice.choice(linkable)]
                if coverage not in COVERED or not lines:
                    coverage, lines = Coverage.NONE.value, []
                linked.update(lines[:1])
                is_unsure = dice.random() < SHARE_UNSURE
                yield Said(LINK, LinkingAnswer(coverage, tuple(lines[:1]), is_unsure), insight.uid)
            texts = summary.text.split("\n")
            reasons = tuple(
                (line, dice.choice(FACTS) if "[" in texts[line - 1] else UnlinkedReason.GENERAL.value)
                for line in linkable
                if line not in linked and dice.random() >= SHARE_WITHOUT_REASON
            )
            if reasons:
                yield Said(UNLINKED, UnlinkedReasons(reasons))

        return answers


SIMULATED = SimulatedLinking()


class OwnInsight(Part):
    """An insight with its expected coverage and bullets, counted from 1; any of them is right."""

    EXPECTED = "an insight"
    text: Text
    coverage: Annotated[Literal["none", "partial", "full"], Expected("none, partial or full")]
    lines: Annotated[list[int], Field(max_length=MOST), Expected("numbers of bullets, from 1")] = []
    why: Text


class OwnSummary(OwnItem):
    """A summary with the insights that are asked about it."""

    bullets: some(Text, "bullets")  # type: ignore[valid-type]
    insight: some(OwnInsight, "insights")  # type: ignore[valid-type]

    def problem(self, shared: Any) -> tuple[str, str] | None:
        for number, each in enumerate(self.insight):
            if (each.coverage == "none") == bool(each.lines):
                return f"insight[{number}].lines", "bullets where the insight is covered, and none where it is not"
            if not all(1 <= line <= len(self.bullets) for line in each.lines):
                return f"insight[{number}].lines", f"numbers from 1 to {len(self.bullets)}"
        return None


class OwnSummaries(OwnSet):
    query: Text
    item: some(OwnSummary, "examples")  # type: ignore[valid-type]


class LinkingTrial(TrialKind[LinkingAnswer]):
    """Right is the expected coverage and, where it is covered, an expected bullet."""

    file = Path(__file__).with_name("trial.toml")
    answers = LINK
    schema = OwnSummaries

    def texts(self, example: Example) -> Iterable[str]:
        return (*example.values["bullets"], *(insight["text"] for insight in example.values["insight"]))

    def texts_of_items(self, study: Study) -> Iterable[str]:
        items = study.label_items.select_related("summary")
        insights = Insight.objects.filter(subtopic__in=items.values("summary__subtopic"))
        lines = (bullet.text for item in items for bullet in bullets_of(item.summary))
        return chain(insights.values_list("text", flat=True), lines)

    def questions(self, example: Example) -> Sequence[str]:
        """Public ids of its insights, the same in every process."""
        return [
            str(uuid5(NAMESPACE_URL, f"trial/{example.name}/{n}")) for n in range(len(example.values["insight"]))
        ]

    def item(self, example: Example) -> LabelItem:
        haystack = Haystack(language=example.language, direction=direction_of(example.language))
        subtopic = Subtopic(haystack=haystack, name="", query=example.shared["query"])
        text = "\n".join(f"- {bullet}" for bullet in example.values["bullets"])
        return LabelItem(summary=Summary(haystack=haystack, subtopic=subtopic, text=text))

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[LinkingAnswer]) -> dict[str, Any]:
        rows = []
        for n, (uid, values) in enumerate(zip(self.questions(example), example.values["insight"], strict=True), 1):
            insight = Insight(uid=uid, number=n, text=values["text"])
            answer = answers.answers.get(uid, LinkingAnswer())
            came = answers.judged.get(uid)
            rows.append(Question(n, insight, answer, *((came.sentence, came.is_right) if came else ())))
        return laid_out(task, rows)

    def judged(self, task: LabelTask, example: Example, question: str, answer: LinkingAnswer) -> list[Judged]:
        values = example.values["insight"][list(self.questions(example)).index(question)]
        expected = LinkingAnswer(values["coverage"], tuple(values.get("lines", ())))
        is_right = answer.coverage == expected.coverage and (
            not expected.lines or not set(expected.lines).isdisjoint(answer.lines)
        )
        chosen, wanted = (_with_letters(task, each) for each in (answer, expected))
        told = sentence(is_right=is_right, answer=chosen, expected=wanted, why=values["why"])
        decides = example.values["bullets"][expected.lines[0] - 1] if expected.lines else ""
        return [Judged(question, is_right, told, values["text"], decides)]


def _with_letters(task: LabelTask, answer: LinkingAnswer) -> str:
    """An answer with its bullets by their letters, as beside them on the page."""
    letters = [bullet.key for bullet in bullets_of(task.item.summary) if bullet.number in answer.lines]
    level = LINK.in_words(task, replace(answer, lines=()))
    return ", ".join([level, *([_("bullet %(lines)s") % {"lines": ", ".join(letters)}] if letters else [])])


TRIAL = LinkingTrial()
