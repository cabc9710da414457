"""The linking part of the demo: two people who are done, one who has begun, on summaries of systems and of people.

What they say is invented: the example judge's verdicts (the offline judge's, on texts of people) with a share of
answers moved to a neighbour, a share that differs from person to person.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from annotation.labelling import handling, summaries
from annotation.labelling.recording import record
from annotation.linking import planning
from annotation.linking.bullets import linkable_numbers
from annotation.linking.recording import LINK, LinkingAnswer
from annotation.linking.unlinked import UNLINKED, UnlinkedReasons
from annotation.models import Annotator, LabelTask, Study, UnlinkedReason
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from benchmarks.models import Haystack, Verdict
from benchmarks.scoring.summhay import COVERAGES, Coverage
from summhay_site.models import User

NAME = "Island ferry: what do the summaries cover?"
N_SUMMARIES = 24
N_OF_PEOPLE = 6
MOVES = (0.08, 0.14, 0.1)
"""Share of answers that each person moves to a neighbour."""

FACTS = (UnlinkedReason.SUBTOPIC.value, UnlinkedReason.UNSUPPORTED.value)
"""Why a bullet with a citation may cover nothing."""

Answer = tuple[str, tuple[int, ...]]


def load(*, haystack: Haystack, linkers: Sequence[Annotator], researcher: User, now: datetime) -> Study:
    """Set the study up and play its past: all but the last of the linkers are done."""
    of_systems = summaries.draw(
        summaries.candidates([haystack], user=researcher, with_people=False), N_SUMMARIES - N_OF_PEOPLE, seed=3
    )
    of_people = summaries.draw(
        summaries.candidates([haystack], user=researcher, with_systems=False), N_OF_PEOPLE, seed=3
    )
    start = now - timedelta(days=3)
    study = planning.create_study(
        details=lifecycle.Details(
            name=NAME,
            description="Which insights do summaries of systems and people cover, how fully, and where?",
            contact="ada@example.org",
        ),
        plan=planning.LinkingValues(overlap_number=N_SUMMARIES // 2, asks_unlinked=True),
        summaries=[*of_systems, *of_people],
        guidelines=default_guidelines(Study.Kind.LINKING),
        annotators=linkers,
        by=researcher,
        now=start,
    )
    study = lifecycle.open_study(study=study, by=researcher, now=start)
    expected = _expected(study)
    for person, share in zip(linkers, MOVES, strict=True):
        if not consent.is_given(person):
            consent.give(annotator=person, version=consent.ensure_default_consent(now=start).version, now=start)
        tasks = study.label_tasks.filter(annotator=person).select_related("item__summary__subtopic")
        done = list(tasks.order_by("position"))
        _play(done if person != linkers[-1] else done[:3], expected, share=share, began=start + timedelta(hours=1))
    return study


def _expected(study: Study) -> dict[tuple[int, int], Answer]:
    """What a judge says of each summary and insight; an imported one's word goes before the offline one's."""
    rows = Verdict.objects.valid().filter(summary__label_items__study=study).order_by("is_imported", "pk")
    return {
        (summary, insight): (coverage, tuple(lines))
        for summary, insight, coverage, lines in rows.values_list("summary_id", "insight_id", "coverage", "lines")
    }


def _play(
    tasks: Sequence[LabelTask], expected: dict[tuple[int, int], Answer], *, share: float, began: datetime
) -> None:
    at = began
    for task in tasks:
        own = LabelTask.objects.filter(pk=task.pk)
        dice = random.Random(f"{task.study_id}:{task.annotator_id}:{task.position}")  # noqa: S311  invented work
        known = sorted(linkable_numbers(task.item.summary))
        handling.contact(tasks=own, now=at)
        linked: set[int] = set()
        for insight in task.item.summary.subtopic.insights.order_by("number"):
            at += timedelta(seconds=dice.randint(12, 55))
            answer = expected.get((task.item.summary.pk, insight.pk), (Coverage.NONE.value, ()))
            coverage, lines = _moved(answer, known, dice) if dice.random() < share else answer
            usable = [line for line in lines if line in known][:1]
            if usable and dice.random() < share / 2:
                usable = [dice.choice(known)]
            linked.update(usable)
            record(
                kind=LINK,
                tasks=own,
                question=insight.uid,
                answer=LinkingAnswer(
                    coverage if usable else Coverage.NONE.value, tuple(usable), dice.random() < 0.04
                ),
                op_id=uuid5(NAMESPACE_URL, f"{task.uid}/{insight.uid}").hex,
                now=at,
            )
        at += timedelta(seconds=dice.randint(5, 30))
        _say_why(task, [line for line in known if line not in linked], dice, at=at)
    for task in tasks[2:3]:
        handling.remark(
            tasks=LabelTask.objects.filter(pk=task.pk),
            is_flagged=True,
            comment="One bullet says two things at once; I judged each on its own.",
            now=at,
        )


def _say_why(task: LabelTask, unlinked: Sequence[int], dice: random.Random, *, at: datetime) -> None:
    """Why bullets cover nothing: those that cite nothing are too general; some get no reason."""
    lines = task.item.summary.text.split("\n")
    reasons = tuple(
        (line, dice.choice(FACTS) if "[" in lines[line - 1] else UnlinkedReason.GENERAL.value)
        for line in unlinked
        if dice.random() < 0.85
    )
    if reasons:
        record(
            kind=UNLINKED.answers,
            tasks=LabelTask.objects.filter(pk=task.pk),
            answer=UnlinkedReasons(reasons),
            op_id=uuid5(NAMESPACE_URL, f"{task.uid}/bullets").hex,
            now=at,
        )


def _moved(answer: Answer, known: Sequence[int], dice: random.Random) -> Answer:
    """A neighbour of an answer; what becomes covered is covered in some bullet."""
    place = COVERAGES.index(answer[0])
    new = COVERAGES[place + dice.choice([-1, 1])] if place == 1 else Coverage.PARTIAL.value
    return new, answer[1] or ((dice.choice(known),) if known else ())
