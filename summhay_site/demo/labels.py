"""Plays past label work of every kind: a person opens one task after the other, works for a while, and answers.

What they say is invented: what a judge says, or what is known of the demo's key points, with errors at a rate that
differs from person to person. Which errors follows from names and positions alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from annotation.labelling import handling
from annotation.labelling.recording import AnswerKind, record
from annotation.labelling.simulating import Rates, mistaken
from annotation.linking.bullets import linkable_numbers
from annotation.linking.recording import LINK, LinkingAnswer
from annotation.linking.unlinked import UNLINKED, UnlinkedReasons
from annotation.models import Keyness, LabelItem, LabelTask, Study, UnlinkedReason, WhyNot
from annotation.rating.recording import RATED, Rated
from annotation.validation.exports import verdicts_on
from annotation.validation.recording import PAIR, PairAnswer
from annotation.verification.recording import POINT
from annotation.verification.simulated import Truth, said_of
from benchmarks.models import Summary, Verdict
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LEVELS, LOWEST
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage, worth
from benchmarks.scoring.text import lines_from_list, words_per_bullet
from summhay_site.demo.cast import agree, annotators
from summhay_site.demo.material import read

SHARE_UNSURE = 0.04
SHARE_WITHOUT_REASON = 0.15
FACTS = (UnlinkedReason.SUBTOPIC.value, UnlinkedReason.UNSUPPORTED.value)
"""Why a bullet with a citation may cover nothing."""


@dataclass(frozen=True)
class Said:
    """An answer of some kind, to a question of the task if its kind has several."""

    kind: AnswerKind[Any]
    answer: Any
    question: UUID | None = None


Answers = Callable[[LabelTask, Rates, random.Random], Iterator[Said]]
"""What somebody of such rates answers to a task, one thing after the other."""


def label(*, study: str, people: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
    """Let people work in a study, each at rates of their own, on all or the first tasks; some remark on one."""
    row = Study.objects.get(name=study)
    answers = KINDS[row.kind](row)
    for annotator, work in zip(annotators(people), people.values(), strict=True):
        agree(annotator, now=now)
        rates = Rates(work["first"], work.get("second", 0.0), work["seconds"])
        tasks = row.label_tasks.filter(annotator=annotator).select_related("item__summary__subtopic")
        at = now
        for task in tasks.order_by("position")[: work.get("n_tasks")]:
            dice = random.Random(f"{study}/{annotator.label}/{task.position}")  # noqa: S311  invented work
            at = _work(task, answers, rates, dice, at=at)
        if remark := work.get("remark"):
            about = tasks.filter(position=remark["position"])
            handling.remark(tasks=about, is_flagged=True, comment=remark["text"], now=at)


def _work(task: LabelTask, answers: Answers, rates: Rates, dice: random.Random, *, at: datetime) -> datetime:
    """Open a task and answer what it asks, each after some seconds; returns when that was over."""
    tasks = LabelTask.objects.filter(pk=task.pk)
    handling.contact(tasks=tasks, now=at)
    for number, said in enumerate(answers(task, rates, dice)):
        at += timedelta(seconds=rates.seconds * dice.lognormvariate(0, 0.4))
        record(
            kind=said.kind,
            tasks=tasks,
            answer=said.answer,
            question=said.question,
            op_id=f"demo-{number}",
            now=at,
        )
    return at


def near(level: Any, *, rate: float, dice: random.Random, among: Sequence[Any] = LEVELS) -> Any:
    """The same level of a scale, or at this rate one beside it."""
    at = among.index(level)
    return dice.choice([*among[max(at - 1, 0) : at], *among[at + 1 : at + 2]]) if dice.random() < rate else level


def _linking(study: Study) -> Answers:
    """What a judge says of each insight, imported ones before the offline one; then why bullets cover nothing."""
    rows = Verdict.objects.valid().filter(summary__label_items__study=study).order_by("is_imported", "pk")
    verdicts = {(row.summary_id, row.insight_id): row for row in rows}

    def answers(task: LabelTask, rates: Rates, dice: random.Random) -> Iterator[Said]:
        summary: Any = task.item.summary
        known, linked = sorted(linkable_numbers(summary)), set()
        for insight in summary.subtopic.insights.order_by("number"):
            verdict = verdicts.get((summary.pk, insight.pk))
            right = verdict.coverage if verdict else Coverage.NONE.value
            coverage = near(right, rate=rates.first, dice=dice, among=COVERAGES)
            lines = [line for line in verdict.lines if line in known] if verdict else []
            if known and (not lines or dice.random() < rates.second):
                lines = [dice.choice(known)]
            if coverage not in COVERED or not lines:
                coverage, lines = Coverage.NONE.value, []
            linked.update(lines[:1])
            is_unsure = dice.random() < SHARE_UNSURE
            yield Said(LINK, LinkingAnswer(coverage, tuple(lines[:1]), is_unsure), insight.uid)
        if reasons := _reasons(summary, [line for line in known if line not in linked], dice):
            yield Said(UNLINKED, UnlinkedReasons(reasons))

    return answers


def _reasons(summary: Summary, unlinked: Sequence[int], dice: random.Random) -> tuple[tuple[int, str], ...]:
    """Why bullets cover nothing: those that cite nothing are too general; some get no reason."""
    lines = summary.text.split("\n")
    return tuple(
        (line, dice.choice(FACTS) if "[" in lines[line - 1] else UnlinkedReason.GENERAL.value)
        for line in unlinked
        if dice.random() >= SHARE_WITHOUT_REASON
    )


def _rating(_study: Study) -> Answers:
    """One aspect after the other."""

    def answers(task: LabelTask, rates: Rates, dice: random.Random) -> Iterator[Said]:
        summary: Any = task.item.summary
        ratings: dict[str, Any] = {}
        for aspect, level in zip(ASPECTS, levels_of(summary), strict=True):
            ratings[aspect] = near(level, rate=rates.first, dice=dice)
            yield Said(RATED, Rated(**ratings))

    return answers


def levels_of(summary: Summary) -> list[int]:
    """A rating for each aspect: the more insights the offline judge found, the more informative, and so on."""
    rows = Verdict.objects.valid().filter(summary=summary, is_imported=False)
    worths = [worth()[coverage] for coverage in rows.values_list("coverage", flat=True)]
    informative = LOWEST + round((HIGHEST - LOWEST) * sum(worths) / (len(worths) or 1))
    words = words_per_bullet(lines_from_list(summary.lines)).value or 0
    clear = HIGHEST if words < 25 else HIGHEST - 1 if words < 35 else LOWEST + 2
    supported = min(HIGHEST, informative + 1)
    return [round((informative + clear + supported) / 3), informative, clear, clear, supported]


def _validation(study: Study) -> Answers:
    """What the judge says, or something else, and why a response does not make a point."""
    verdicts = verdicts_on(study)

    def answers(task: LabelTask, rates: Rates, dice: random.Random) -> Iterator[Said]:
        pair: Any = (task.item.response_id, task.item.key_point_id)
        answer = mistaken(verdicts[pair], ENTAILMENTS, rate=rates.first, dice=dice)
        yield Said(PAIR, PairAnswer(answer, why_not=_why_not(answer, dice)))

    return answers


def _why_not(answer: str, dice: random.Random) -> str:
    """The reason for an answer; some give none. What a response mentions is incomplete or too general."""
    if answer == Entailment.YES or dice.random() < SHARE_WITHOUT_REASON:
        return ""
    if answer == Entailment.NO:
        return dice.choice([WhyNot.MISSING, WhyNot.MISSING, WhyNot.CONTRADICTED])
    return dice.choice([WhyNot.INCOMPLETE, WhyNot.GENERAL])


def _verification(_study: Study) -> Answers:
    """What is known to be wrong with key points; the text of an attention check cannot hold its point."""
    flaws = read("flaws.json")

    def answers(task: LabelTask, rates: Rates, dice: random.Random) -> Iterator[Said]:
        point: Any = task.item.key_point
        flaw = flaws.get(point.key, "")
        is_grounded = task.item.role != LabelItem.Role.GOLD and flaw != "not grounded"
        keyness = Keyness.DISAGREE if flaw and is_grounded else Keyness.AGREE
        yield Said(POINT, said_of(Truth(is_grounded, keyness.value), rates, dice))

    return answers


KINDS: Mapping[str, Callable[[Study], Answers]] = {
    Study.Kind.LINKING: _linking,
    Study.Kind.RATING: _rating,
    Study.Kind.VALIDATION: _validation,
    Study.Kind.VERIFICATION: _verification,
}
