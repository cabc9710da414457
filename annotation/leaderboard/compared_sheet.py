"""One row of the leaderboard, or two beside each other: totals with intervals, then insight by insight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.leaderboard.board import Board, View
from annotation.leaderboard.compared import Compared, InsightRow
from annotation.leaderboard.forms import TITLES
from annotation.leaderboard.time_sheet import section
from benchmarks.models import Insight
from benchmarks.results.sheet import Measure, Name, Note, Row, Section, Sheet, Table, Unit
from benchmarks.scoring.stat import stat_json

SCORES = ("coverage", "citation", "joint")
Rows = Sequence[tuple[Insight, InsightRow]]


def names_of_rows(board: Board, documents: Mapping[str, str]) -> dict[str, str]:
    """What rows are called by their key, with their documents in words."""
    return {line.key: f"{line.entry.system} · {documents[line.entry.retriever]}" for line in board.lines}


def with_insights(figures: Compared) -> list[tuple[Insight, InsightRow]]:
    """The rows with their insights; those that are gone are left out. One query."""
    insights = Insight.objects.select_related("subtopic__haystack").in_bulk([row.insight for row in figures.rows])
    return [(insights[row.insight], row) for row in figures.rows if row.insight in insights]


def as_on_board(figures: Compared, board: Board, compared: tuple[str, str]) -> Compared:
    """The comparison with the differences to people of the leaderboard, over writers too."""
    first, second = ({line.key: line for line in board.lines}[key] if key else None for key in compared)
    if board.people is None or first is None or second is None:
        return figures
    if second.key == board.people.key and first.to_people:
        return replace(figures, difference=first.to_people)
    if first.key == board.people.key and second.to_people:
        return replace(figures, difference={name: stat.scaled(-1) for name, stat in second.to_people.items()})
    return figures


def sheet(
    figures: Compared,
    rows: Rows,
    names: Mapping[str, str],
    compared: tuple[str, str],
    view: View,
    timed: tuple[Section, ...] = (),
) -> Sheet:
    """Totals, how long people take to the other's score, then a row for each insight."""
    n_subtopics = ngettext("%(n)d subtopic", "%(n)d subtopics", figures.n_subtopics) % {"n": figures.n_subtopics}
    about = f"Mean scores from 0 to 100 by judge {view.judge}."
    if not compared[1]:
        said = f"{names[compared[0]]} on {n_subtopics}; the lowest joint score first."
        if not rows:
            return Sheet((Note(about), Note("It has no scored insight.", is_empty=True)))
        return Sheet(
            (Note(f"{about} {said}"), _totals(figures, names, compared), _insights(rows, names, compared))
        )
    if not rows:
        return Sheet((Note(about), Note("They share no subtopic.", is_empty=True)))
    said = f"Both have {n_subtopics}. Intervals are over subtopics, of people over writers too."
    return Sheet(
        (
            Note(f"{about} {said}"),
            Section("total", "In total", (_totals(figures, names, compared), _alone(figures, names, compared))),
            *timed,
            Section("insights", "Insight by insight", (_insights(rows, names, compared),)),
        )
    )


def timed(
    board: Board, names: Mapping[str, str], compared: tuple[str, str], sessions_url: str = ""
) -> tuple[Section, ...]:
    """How long people take to the score of the other row, where one of both is the people of the leaderboard.

    Clicks on the curves lead to `sessions_url`.
    """
    if board.people is None or board.people.key not in compared:
        return ()
    return tuple(
        section([line], [Row(line.entry, {}, url=sessions_url)], name=names[line.key])
        for line in board.lines
        if line.key in compared and line.times
    )


def _totals(figures: Compared, names: Mapping[str, str], compared: tuple[str, str]) -> Table:
    measures = [Measure("first", names[compared[0]], Unit.POINTS)]
    if compared[1]:
        measures.append(Measure("second", names[compared[1]], Unit.POINTS))
        measures.append(Measure("difference", "Difference", Unit.POINTS, is_signed=True))
    rows = []
    for name, stat in figures.first.items():
        stats = {"first": stat}
        if compared[1]:
            stats |= {"second": figures.second[name], "difference": figures.difference[name]}
        rows.append(Row((str(TITLES[name]),), {key: stat.scaled(100) for key, stat in stats.items()}))
    about = "Each common subtopic counts as one summary on either side." if compared[1] else ""
    return Table("totals", "In total", (Name("figure", "Score"),), tuple(measures), tuple(rows), about=about)


def _alone(figures: Compared, names: Mapping[str, str], compared: tuple[str, str]) -> Table:
    """The figures that both rows have on the leaderboard, which are of all their texts."""
    sides = dict(zip(("first", "second"), compared, strict=True))
    measures = tuple(Measure(side, names[key], Unit.POINTS) for side, key in sides.items())
    rows = tuple(
        Row(
            (str(TITLES[name]),),
            {side: figures.alone[key][name].scaled(100) for side, key in sides.items()},
        )
        for name in figures.first
    )
    about = ("With all texts of each row, as on the leaderboard: other subtopics too, and one that several "
              "people wrote on counts once for each.")  # fmt: skip
    return Table("alone", "Each by itself", (Name("figure", "Score"),), measures, rows, about=about)


def _insights(rows: Rows, names: Mapping[str, str], compared: tuple[str, str]) -> Table:
    measures = []
    for name in SCORES:
        measures.append(Measure(f"{name}_first", f"{TITLES[name]}: {names[compared[0]]}", Unit.POINTS))
        if compared[1]:
            measures.append(Measure(f"{name}_second", names[compared[1]], Unit.POINTS))
    if compared[1]:
        measures.append(Measure("difference", "Difference", Unit.POINTS, is_signed=True))
    return Table(
        "insights",
        "Insight by insight",
        (Name("insight", "Insight"), Name("subtopic", _("Subtopic"), is_filter=True)),
        tuple(measures),
        tuple(_row(insight, row) for insight, row in rows),
        find="insight",
        is_listing=True,
    )


def _row(insight: Insight, row: InsightRow) -> Row:
    values = {
        f"{name}_{side}": _scaled(getattr(row, side)[name]) for name in SCORES for side in ("first", "second")
    }
    return Row(
        (insight.text, insight.subtopic.name),
        values | {"difference": _scaled(row.difference)},
        url=reverse("benchmarks:insight-detail", args=[insight.uid]),
    )


def _scaled(value: float | None) -> float | None:
    return None if value is None else 100 * value


def as_json(figures: Compared, rows: Rows) -> dict[str, Any]:
    """Totals with intervals and a row for each insight, scores from 0 to 100."""
    parts = {"first": figures.first, "second": figures.second, "difference": figures.difference}
    return {
        "n_subtopics": figures.n_subtopics,
        **{
            part: stat_json({name: stat.scaled(100) for name, stat in stats.items()})
            for part, stats in parts.items()
            if stats
        },
        "alone": {
            entry: stat_json({name: stat.scaled(100) for name, stat in stats.items()})
            for entry, stats in figures.alone.items()
        },
        "insights": [
            {
                "insight": insight.text,
                "subtopic": insight.subtopic.name,
                "first": {name: _scaled(value) for name, value in row.first.items()},
                "second": {name: _scaled(value) for name, value in row.second.items()},
                "difference": _scaled(row.difference),
            }
            for insight, row in rows
        ],
    }
