"""How far studies are, and when they will be done at the pace so far, in figures and charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import ceil, sqrt
from statistics import variance
from typing import Any
from urllib.parse import quote

from django.db.models import Case, Count, F, Q, QuerySet, When
from django.db.models.functions import TruncDate
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localdate

from annotation.models import Assignment, LabelTask, Study
from annotation.studies.amounts import in_figures
from annotation.studies.gaps import rows_of
from annotation.studies.kind import Work
from benchmarks.scoring.sums import t_quantile
from benchmarks.web.charts import MUTED, Bars, Chart, Lines, Point, Words, colour_of

MOST_PEOPLE = 7
"""People with a line of their own; the others share one."""
MOST_TICKS, WIDTH = 8, 0.8


def charts_of(study: Study, work: Work, pace: Pace) -> list[Chart]:
    """The charts of a study; none where nothing was done in the last 14 days."""
    if not pace.by_day:
        return []
    return [people_chart(study, work, pace), left_chart(pace, is_open=study.state == Study.State.OPEN)]


def people_chart(study: Study, work: Work, pace: Pace) -> Chart:
    """Tasks done on each day, a part of its bar for each person, of whom those with most tasks come first."""
    members = [member for member in rows_of(study).members if member.annotator_id in pace.by_person]
    members.sort(key=lambda member: -sum(pace.by_person[member.annotator_id].values()))
    done = [pace.by_person[member.annotator_id] for member in members]
    page, field = work.list_of_tasks
    address = f"{reverse(page, args=[study.uid])}?annotator="
    shown = [
        (member.pseudonym, address + quote(str(getattr(member.annotator, field))), by_day)
        for member, by_day in zip(members[:MOST_PEOPLE], done, strict=False)
    ]
    if others := done[MOST_PEOPLE:]:
        together = sum(map(Counter, others), Counter[date]())
        shown.append((in_figures(len(others), "other", "others"), "", together))
    days = _days(pace)
    points = [
        Point(series=name, x=_x(day, pace), place=_name(day), value=by_day[day], url=url)
        for name, url, by_day in shown
        for day in days
        if by_day.get(day)
    ]
    said = f"Tasks done on each of the last {len(days)} days."
    layout = Bars(
        width_of_bar=WIDTH,
        domain=(_x(days[0], pace), _x(days[-1], pace) + 1),
        colours=[(name, colour_of(at)) for at, (name, _url, _by_day) in enumerate(shown)],
        x_values=tuple(_x(day, pace) + WIDTH / 2 for day in days[::-2]),
        x_names=tuple(_name(day) for day in days[::-2]),
    )
    return Chart(_words("done-by-day", "Who did how much, day by day?", said), points, layout)


def left_chart(pace: Pace, *, is_open: bool) -> Chart:
    """Tasks that are left at the end of each day, and of the days to come at the pace of the last ones."""
    to_come = ahead(pace) if is_open else []
    days = _days(pace)
    left, expected = "left", "expected"
    n_left = [pace.n_open + sum(n for done_on, n in pace.by_day.items() if done_on > day) for day in days]
    points = [
        Point(series=left, x=_x(day, pace), place=_name(day), value=n) for day, n in zip(days, n_left, strict=True)
    ]
    points += [
        Point(
            series=expected,
            x=_x(row.day, pace),
            place=_name(row.day),
            value=row.left,
            low=row.low,
            high=row.high,
        )
        for row in to_come
    ]
    said = "Tasks not done at the end of each day."
    if to_come:
        said = f"{said} {_finish(to_come)}"
    words = _words("left-by-day", "When will all be done?", said)
    days += [row.day for row in to_come[1:]]
    most = max(point.high or point.value or 0 for point in points)
    colours = [(left, colour_of(0)), (expected, MUTED)]
    step = max(1, -(-len(days) // MOST_TICKS))
    ticks = days[::-1][::step][::-1]
    return Chart(
        words,
        points,
        Lines(
            x_domain=(_x(days[0], pace), _x(days[-1], pace)),
            domain=(0.0, (1.1 * most) or 1.0),
            x_values=tuple(_x(day, pace) for day in ticks),
            x_names=tuple(_name(day) for day in ticks),
            colours=colours,
            size=(560, 200),
        ),
    )


def _finish(to_come: Sequence[Ahead]) -> str:
    """When nothing will be left, at the earliest and the latest."""
    later = "later than shown"

    def first(values: Iterable[float]) -> str:
        ends = (row.day for row, value in zip(to_come, values, strict=True) if value == 0)
        return next((date_format(day, "Y-m-d") for day in ends), later)

    words = {
        "day": first(row.left for row in to_come),
        "early": first(row.low for row in to_come),
        "late": first(row.high for row in to_come),
    }
    said = (
        "At the pace of the last days the end is on %(day)s; in 95 of 100 cases between %(early)s and %(late)s, "
        "if days differ as they did."
    )
    return said % words


def _words(name: str, title: str, subtitle: str) -> Words:
    columns = {"series": "Line"}
    return Words(name=name, title=title, subtitle=subtitle, value="tasks", x="day", digits=0, columns=columns)


def _days(pace: Pace) -> list[date]:
    """The last 14 days, today included."""
    return [pace.today - timedelta(days=at) for at in reversed(range(SHOWN_DAYS))]


def _x(day: date, pace: Pace) -> float:
    return float((day - pace.today).days)


def _name(day: date) -> str:
    return date_format(day, "j M")


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
        since = "today" if self.n_days == 1 else f"the last {self.n_days} days"
        return f"at {self.per_day or 0:.1f} tasks a day, the pace of {since}"


@dataclass(frozen=True, slots=True)
class Ahead:
    """Tasks that will be left at the end of a day, and between how many in 95 of 100 cases."""

    day: date
    left: float
    low: float
    high: float


def ahead(pace: Pace) -> list[Ahead]:
    """Tasks left from today on, until nothing will be in 95 of 100 cases, for at most 60 days.

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
    """The pace of each study by its primary key; withdrawn tasks are none. One query."""
    pks = [study.pk for study in studies]
    today = localdate(now)
    states: dict[int, Counter[str]] = defaultdict(Counter)
    people: dict[int, dict[int, Counter[date]]] = defaultdict(lambda: defaultdict(Counter))
    # How many label tasks and texts, by study, state and, of those done since, by person and day.
    since = now - timedelta(days=SHOWN_DAYS)
    labels = LabelTask.objects.order_by().filter(study__in=pks)
    texts = Assignment.objects.order_by().live().filter(study__in=pks)
    of_labels, of_texts = (
        rows.annotate(
            who=Case(When(Q(**is_recent), then=F("annotator"))),
            day=Case(When(Q(**is_recent), then=TruncDate(ended))),
        )
        .values_list("study", "state", "who", "day")
        .annotate(n=Count("pk"))
        for rows, ended in ((labels, "done_at"), (texts, "session__ended_at"))
        for is_recent in [{"state": DONE, f"{ended}__gte": since}]
    )
    counts: QuerySet[Any, Any] = of_labels.union(of_texts, all=True)
    for study, state, person, day, n in counts:
        states[study][state] += n
        if day is not None:
            people[study][person][day] += n
    return {
        pk: Pace(
            n_tasks=states[pk].total(),
            n_done=states[pk][DONE],
            n_open=sum(states[pk][name] for name in OPEN),
            by_day=dict(sum(people[pk].values(), Counter[date]())),
            by_person=dict(people[pk]),
            today=today,
        )
        for pk in pks
    }
