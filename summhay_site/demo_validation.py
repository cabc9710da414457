"""The validation part of the demo: two people have answered what the offline judge has, a third has all to do.

What they say is invented: the verdict of the judge, turned around at a rate that differs from person to person and
with some neutral answers, as people see passages that say less than a point.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from annotation.labelling import handling
from annotation.labelling.recording import record
from annotation.models import Annotator, LabelTask, Study, WhyNot
from annotation.studies import consent, lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.validation import planning
from annotation.validation.exports import verdicts_on
from annotation.validation.recording import PAIR, PairAnswer
from benchmarks.engine import judging
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment
from summhay_site.models import User

NAME = "Does the offline judge see what responses say?"
N_VERDICTS = 24
RATES = (0.12, 0.2)
"""How often each of those who are done differs from the judge, in their order."""
MEAN_SECONDS = 25


def load(
    *, validators: Sequence[Annotator], newcomer: Annotator, dataset: str, researcher: User, now: datetime
) -> Study:
    """Draw verdicts of the offline judge, deal them, and play the past; `newcomer` has everything still to do."""
    start = now - timedelta(days=1)
    study = planning.create_study(
        details=lifecycle.Details(
            name=NAME,
            description="Read a response and decide whether it makes a point. Nobody sees the judge's verdict.",
            contact="ada@example.org",
        ),
        plan=planning.ValidationValues(people_per_item=3, asks_why_not=True),
        judge=judging.default_judge(now=start),
        n=N_VERDICTS,
        dataset=dataset,
        guidelines=default_guidelines(Study.Kind.VALIDATION),
        annotators=[*validators, newcomer],
        by=researcher,
        now=start,
    )
    study = lifecycle.open_study(study=study, by=researcher, now=start)
    verdicts = verdicts_on(study)
    for person, rate in zip(validators, RATES, strict=True):
        if not consent.is_given(person):
            consent.give(annotator=person, version=consent.ensure_default_consent(now=start).version, now=start)
        at = start + timedelta(hours=1)
        lot = random.Random(f"validation/{person.label}")  # noqa: S311 - the same demo every time
        for task in study.label_tasks.filter(annotator=person).select_related("item").order_by("position"):
            verdict = verdicts[task.item.response_id, task.item.key_point_id]
            at = _answer(task, _near(verdict, rate, lot), lot, at=at)
    return study


def _near(verdict: str, rate: float, lot: random.Random) -> str:
    """What an annotator answers where the judge's verdict is this one."""
    if lot.random() >= rate:
        return verdict
    return lot.choice([answer for answer in ENTAILMENTS if answer != verdict])


def _why_not(answer: str, lot: random.Random) -> str:
    """The reason for an answer; some give none. What a response mentions is incomplete or too general."""
    if answer == Entailment.YES or lot.random() < 0.15:
        return ""
    if answer == Entailment.NO:
        return lot.choice([WhyNot.MISSING, WhyNot.MISSING, WhyNot.CONTRADICTED])
    return lot.choice([WhyNot.INCOMPLETE, WhyNot.GENERAL])


def _answer(task: LabelTask, answer: str, lot: random.Random, *, at: datetime) -> datetime:
    """Open a pair, read for a while, answer; gives when that was over."""
    own = LabelTask.objects.filter(pk=task.pk)
    handling.contact(tasks=own, now=at)
    at += timedelta(seconds=MEAN_SECONDS * lot.uniform(0.5, 1.5))
    op_id = uuid5(NAMESPACE_URL, f"{task.uid}/answer").hex
    given = PairAnswer(answer, why_not=_why_not(answer, lot))
    record(kind=PAIR, tasks=own, answer=given, op_id=op_id, now=at)
    return at
