"""Where a person stands in a study, without reading all of their tasks: as quick at two thousand as at ten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from annotation.labelling.answers import page_of
from annotation.labelling.course import OPEN_STATES, Stop
from annotation.models import LabelTask

NEAR = 15
"""Stops shown on either side."""


@dataclass(frozen=True, slots=True)
class Place:
    """The present stop among `n`; `near` are the stops around it, itself included."""

    number: int
    n: int
    n_done: int
    near: tuple[Stop, ...]
    next_open: Any

    @property
    def at(self) -> int:
        """The index of the present stop in `near`."""
        return self.number - self.near[0].number

    @property
    def skips_before(self) -> int:
        """How many stops before those near are not among them."""
        return self.near[0].number - 1

    @property
    def skips_after(self) -> int:
        """How many stops after those near are not among them."""
        return self.n - self.near[-1].number

    def n_done_besides(self, task: LabelTask) -> int:
        """How many others are done."""
        return self.n_done - (task.state == LabelTask.State.DONE)

    @property
    def previous(self) -> Stop | None:
        """The stop before this one."""
        return self.near[self.at - 1] if self.at else None

    @property
    def next(self) -> Stop | None:
        """The stop after this one."""
        return self.near[self.at + 1] if self.at + 1 < len(self.near) else None


def place_of(task: LabelTask) -> Place:
    """Where a task is in its person's way through the study; four queries, five where the near ones are done."""
    own = LabelTask.objects.filter(study=task.study_id, annotator=task.annotator_id)
    counts = own.order_by().aggregate(
        n=Count("pk"),
        n_done=Count("pk", filter=Q(state=LabelTask.State.DONE)),
        number=Count("pk", filter=Q(position__lte=task.position)),
    )
    columns = ("uid", "state", "is_flagged")
    before = list(own.filter(position__lt=task.position).order_by("-position").values_list(*columns)[:NEAR])
    after = list(own.filter(position__gt=task.position).order_by("position").values_list(*columns)[:NEAR])
    number = counts["number"]
    here = (task.uid, task.state, task.is_flagged)
    near = tuple(Stop(at, *row) for at, row in enumerate([*reversed(before), here, *after], number - len(before)))
    next_open = next((uid for uid, state, _ in after if state in OPEN_STATES), None)
    if next_open is None:
        others = own.filter(state__in=OPEN_STATES).exclude(pk=task.pk).order_by("position")
        uids = others.values_list("uid", flat=True)
        next_open = uids.filter(position__gt=task.position).first() or uids.first()
    return Place(number, counts["n"], counts["n_done"], near, next_open)


def ways(task: LabelTask, place: Place) -> dict[str, str]:
    """Addresses before, after, and onward: the next open task, and where none is left the end of the study."""
    kind = task.study.kind
    go = reverse("annotation:label-go", args=[task.study.uid])
    return {
        "previous_url": page_of(kind, place.previous.uid) if place.previous else "",
        "next_url": page_of(kind, place.next.uid) if place.next else "",
        "onward_url": page_of(kind, place.next_open) if place.next_open else f"{go}?after={place.number}",
    }
