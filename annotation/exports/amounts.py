"""How much there is of a study, as its methods section says it: what was labelled or written on, and the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum

from annotation.kinds import kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, Assignment, Consent, LabelItem, LabelTask, Session, Study
from annotation.states import ItemRole
from annotation.studies.kind import has_plan, plan_of

COVERAGE = (Study.Kind.LINKING, Study.Kind.EXTERNAL)
"""Kinds whose labels may have come without items."""
BEGUN = ~Q(state=LabelTask.State.TODO, begun_at=None, n_answered=0)
"""Tasks that somebody has worked on."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Counts of a study. `overlap`, `training` and `gold` are items by their role, `gold_done` are tasks.

    `workers` are people who began something or whose answers are there, `agreed` those of them with a consent.
    Of `groups`, which are assigned as one, `short` have fewer people than planned.
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
    workers: int = 0
    agreed: int = 0
    groups: int = 0
    short: int = 0

    @property
    def total(self) -> int:
        """All tasks, or all sessions."""
        return sum(self.states.values())

    def in_state(self, state: str) -> int:
        """Tasks or sessions in a state."""
        return self.states.get(state, 0)


def amounts_of(study: Study) -> Amounts:
    """Count what a study has, in a fixed number of queries."""
    return _written(study) if study.kind == Study.Kind.WRITING else _labelled(study)


def _agreed(annotator: str) -> Exists:
    """Whether the annotator of this field agreed to any consent text, also if they withdrew later."""
    return Exists(Consent.objects.order_by().filter(annotator=OuterRef(annotator)))


def _short_of_sessions(study: Study) -> Mapping[str, Any]:
    plan = plan_of(study)
    if plan is None:
        return {}
    of_study = Q(assignments__in=study.assignments.live().order_by())
    have = plan.subtopics.order_by().annotate(n=Count("assignments", filter=of_study)).values_list("n", flat=True)
    return {"groups": len(have), "short": sum(n < plan.sessions_per_subtopic for n in have)}


def _short_of_people(study: Study, *, n_people: int) -> Mapping[str, Any]:
    """Groups of ordinary items; what is for everybody is short where one of `n_people` does not have it."""
    kind = kind_named(study.kind)
    if not isinstance(kind, LabelWork) or not has_plan(study):
        return {}
    dealing = kind.dealing(study)
    rows = study.label_items.filter(role=ItemRole.ORDINARY).order_by()
    n_of: dict[int, int] = {}
    for_everyone: set[int] = set()
    people = Count("tasks__annotator", distinct=True)
    for key, is_overlap, n in rows.annotate(n=people).values_list(dealing["group"], "is_overlap", "n"):
        n_of[key] = min(n, n_of.get(key, n))
        for_everyone |= {key} if is_overlap else set()
    short = [key for key, n in n_of.items() if n < dealing["wanted"] or (key in for_everyone and n < n_people)]
    return {"groups": len(n_of), "short": len(short)}


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
            workers=Count("annotator", distinct=True),
            agreed=Count("annotator", distinct=True, filter=Q(_agreed("annotator"))),
            **{_in(state): Count("pk", filter=Q(state=state)) for state in Session.State.values},
        )
    )
    return Amounts(
        subtopics=tasks["n"],
        **_worked(sessions, Session.State.values),
        workers=sessions["workers"],
        agreed=sessions["agreed"],
        **_short_of_sessions(study),
    )


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
        people=Count("annotator", distinct=True),
        workers=Count("annotator", distinct=True, filter=BEGUN),
        agreed=Count("annotator", distinct=True, filter=BEGUN & Q(_agreed("annotator"))),
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
        **(
            _who_labelled(study)
            if study.kind in COVERAGE
            else {"workers": tasks["workers"], "agreed": tasks["agreed"]}
        ),
        **_short_of_people(study, n_people=tasks["people"]),
    )


def _who_labelled(study: Study) -> Mapping[str, Any]:
    """The same of people whose labels may have come without a task. One query."""
    begun = study.label_tasks.order_by().filter(BEGUN).values("annotator")
    workers = Q(pk__in=begun) | Q(pk__in=study.coveragelabels.order_by().values("annotator"))
    counts: dict[str, Any] = (
        Annotator.objects.filter(workers)
        .order_by()
        .aggregate(workers=Count("pk"), agreed=Count("pk", filter=Q(_agreed("pk"))))
    )
    return counts


def _in(state: str) -> str:
    return f"in_{state}"


def _worked(rows: Mapping[str, Any], states: list[str]) -> dict[str, Any]:
    return {
        "first": rows["first"],
        "last": rows["last"],
        "worked_ms": rows["worked"] or 0,
        "states": {state: n for state in states if (n := rows[_in(state)])},
    }
