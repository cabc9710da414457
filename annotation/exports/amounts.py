"""How much there is of a study, as its methods section says it: what was labelled or written on, and the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from annotation.models import Assignment, LabelItem, LabelTask, Session, Study
from annotation.states import ItemRole

COVERAGE = (Study.Kind.LINKING, Study.Kind.EXTERNAL)
"""Kinds whose labels may have come without items."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Counts of a study. `overlap`, `training` and `gold` are items by their role, `gold_done` are tasks.

    `states` has how many tasks on ordinary items, or sessions, are in each state; `first` and `last` are when work
    ended, `worked_ms` is the active time of all of it.
    """

    subtopics: int = 0
    summaries: int = 0
    responses: int = 0
    key_points: int = 0
    overlap: int = 0
    training: int = 0
    gold: int = 0
    gold_done: int = 0
    states: Mapping[str, int] = field(default_factory=dict)
    first: datetime | None = None
    last: datetime | None = None
    worked_ms: int = 0

    @property
    def total(self) -> int:
        """All tasks, or all sessions."""
        return sum(self.states.values())

    def in_state(self, state: str) -> int:
        """Tasks or sessions in a state."""
        return self.states.get(state, 0)


def amounts_of(study: Study) -> Amounts:
    """Count what a study has. Two queries; three where labels may have come without items."""
    return _written(study) if study.kind == Study.Kind.WRITING else _labelled(study)


def _written(study: Study) -> Amounts:
    live = ~Q(state=Assignment.State.WITHDRAWN)
    tasks: dict[str, Any] = study.assignments.order_by().aggregate(n=Count("subtopic", filter=live, distinct=True))
    sessions: dict[str, Any] = (
        Session.objects.filter(assignment__study=study)
        .order_by()
        .aggregate(
            first=Min("ended_at"),
            last=Max("ended_at"),
            worked=Sum("acc_ms"),
            **{_in(state): Count("pk", filter=Q(state=state)) for state in Session.State.values},
        )
    )
    return Amounts(subtopics=tasks["n"], **_worked(sessions, Session.State.values))


def _labelled(study: Study) -> Amounts:
    ordinary = Q(role=ItemRole.ORDINARY)
    items: dict[str, Any] = study.label_items.order_by().aggregate(
        **{name: Count(name, filter=ordinary, distinct=True) for name in ("summary", "response", "key_point")},
        overlap=Count("pk", filter=ordinary & Q(is_overlap=True)),
        training=Count("pk", filter=Q(role=LabelItem.Role.TRAINING)),
        gold=Count("pk", filter=Q(role=LabelItem.Role.GOLD)),
    )
    on_ordinary, done = Q(item__role=ItemRole.ORDINARY), LabelTask.State.DONE
    tasks: dict[str, Any] = study.label_tasks.order_by().aggregate(
        first=Min("done_at"),
        last=Max("done_at"),
        worked=Sum("active_ms"),
        gold_done=Count("pk", filter=Q(item__role=LabelItem.Role.GOLD, state=done)),
        **{_in(state): Count("pk", filter=on_ordinary & Q(state=state)) for state in LabelTask.State.values},
    )
    imported = (
        study.coveragelabels.order_by().values("summary").distinct().count() if study.kind in COVERAGE else 0
    )
    return Amounts(
        summaries=max(items["summary"], imported),
        responses=items["response"],
        key_points=items["key_point"],
        overlap=items["overlap"],
        training=items["training"],
        gold=items["gold"],
        gold_done=tasks["gold_done"],
        **_worked(tasks, LabelTask.State.values),
    )


def _in(state: str) -> str:
    return f"in_{state}"


def _worked(rows: Mapping[str, Any], states: list[str]) -> dict[str, Any]:
    return {
        "first": rows["first"],
        "last": rows["last"],
        "worked_ms": rows["worked"] or 0,
        "states": {state: n for state in states if (n := rows[_in(state)])},
    }
