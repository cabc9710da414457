"""Charts of how a study goes: tasks done a day by person, what is left, and when that will be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Study
from annotation.studies.kind import Work
from annotation.studies.overview import members_of
from annotation.studies.pace import SHOWN_DAYS, Ahead, Pace, ahead
from benchmarks.web.chart_points import Point, Words
from benchmarks.web.charts import MUTED, Bars, Chart, Lines, colour_of

MOST_PEOPLE = 7
"""People with a line of their own; the others share one."""
MOST_TICKS, WIDTH = 8, 0.8


@dataclass(frozen=True, slots=True)
class Worker:
    """Somebody in a study by pseudonym, where their tasks stand, and how many they did on which day."""

    name: str
    url: str
    by_day: Mapping[date, int]


def charts_of(study: Study, work: Work, pace: Pace) -> list[Chart]:
    """The charts of a study; none where nothing was done in the last 14 days."""
    if not pace.by_day:
        return []
    return [
        people_chart(workers(study, work, pace), pace),
        left_chart(pace, is_open=study.state == Study.State.OPEN),
    ]


def workers(study: Study, work: Work, pace: Pace) -> list[Worker]:
    """Who did tasks in the last 14 days, most of them first."""
    members = [member for member in members_of(study) if member.annotator_id in pace.by_person]
    page, field = work.list_of_tasks
    address = reverse(page, args=[study.uid])
    active = [
        Worker(
            member.pseudonym,
            f"{address}?annotator={quote(str(getattr(member.annotator, field)))}",
            pace.by_person[member.annotator_id],
        )
        for member in members
    ]
    return sorted(active, key=lambda worker: -sum(worker.by_day.values()))


def people_chart(people: Sequence[Worker], pace: Pace) -> Chart:
    """Tasks done on each day, a part of its bar for each person."""
    shown = list(people[:MOST_PEOPLE])
    if others := people[MOST_PEOPLE:]:
        together: Counter[date] = Counter()
        for other in others:
            together.update(other.by_day)
        name = ngettext("%(n)d other", "%(n)d others", len(others)) % {"n": len(others)}
        shown.append(Worker(name, "", together))
    days = _days(pace)
    points = [
        Point(series=worker.name, x=_x(day, pace), place=_name(day), value=worker.by_day[day], url=worker.url)
        for worker in shown
        for day in days
        if worker.by_day.get(day)
    ]
    said = f"Tasks done on each of the last {len(days)} days."
    layout = Bars(
        width_of_bar=WIDTH,
        domain=(_x(days[0], pace), _x(days[-1], pace) + 1),
        colours=[(worker.name, colour_of(at)) for at, worker in enumerate(shown)],
        x_values=tuple(_x(day, pace) + WIDTH / 2 for day in days[::-2]),
        x_names=tuple(_name(day) for day in days[::-2]),
    )
    return Chart(_words("done-by-day", "Who did how much, day by day?", said), points, layout)


def left_chart(pace: Pace, *, is_open: bool) -> Chart:
    """Tasks that are left at the end of each day, and of the days to come at the pace of the last ones."""
    to_come = ahead(pace) if is_open else []
    days = _days(pace)
    left, expected = _("left"), "expected"
    points = [
        Point(series=left, x=_x(day, pace), place=_name(day), value=n)
        for day, n in zip(days, _left(pace, days), strict=True)
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
    return Chart(words, points, _layout(days, pace, most=1.1 * most, colours=colours))


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


def _left(pace: Pace, days: Sequence[date]) -> Iterator[int]:
    """How many of today's tasks were not done at the end of each day."""
    for day in days:
        yield pace.n_open + sum(n for done_on, n in pace.by_day.items() if done_on > day)


def _x(day: date, pace: Pace) -> float:
    return float((day - pace.today).days)


def _name(day: date) -> str:
    return date_format(day, "j M")


def _layout(days: Sequence[date], pace: Pace, *, most: float, colours: Sequence[tuple[str, str]]) -> Lines:
    step = max(1, -(-len(days) // MOST_TICKS))
    ticks = days[::-1][::step][::-1]
    return Lines(
        x_domain=(_x(days[0], pace), _x(days[-1], pace)),
        domain=(0.0, most or 1.0),
        x_values=tuple(_x(day, pace) for day in ticks),
        x_names=tuple(_name(day) for day in ticks),
        colours=colours,
        size=(560, 200),
    )
