"""The leaderboard as plain values and as text: JSON, CSV, LaTeX, Markdown. Scores run from 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from annotation.leaderboard.board import Board, Line
from annotation.leaderboard.time_sheet import stats_of as times_of
from annotation.leaderboard.time_sheet import times_json
from benchmarks.results.sheet import STAT_COLUMNS, stat_cells
from benchmarks.scoring.leaderboard import FIGURES, WORDS
from benchmarks.scoring.minutes import Minutes
from benchmarks.scoring.stat import Stat, interval_json
from benchmarks.web.downloads import SPREADSHEETS, csv_lines
from benchmarks.web.latex import escaped, tabular

NAMES = {
    "coverage": "coverage",
    "citation": "citation",
    "joint": "joint",
    "precision": "citation_precision",
    "recall": "citation_recall",
    WORDS: WORDS,
}
"""Names of the figures in files."""
BOUNDS = ("low", "high", "clusters")
"""Columns that say how sure a figure is."""
COUNTS = ("n_summaries", "n_insights", "n_missing")
N_COLUMNS = {"n_subtopics": "Subtopics", "n_insights": "Insights"}
"""How much each row of a wide table is of, with its heads."""


def stats_of(line: Line) -> dict[str, Stat]:
    """The figures of a row by their names in files, scores from 0 to 100."""
    return {
        NAMES[name]: line.row.stats[name] if name == WORDS else line.row.stats[name].scaled(100)
        for name in FIGURES
    }


def as_json(board: Board, *, with_intervals: bool, with_people: bool = True) -> list[dict[str, Any]]:
    """A row for each system and retriever, and for people."""
    return [
        _row(board, line, with_intervals=with_intervals)
        for line in board.lines
        if with_people or not line.is_people
    ]


def _row(board: Board, line: Line, *, with_intervals: bool) -> dict[str, Any]:
    stats = stats_of(line)
    found: dict[str, Any] = {
        "system": line.entry.system,
        "retriever": line.entry.retriever,
        **{name: stat.value for name, stat in stats.items()},
        **{name: getattr(line.row, name) for name in COUNTS},
    }
    found |= {"n_subtopics": len(line.row.subtopics)} | standing_of(line) | writers_of(line)
    if with_intervals:
        found["intervals"] = {name: with_reason(stat) for name, stat in stats.items()}
    if with_intervals and board.people is not None:
        found["minutes"] = None if line.minutes is None else minutes_json(line.minutes)
        found["time_to_score"] = times_json(line)
        found["differences"] = {"above": _differences(line.to_above), "people": _differences(line.to_people)}
    return found


def standing_of(line: Line) -> dict[str, Any]:
    """A system's rank among those on the same subtopics, the ranks it may have, and the gap that would show."""
    one = line.standing
    return {
        "rank": one and one.rank,
        "rank_interval": None if one is None or one.low is None else [one.low, one.high],
        "level_with_best": one and one.is_level,
        "detectable_gap": None if line.detectable is None else 100 * line.detectable,
    }


def counted_of(line: Line) -> dict[str, Any]:
    """What is said of a row by value alone: of a system its standing, of people who they are."""
    if line.writers is not None:
        return dict(writers_of(line))
    found = standing_of(line) | {"n_subtopics": len(line.row.subtopics)}
    low, high = found.pop("rank_interval") or (None, None)
    return found | {"rank_low": low, "rank_high": high}


def writers_of(line: Line) -> dict[str, float | None]:
    """Who the people of a row are, by names in files; nothing of a system."""
    if line.writers is None:
        return {}
    found = {name: value for name, value in asdict(line.writers).items() if name != "studies"}
    ceiling = line.writers.citation_ceiling
    return found | {"citation_ceiling": None if ceiling is None else 100 * ceiling}


def minutes_json(found: Minutes) -> dict[str, Any]:
    """Human minutes as plain values: what people never reach is null, and said so in `reason`."""
    ends = {"value": found.value, "low": found.low, "high": found.high}
    reasons = [
        *(["not reached"] if math.isinf(found.value) else []),
        *(["upper end not reached"] if found.high == math.inf > found.value else []),
        *([found.reason] if found.reason else []),
    ]
    return {
        **{name: end if end is not None and math.isfinite(end) else None for name, end in ends.items()},
        "n": found.n_sessions,
        "reason": "; ".join(reasons),
        **({} if found.n_writers is None else {"only_these": found.n_writers}),
    }


