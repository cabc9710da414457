"""Where an annotator is among their tasks of a study, and which one comes next."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, Sum
from django.urls import reverse

from annotation.models import LabelTask
from annotation.querysets import LabelTaskQuerySet

OPEN_STATES = (LabelTask.State.TODO, LabelTask.State.BEGUN)
NEAR = 15
"""Tasks listed on either side."""
AHEAD = 10
"""Open tasks whose pages a browser holds, so that work goes on without a connection."""

_COLUMNS = ("uid", "state", "is_flagged", "revision")


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task in the list of numbers; `number` counts from 1 in the annotator's order."""

    number: int
    uid: UUID
    state: str
    is_flagged: bool
    revision: int = 0

    @property
    def label(self) -> str:
        """Its state in words."""
        return str(LabelTask.State(self.state).label)

    @property
    def is_open(self) -> bool:
        """Whether something is left to answer that was not skipped."""
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True)
class Position:
    """A task's place among the `n` of its annotator; `near` are the tasks around it, itself included.

    `n_skipped` are out of the way; `worked_ms` is the active time of all.
    """

    number: int
    n: int
    n_done: int
    near: tuple[ListedTask, ...]
    n_skipped: int = 0
    worked_ms: int = 0

    @property
    def n_open(self) -> int:
        """How many tasks have something left to answer and were not skipped."""
        return self.n - self.n_done - self.n_skipped

    @property
    def n_before(self) -> int:
        """How many tasks come before those near."""
        return self.near[0].number - 1

    @property
    def n_after(self) -> int:
        """How many tasks come after those near."""
        return self.n - self.near[-1].number

    @property
    def previous(self) -> ListedTask | None:
        """The task before this one."""
        return next((task for task in self.near if task.number == self.number - 1), None)

    @property
    def next(self) -> ListedTask | None:
        """The task after this one."""
        return next((task for task in self.near if task.number == self.number + 1), None)


def page_of(kind: str, uid: UUID, question: UUID | str | None = None, *, back: str = "") -> str:
    """The address of a task's page, or of one question on it; with `back`, the page leads there and not on."""
    address = reverse("annotation:label-task", args=[kind, uid]) + (f"?back={back}" if back else "")
    return f"{address}#q-{question}" if question else address


def tasks_beside(task: LabelTask) -> LabelTaskQuerySet:
    """All tasks of the same annotator in the same study, in order."""
    rows: LabelTaskQuerySet = LabelTask.objects.filter(study=task.study_id, annotator=task.annotator_id)
    return rows.order_by("position")


def listed(tasks: LabelTaskQuerySet) -> list[ListedTask]:
    """All of these tasks, which are in order, by one query."""
    return [ListedTask(number, *row) for number, row in enumerate(tasks.values_list(*_COLUMNS), 1)]


def position_of(task: LabelTask) -> Position:
    """Where a task is; three queries, as quick among two thousand as among ten."""
    tasks = tasks_beside(task)
    counts = tasks.order_by().aggregate(
        n=Count("pk"),
        n_done=Count("pk", filter=Q(state=LabelTask.State.DONE)),
        n_skipped=Count("pk", filter=Q(state=LabelTask.State.SKIPPED)),
        worked_ms=Sum("active_ms"),
        number=Count("pk", filter=Q(position__lte=task.position)),
    )
    before = tasks.filter(position__lt=task.position).order_by("-position").values_list(*_COLUMNS)[:NEAR]
    after = tasks.filter(position__gt=task.position).values_list(*_COLUMNS)[:NEAR]
    rows = [*reversed(before), (task.uid, task.state, task.is_flagged, task.revision), *after]
    near = tuple(ListedTask(number, *row) for number, row in enumerate(rows, counts["number"] - len(before)))
    return Position(near=near, **counts)


def ahead_of(task: LabelTask) -> list[UUID]:
    """The open tasks to go on to after this one, from the last on the first again; one query."""
    rows = tasks_beside(task).exclude(pk=task.pk).unfinished().with_blocked().filter(is_blocked=False)
    is_before = ExpressionWrapper(Q(position__lt=task.position), output_field=BooleanField())
    ordered = rows.annotate(is_before=is_before).order_by("is_before", "position")
    return list(ordered.values_list("uid", flat=True)[:AHEAD])


def next_open(tasks: LabelTaskQuerySet, at: LabelTask | None) -> UUID | None:
    """The next task that can be opened with something left to answer, from the last on the first again."""
    uids = tasks.unfinished().with_blocked().filter(is_blocked=False).values_list("uid", flat=True)
    after = uids.filter(position__gt=at.position).first() if at else None
    return after or uids.first()
