"""How long people take to a share of each system's joint score, laid out: a curve, a table, plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.leaderboard.board import Line
from benchmarks.results.sheet import Drawing, Measure, Name, Row, Section, Table, Unit
from benchmarks.scoring.stat import Stat, interval_json
from benchmarks.scoring.survival import SHARES, TimeToScore
from benchmarks.web.chart_points import Kind, Point, Words
from benchmarks.web.charts import Chart, Lines, colour_of

PERCENTS = {share: round(100 * share) for share in SHARES}
KEY = "time-to-score"
ANCHOR = "time"
MOST_UNFOLDED = 12
"""Systems whose table is open from the beginning."""


def key_of(share: float) -> str:
    """The name of a restricted mean in files."""
    return f"minutes_to_{PERCENTS[share]}"


def section(lines_of_systems: Sequence[Line], rows: Sequence[Row], *, name: str) -> Section:
    """The curves of the first system, called `name`, and a row for each, whose names and addresses `rows` give."""
    about = ("When people's texts first have a share of the system's joint score on the same subtopic, at the "
              "marks of their sessions. A session that ends below it is counted as long as it ran.")  # fmt: skip
    if len(rows) > 1:
        about += " " + "In the table a name leads to its curves."
    chart = survival_chart(lines_of_systems[0].times, name=name, url=rows[0].url)
    return Section(ANCHOR, "Time to score", (Drawing(chart), _table(lines_of_systems, rows)), about=about)


def _table(lines_of_systems: Sequence[Line], rows: Sequence[Row]) -> Table:
    limit = lines_of_systems[0].times[0].limit
    measures: list[Measure] = []
    for share, percent in PERCENTS.items():
        title = f"Minutes to {percent} %"
        measures.append(Measure(key_of(share), title, Unit.MINUTES, has_badge=False))
        reached = f"Reached {percent} %"
        measures.append(Measure(f"reached_{percent}", reached, Unit.COUNT, "sessions"))
    return Table(
        KEY,
        "Time to the score of each system",
        (Name("system", _("System")), Name("documents", _("Documents"), is_filter=True)),
        (*measures, Measure("n", "Sessions", Unit.COUNT), Measure("n_writers", "Writers", Unit.COUNT)),
        tuple(
            Row(row.names, _values(line.times), url=row.url)
            for line, row in zip(lines_of_systems, rows, strict=True)
        ),
        about=("Mean active minutes below the level, of at most %(limit)g (the area under the curve), with 95 %% "
                "intervals over writers; and how many sessions reached it.") % {"limit": limit},
        find="system",
        is_folded=len(rows) > MOST_UNFOLDED,
    )  # fmt: skip


def _values(times: Sequence[TimeToScore]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for time in times:
        values |= {key_of(time.share): time.mean, f"reached_{PERCENTS[time.share]}": time.n_reached}
    return values | {"n": times[0].mean.n_items, "n_writers": times[0].n_writers}


def survival_chart(times: Sequence[TimeToScore], *, name: str, url: str = "") -> Chart:
    """Kaplan and Meier's curves of one system, a dot where a session ended below; a click leads to `url`."""
    limit, n = times[0].limit, times[0].mean.n_items
    sessions = ngettext("%(n)d session", "%(n)d sessions", n) % {"n": n}
    words = Words(
        name="survival",
        title=f"How long do people take to the score of {name}?",
        subtitle=(f"Share of {sessions} that are still below 50, 70 and 90 % of its joint score on their "
    "subtopic. Dots: sessions that ended below."),
        value="sessions still below, %",
        x="active minutes",
        columns={"series": "Level"},
    )  # fmt: skip
    series = {time.share: f"{PERCENTS[time.share]} % of its score" for time in times}
    layout = Lines(
        x_domain=(0.0, limit),
        domain=(0.0, 100.0),
        colours=[(title, colour_of(at)) for at, title in enumerate(series.values())],
        has_dots=False,
        is_stepped=True,
    )
    return Chart(words, [point for time in times for point in _points(time, series[time.share], url)], layout)


def _points(time_to_score: TimeToScore, series: str, url: str) -> Iterator[Point]:
    """The start, every step, the end of a curve; then the sessions that ended below."""
    corners = [
        0.0,
        *(step.minute for step in time_to_score.steps if 0 < step.minute < time_to_score.limit),
        time_to_score.limit,
    ]
    for minute in corners:
        yield Point(
            series=series, x=minute, value=100 * time_to_score.below(minute), n=time_to_score.mean.n_items, url=url
        )
    for minute in sorted(set(time_to_score.censored)):
        n = time_to_score.censored.count(minute)
        yield Point(series=series, x=minute, value=100 * time_to_score.below(minute), n=n, kind=Kind.DOT, url=url)


def stats_of(line: Line) -> dict[str, Stat]:
    """The restricted means of a row by their names in files."""
    return {key_of(time.share): time.mean for time in line.times}


def times_json(line: Line) -> dict[str, Any] | None:
    """What a row's sessions take, by the share in percent; None of people, and without a common subtopic."""
    if not line.times:
        return None
    return {
        str(PERCENTS[time.share]): {
            "value": time.mean.value,
            **interval_json(time.mean),
            "reason": time.mean.reason,
            "limit": time.limit,
            "n_reached": time.n_reached,
            "n_censored": time.n_censored,
            "n_writers": time.n_writers,
            "steps": [[step.minute, step.survival] for step in time.steps],
        }
        for time in line.times
    }
