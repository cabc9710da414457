"""What setting up a study of any kind of label work has in common, and the places of a person's tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation import studies
from annotation.assigning import stable_seed
from annotation.guidelines import publish_guideline
from annotation.models import Annotator, LabelTask, Study
from benchmarks import audit


def new_study(
    *,
    kind: Study.Kind,
    details: studies.Details,
    guidelines: str,
    by: Any,
    now: datetime,
    annotators: Iterable[Annotator] = (),
    researchers: Iterable[Any] = (),
    seed: int | None = None,
) -> Study:
    """Make a study with its people and guidelines, not yet open; its maker is one of its researchers."""
    study = Study.objects.create(
        kind=kind,
        seed=stable_seed("study", details.name) if seed is None else seed,
        created_at=now,
        created_by=by,
        **asdict(details),
    )
    study.researchers.set([*researchers, *([by] if by is not None else [])])
    publish_guideline(study=study, body=guidelines, by=by, now=now)
    studies.add_annotators(study=study, annotators=annotators, by=by, now=now)
    audit.record(actor=by, action="study.create", target=study, now=now)
    return study


@transaction.atomic
def update_details(*, study: Study, details: studies.Details, by: Any, now: datetime) -> Study:
    """Change name, description, contact, date and, until the first label, the rate.

    Raises:
        studies.Frozen: rate or currency would change after work was begun.
    """
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    changed = [item.name for item in fields(details) if getattr(row, item.name) != getattr(details, item.name)]
    frozen = [name for name in changed if name in studies.FROZEN_DETAILS]
    if frozen and row.label_tasks.exclude(begun_at=None).exists():
        raise studies.Frozen(frozen)
    for name in changed:
        setattr(row, name, getattr(details, name))
    row.save()
    audit.record(actor=by, action="study.update", target=row, now=now, changed=changed)
    return row


def present_people(study: Study) -> dict[int, str]:
    """{annotator pk: what the lot of their order is drawn by} of those who can be given work."""
    return {
        member.annotator_id: str(member.annotator.uid)
        for member in study.memberships.current().select_related("annotator").order_by("number")
        if member.annotator.is_active
    }


def close_ranks(study: Study, person: int) -> int:
    """Number the tasks a person has from 1; gives how many. Each only ever moves to a lower place that is free."""
    n = 0
    for n, (pk, position) in enumerate(
        study.label_tasks.filter(annotator=person).order_by("position").values_list("pk", "position"), 1
    ):
        if position != n:
            LabelTask.objects.filter(pk=pk).update(position=n)
    return n