def _differences(stats: Mapping[str, Stat]) -> dict[str, Any] | None:
    """Paired differences by the names of figures in files, from −100 to 100; None without another row."""
    scaled = {NAMES[name]: stat.scaled(100) for name, stat in stats.items()}
    return {name: {"value": stat.value} | with_reason(stat) for name, stat in scaled.items()} or None


def with_reason(stat: Stat) -> dict[str, Any]:
    """A figure's interval as plain values, with the reason where there is none."""
    return interval_json(stat) | {"reason": stat.reason}


def as_csv(board: Board, *, with_intervals: bool = True, reader: str = SPREADSHEETS) -> str:
    """A row for each entry and figure, with interval, n and reason; and for who the people are, by value alone."""
    columns = [name for name in STAT_COLUMNS if with_intervals or name not in BOUNDS]
    rows = (
        (line.entry.system, line.entry.retriever, name, *(cells[column] for column in columns))
        for line in board.lines
        for name, all_cells in (
            *((name, stat_cells(stat)) for name, stat in (stats_of(line) | times_of(line)).items()),
            *((name, (value, *[""] * (len(STAT_COLUMNS) - 1))) for name, value in counted_of(line).items()),
        )
        for cells in [dict(zip(STAT_COLUMNS, all_cells, strict=True))]
    )
    return "".join(csv_lines(("system", "retriever", "figure", *columns), rows, reader=reader))


def as_markdown(board: Board, *, with_intervals: bool = True, reader: str = "") -> str:
    """A wide table: the figures of each entry with their intervals."""
    word = _plain if with_intervals else _alone
    head = ["System", "Retriever", *HEADS]
    return "\n".join(
        [
            _markdown(head),
            _markdown(["---"] * 2 + ["---:"] * len(HEADS)),
            *(_markdown(_cells(line, _in_markdown, word)) for line in board.lines),
            *(f"\n{note}" for note in _notes(board)),
            "",
        ]
    )


def as_latex(board: Board, *, with_intervals: bool = True, reader: str = "") -> str:
    """A `tabular` with the intervals in small print (package booktabs), and a comment on who the people are."""
    word = _small if with_intervals else partial(_alone, missing="--")
    head = ["System", "Retriever", *map(escaped, HEADS)]
    table = tabular(head, (_cells(line, escaped, word) for line in board.lines), n_names=2)
    return table + "".join(f"% {note}\n" for note in _notes(board))


def _notes(board: Board) -> list[str]:
    """Who the people of each row of people are, in a line below the table."""
    return [
        f"{line.key}: "
        + ", ".join(f"{name} {'—' if value is None else f'{value:.4g}'}" for name, value in found.items())
        for line in board.of_people
        for found in [writers_of(line)]
    ]


COLUMNS = {
    "coverage": "Coverage",
    "citation": "Citation",
    "joint": "Joint",
    "citation_precision": "Citation P",
    "citation_recall": "Citation R",
    WORDS: "Words per bullet",
}
"""The columns of wide tables: figures by their names in files, in the order of the papers, with their heads."""
HEADS = [*COLUMNS.values(), *N_COLUMNS.values()]


def _cells(line: Line, escape: Callable[[str], str], word: Callable[[Stat], str]) -> list[str]:
    stats = stats_of(line)
    return [
        escape(line.entry.system),
        escape(line.entry.retriever),
        *(word(stats[name]) for name in COLUMNS),
        str(len(line.row.subtopics)),
        str(line.row.n_insights),
    ]


def _in_markdown(text: str) -> str:
    return text.replace("|", r"\|")


def _markdown(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def _alone(stat: Stat, missing: str = "—") -> str:
    return missing if stat.value is None else f"{stat.value:.1f}"


def _plain(stat: Stat) -> str:
    if stat.value is None:
        return "—"
    return f"{stat.value:.1f}" + ("" if stat.low is None else f" ({stat.low:.1f}–{stat.high:.1f})")


def _small(stat: Stat) -> str:
    if stat.value is None:
        return "--"
    interval = "" if stat.low is None else rf" {{\scriptsize ({stat.low:.1f}--{stat.high:.1f})}}"
    return f"{stat.value:.1f}{interval}"


TEXTS = {"csv": as_csv, "latex": as_latex, "markdown": as_markdown}
"""What writes the board in each form of text."""
