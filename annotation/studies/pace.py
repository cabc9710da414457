"""How far studies of any kind are, and when they will be done at the pace so far; four queries for any number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import ceil

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate
from django.utils.translation import ngettext

from annotation.models import Assignment, LabelTask, Study

WINDOW_DAYS = 7
"""The pace is that of so many days, today included, or of fewer where work began later."""
NEEDS = 3
"""At least this many tasks must be done in those days for a pace to be given."""
SHOWN_DAYS = 14
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


def paces(studies: Iterable[Study], now: datetime) -> dict[int, Pace]:
    """The pace of each study by its primary key; withdrawn tasks are none."""
    pks = [study.pk for study in studies]
    today = localdate(now)
    since = now - timedelta(days=SHOWN_DAYS)
    states: dict[int, Counter[str]] = defaultdict(Counter)
    days: dict[int, Counter[date]] = defaultdict(Counter)
    labels = LabelTask.objects.order_by().filter(study__in=pks)
    texts = Assignment.objects.order_by().live().filter(study__in=pks)
    for rows in (labels, texts):
        for study, state, n in rows.values_list("study", "state").annotate(n=Count("pk")):
            states[study][state] += n
    for rows, ended in ((labels, "done_at"), (texts, "session__ended_at")):
        recent = rows.filter(state=DONE, **{f"{ended}__gte": since}).annotate(day=TruncDate(ended))
        for study, day, n in recent.values_list("study", "day").annotate(n=Count("pk")):
            days[study][day] += n
    return {
        pk: Pace(
            n_tasks=states[pk].total(),
            n_done=states[pk][DONE],
            n_open=sum(states[pk][name] for name in OPEN),
            by_day=dict(days[pk]),
            today=today,
        )
        for pk in pks
    }
