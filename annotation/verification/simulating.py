"""A verification study of its own, filled by simulated annotators; its description says so, and it is closed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Annotator, Keyness, LabelItem, LabelTask, PointLabel, Study
from annotation.studies import lifecycle
from annotation.studies.guidelines import default_guidelines
from annotation.verification.planning import VerificationValues, create_study
from annotation.verification.simulation import Answer, Rates, Truth, answers_of, times_of, true_answers
from benchmarks.models import Question

IN_A_QUERY = 500


class StudyExists(Exception):
    """Simulated answers go into a study of their own, so its name must be new."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """What one simulated annotator did: answers, and how many of them differ from the truth."""

    label: str
    n: int
    n_wrong_grounded: int
    n_wrong_keep: int


@dataclass(frozen=True, slots=True)
class Simulation:
    """The study, its people, and how many of its key points are truly kept."""

    study: Study
    people: tuple[Simulated, ...]
    n_points: int
    n_truly_kept: int


@transaction.atomic
def simulate(
    *,
    name: str,
    questions: Iterable[Question],
    people: Mapping[str, Rates],
    plan: VerificationValues,
    seed: int,
    by: Any,
    now: datetime,
) -> Simulation:
    """Make a study on the questions and let simulated people answer all of it, as of `now`.

    Raises:
        StudyExists: there is a study of this name.
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    if Study.objects.filter(name=name).exists():
        raise StudyExists(_("There is a study “%(name)s”; nothing was written into it.") % {"name": name})
    rows = {label: Annotator.objects.create(label=label, created_at=now) for label in people}
    study = create_study(
        details=lifecycle.Details(
            name=name, description=_("Simulated annotators of known error rates; no person did this work.")
        ),
        plan=plan,
        questions=questions,
        guidelines=default_guidelines(Study.Kind.VERIFICATION),
        annotators=rows.values(),
        by=by,
        now=now,
        seed=seed,
    )
    truth = _truth(study, seed=seed)
    guideline = study.guidelines.get()
    done = [
        _answer(study, rows[label], rates, truth, guideline=guideline, seed=seed, now=now)
        for label, rates in people.items()
    ]
    Annotator.objects.filter(pk__in=[row.pk for row in rows.values()]).update(is_active=False)
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    study.refresh_from_db()
    ordinary = [truth[pk] for pk in _item_pks(study, LabelItem.Role.ORDINARY)]
    return Simulation(study, tuple(done), len(ordinary), sum(row.answer.is_kept for row in ordinary))


def _item_pks(study: Study, role: str) -> list[int]:
    return list(study.label_items.filter(role=role).values_list("pk", flat=True))


def _truth(study: Study, *, seed: int) -> dict[int, Truth]:
    """What is true of each item; the text of an attention check cannot hold its point."""
    rows = study.label_items.values_list("pk", "role", "question__key", "key_point__key")
    names = {pk: f"{question}/{point}" for pk, _role, question, point in rows}
    drawn = true_answers(names.values(), seed=seed)
    checks = {pk for pk, role, _question, _point in rows if role == LabelItem.Role.GOLD}
    return {pk: Truth(False, Keyness.AGREE.value) if pk in checks else drawn[name] for pk, name in names.items()}


def _answer(
    study: Study,
    annotator: Annotator,
    rates: Rates,
    truth: Mapping[int, Truth],
    *,
    guideline: Any,
    seed: int,
    now: datetime,
) -> Simulated:
    tasks = list(study.label_tasks.filter(annotator=annotator).select_related("item").order_by("position"))
    own = {task.item_id: truth[task.item_id] for task in tasks}
    given = answers_of(own, rates=rates, person=annotator.label, seed=seed)
    times = times_of(own, rates=rates, person=annotator.label, seed=seed)
    at = now - timedelta(milliseconds=sum(times.values()))
    labels = []
    for task in tasks:
        task.begun_at = at
        at += timedelta(milliseconds=times[task.item_id])
        task.state, task.n_answered, task.active_ms = LabelTask.State.DONE, 1, times[task.item_id]
        task.last_seen_at = task.done_at = at
        labels.append(_label(task, given[task.item_id], guideline=guideline, at=at))
    LabelTask.objects.bulk_update(
        tasks,
        ["state", "n_answered", "active_ms", "begun_at", "last_seen_at", "done_at"],
        batch_size=IN_A_QUERY,
    )
    PointLabel.objects.bulk_create(labels, batch_size=IN_A_QUERY)
    wrong: dict[str, int] = defaultdict(int)
    for item, right in own.items():
        wrong["grounded"] += given[item].grounded != right.answer.grounded
        wrong["keep"] += given[item].is_kept != right.answer.is_kept
    return Simulated(annotator.label, len(tasks), wrong["grounded"], wrong["keep"])


def _label(task: Any, answer: Answer, *, guideline: Any, at: datetime) -> PointLabel:
    return PointLabel(
        study_id=task.study_id,
        annotator_id=task.annotator_id,
        task=task,
        guideline=guideline,
        key_point_id=task.item.key_point_id,
        grounded=answer.grounded,
        keyness=answer.keyness,
        is_complete=True,
        is_check=task.item.role == LabelItem.Role.GOLD,
        op_id=f"simulated-{task.uid.hex}",
        made_at=at,
    )
