"""Sets up the studies of the demo and plays past label work; what that is, each kind says.

A person opens one task after the other, works for a while, and answers: what a judge says, or what is known of the
demo's material, with errors at a rate that differs from person to person. Which errors follows from names and
positions alone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from annotation.kinds import kind_named
from annotation.labelling import handling
from annotation.labelling.recording import record
from annotation.labelling.simulating import Played, Rates
from annotation.models import LabelTask, Study
from annotation.studies import lifecycle
from annotation.studies.guidelines import default_guidelines
from summhay_site.demo.cast import agree, annotators, user_of
from summhay_site.demo.material import read

CONTACT = "ada@example.org"


def set_up(
    *,
    kind: str,
    name: str,
    description: str,
    plan: Mapping[str, Any],
    about: Mapping[str, Any],
    people: Sequence[str],
    now: datetime,
) -> None:
    """Make a study with its people and tasks, and open it; `about` is what its kind takes to find its items."""
    of_kind: Any = kind_named(kind)
    study = of_kind.demo_study(
        dict(plan),
        **about,
        details=lifecycle.Details(name=name, description=description, contact=CONTACT),
        guidelines=default_guidelines(kind),
        annotators=annotators(people),
        by=user_of(),
        now=now,
    )
    lifecycle.open_study(study=study, by=user_of(), now=now)


def begin_with_trial(*, study: str, now: datetime) -> None:
    """Let those who have not begun yet in a study start with a trial."""
    row = Study.objects.get(name=study)
    details = lifecycle.Details(**{**lifecycle.details_of(row), "has_trial": True})
    lifecycle.update_details(study=row, details=details, by=user_of(), now=now)


def played(study: Study, known: str = "") -> Played:
    """How people answer in a study; `known` is the file with what is known of its material."""
    kind: Any = kind_named(study.kind)
    answers: Played = kind.simulated.played(study, read(known) if known else {})
    return answers


def label(*, study: str, people: Mapping[str, Mapping[str, Any]], known: str = "", now: datetime) -> None:
    """Let people work in a study, each at rates of their own, on all or the first tasks; some remark on one."""
    row = Study.objects.get(name=study)
    answers = played(row, known)
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


def _work(task: LabelTask, answers: Played, rates: Rates, dice: random.Random, *, at: datetime) -> datetime:
    """Open a task and answer what it asks, each after some seconds; returns when that was over."""
    tasks = LabelTask.objects.filter(pk=task.pk)
    handling.contact(tasks=tasks, now=at)
    for number, said in enumerate(answers(task.item, rates, dice)):
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
