"""The verification part of the demo: two careful people and a hasty one are done, one has begun, one has not.

What they say is invented: what is known to be wrong with the demo's key points, with errors at a rate that differs
from person to person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import NAMESPACE_URL, uuid5

from annotation.labelling import handling
from annotation.labelling.recording import record
from annotation.labelling.simulation import Rates, times_of
from annotation.models import Annotator, Keyness, LabelItem, LabelTask, Study
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.verification import planning
from annotation.verification.recording import POINT, Judgments
from annotation.verification.simulated import Truth, answers_of
from benchmarks.demo.questions import demo_flaws
from benchmarks.models import Question
from summhay_site.models import User

NAME = "Key points: found in the text, and key?"
RATES = (
    Rates(first=0.03, second=0.06, seconds=28),
    Rates(first=0.05, second=0.1, seconds=36),
    Rates(first=0.3, second=0.4, seconds=2),
    Rates(first=0.04, second=0.08, seconds=31),
)
"""The error rates of the people, in their order: the third hardly looks."""
SHARE_BEGUN = 0.4
"""How much the last of those who work has done."""


def load(
    *, verifiers: Sequence[Annotator], newcomer: Annotator, questions: str, researcher: User, now: datetime
) -> Study:
    """Set the study up on a question set and play its past; `newcomer` has everything still to do."""
    start = now - timedelta(days=2)
    study = planning.create_study(
        details=lifecycle.Details(
            name=NAME,
            description="Do the documents contain each point, and does a good answer need it?",
            contact="ada@example.org",
        ),
        plan=planning.VerificationValues(
            control_share=Decimal("0.3"), people_per_question=2, n_attention_checks=1
        ),
        questions=Question.objects.of(dataset=questions),
        guidelines=default_guidelines(Study.Kind.VERIFICATION),
        annotators=[*verifiers, newcomer],
        by=researcher,
        now=start,
    )
    study = lifecycle.open_study(study=study, by=researcher, now=start)
    for person, rates in zip(verifiers, RATES, strict=True):
        if not consent.is_given(person):
            consent.give(annotator=person, version=consent.ensure_default_consent(now=start).version, now=start)
        tasks = study.label_tasks.filter(annotator=person).select_related("item__key_point")
        own = list(tasks.order_by("position"))
        n = len(own) if person != verifiers[-1] else int(SHARE_BEGUN * len(own))
        _play(own[:n], rates, person=person.label, began=start + timedelta(hours=1))
    return study


def _play(tasks: Sequence[LabelTask], rates: Rates, *, person: str, began: datetime) -> None:
    flaws = demo_flaws()
    truth = {task.pk: _truth(task.item, flaws) for task in tasks}
    answers = answers_of(truth, rates=rates, person=person, seed=1)
    times = times_of(truth, rates=rates, person=person, seed=1)
    at = began
    for task in tasks:
        own = LabelTask.objects.filter(pk=task.pk)
        handling.contact(tasks=own, now=at)
        at += timedelta(milliseconds=times[task.pk])
        answer = Judgments(answers[task.pk].grounded, answers[task.pk].keyness)
        op_id = uuid5(NAMESPACE_URL, f"{task.uid}/answer").hex
        record(kind=POINT, tasks=own, answer=answer, op_id=op_id, now=at)
        at += timedelta(milliseconds=300)
    if rates == RATES[1]:
        handling.remark(
            tasks=LabelTask.objects.filter(pk=tasks[4].pk),
            is_flagged=True,
            comment="The text says it of another year; I took the number as the point.",
            now=at,
        )


def _truth(item: LabelItem, flaws: dict[str, str]) -> Truth:
    """What is known of a key point; the text of an attention check cannot hold its point."""
    flaw = flaws.get(item.key_point.key, "")
    if item.role == LabelItem.Role.GOLD or flaw == "not grounded":
        return Truth(False, Keyness.AGREE.value)
    return Truth(True, (Keyness.DISAGREE if flaw else Keyness.AGREE).value)
