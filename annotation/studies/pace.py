"""How far studies of any kind are, and when they will be done at the pace so far; two queries for any number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import ceil, sqrt
from statistics import variance
from typing import Any

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate
from django.utils.translation import ngettext

from annotation.models import Assignment, LabelTask, Study
from benchmarks.scoring.students_t import t_quantile

WINDOW_DAYS = 7
"""The pace is that of so many days, today included, or of fewer where work began later."""
NEEDS = 3
"""At least this many tasks must be done in those days for a pace to be given."""
SHOWN_DAYS, MOST_AHEAD = 14, 60
DONE = LabelTask.State.DONE
"""Writing tasks call it the same."""
OPEN = (LabelTask.State.TODO, LabelTask.State.BEGUN, Assignment.State.ASSIGNED, Assignment.State.STARTED)


@dataclass(frozen=True, slots=True)
class Pace:
    """Tasks of a study: all, done, and to do or begun; and those done on each of the last 14 days."""

    n_tasks: int = 0
    n_done: int = 0
    n_open: int = 0
    by_day: Mapping[date, int] = field(default_factory=dict)
    by_person: Mapping[int, Mapping[date, int]] = field(default_factory=dict)
    """The same of each annotator, by primary key."""
    today: date = date.min

    @property
    def n_days(self) -> int:
        """How many days the pace is taken from."""
        recent = [day for day in self.by_day if (self.today - day).days < WINDOW_DAYS]
        earlier = self.n_done > sum(self.by_day[day] for day in recent)
        return WINDOW_DAYS if earlier else (self.today - min(recent)).days + 1 if recent else 0

    @property
    def per_day(self) -> float | None:
        """Tasks done a day; None where too few were done lately to say."""
        n = sum(count for day, count in self.by_day.items() if (self.today - day).days < WINDOW_DAYS)
        return n / self.n_days if n >= NEEDS else None

    @property
    def finish(self) -> date | None:
        """The day on which the last task will be done at this pace; None where it cannot be said."""
        if self.per_day is None or not self.n_open:
            return None
        days = ceil(self.n_open / self.per_day)
        return self.today + timedelta(days=days) if days < 3650 else None

    @property
    def basis(self) -> str:
        """What the pace is, and of how many days."""
        return ngettext(
            "at %(pace).1f tasks a day, the pace of today",
            "at %(pace).1f tasks a day, the pace of the last %(n)d days",
            self.n_days,
        ) % {"pace": self.per_day or 0, "n": self.n_days}


@dataclass(frozen=True, slots=True)
class Ahead:
    """Tasks that will be left at the end of a day, and between how many in 95 of 100 cases."""

    day: date
    left: float
    low: float
    high: float


def ahead(pace: Pace) -> list[Ahead]:
    """What will be left from today on, until nothing will be in 95 of 100 cases, for at most 60 days.

    Days to come are taken to differ among each other as those of the pace do: d of them scatter by s² d, and the
    pace of n days by s² / n. Empty without a pace, or one of a single day.
    """
    if pace.per_day is None or not pace.n_open or pace.n_days < 2:
        return []
    counts = [pace.by_day.get(pace.today - timedelta(days=at), 0) for at in range(pace.n_days)]
    scatter, t = variance(counts), t_quantile(pace.n_days - 1)
    days_ahead = []
    for days in range(MOST_AHEAD + 1):
        left = pace.n_open - pace.per_day * days
        half = t * sqrt(scatter * days * (1 + days / pace.n_days))
        low, high = max(0.0, left - half), min(float(pace.n_open), max(0.0, left + half))
        days_ahead.append(Ahead(pace.today + timedelta(days=days), max(0.0, left), low, high))
        if high == 0:
            break
    return days_ahead


def paces(studies: Iterable[Study], now: datetime) -> dict[int, Pace]:
    """The pace of each study by its primary key; withdrawn tasks are none."""
    pks = [study.pk for study in studies]
    today = localdate(now)
    since = now - timedelta(days=SHOWN_DAYS)
    states: dict[int, Counter[str]] = defaultdict(Counter)
    days: dict[int, Counter[date]] = defaultdict(Counter)
    people: dict[int, dict[int, Counter[date]]] = defaultdict(lambda: defaultdict(Counter))
    labels = LabelTask.objects.order_by().filter(study__in=pks)
    texts = Assignment.objects.order_by().live().filter(study__in=pks)
    of_labels, of_texts = (rows.values_list("study", "state").annotate(n=Count("pk")) for rows in (labels, texts))
    for study, state, n in of_labels.union(of_texts, all=True):
        states[study][state] += n
    for study, person, day, n in _done_by_day(labels, texts, since=since):
        days[study][day] += n
        people[study][person][day] += n
    return {
        pk: Pace(
            n_tasks=states[pk].total(),
            n_done=states[pk][DONE],
            n_open=sum(states[pk][name] for name in OPEN),
            by_day=dict(days[pk]),
            by_person=dict(people[pk]),
            today=today,
        )
        for pk in pks
    }


def _done_by_day(labels: QuerySet[Any], texts: QuerySet[Any], *, since: datetime) -> QuerySet[Any, Any]:
    """(study, annotator, day, how many tasks were done) since a time, of label tasks and texts, in one query."""
    of_labels, of_texts = (
        rows.filter(state=DONE, **{f"{ended}__gte": since})
        .annotate(day=TruncDate(ended))
        .values_list("study", "annotator", "day")
        .annotate(n=Count("pk"))
        for rows, ended in ((labels, "done_at"), (texts, "session__ended_at"))
    )
    counts: QuerySet[Any, Any] = of_labels.union(of_texts, all=True)
    return counts
