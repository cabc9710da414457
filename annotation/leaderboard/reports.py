"""`manage.py report leaderboard` and `report position`: systems and people on the task, from 0 to 100."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from annotation.agreement.reports import Report, ReportRefused, aligned, number
from annotation.leaderboard import files
from annotation.leaderboard.board import AVERAGES, View, board
from annotation.leaderboard.orders import FIGURES, rows_by_order
from annotation.models import Snapshot, Study
from annotation.writing.documentsets import MS_PER_MINUTE
from benchmarks.leaderboard.board import ORDERS
from benchmarks.management import haystacks as haystacks_argument
from benchmarks.management import judges as judges_argument
from benchmarks.scoring.summhay import Score


def add_task(parser: ArgumentParser) -> None:
    """The arguments that choose haystacks, a judge and an average."""
    haystacks_argument.add_argument(parser)
    parser.add_argument("--domain", default="")
    parser.add_argument("--judge", default="published", metavar="NAME")
    parser.add_argument("--average", choices=list(AVERAGES), default="pooled")


def add_leaderboard(parser: ArgumentParser) -> None:
    """What is compared, and in which form it is printed."""
    add_task(parser)
    parser.add_argument("--people", action="store_true", help="add a row of people on these subtopics")
    parser.add_argument(
        "--score",
        choices=[score.value for score in Score],
        default=Score.LABEL.value,
        help="coverage by the judge's labels (the default) or by what it expects, where it says",
    )
    parser.add_argument("--minute", type=int, default=None, metavar="N", help="people's texts at an active minute")
    parser.add_argument("--intervals", action="store_true", help="add 95 %% intervals over subtopics")
    parser.add_argument("--format", choices=list(files.TEXTS), default="", help="print all rows in this form")


def make_leaderboard(options: Mapping[str, Any]) -> Any:
    """A row for every system and retriever with judged summaries, the best joint score first."""
    view = _view(options)
    studies = Study.objects.filter(kind=Study.Kind.WRITING) if options["people"] else Study.objects.none()
    found = board(view, studies=studies)
    if not any(not line.is_people for line in found.lines):
        raise ReportRefused(f"Judge “{view.judge}” has judged no system's summary here.")
    if options["people"] and found.people is None:
        raise ReportRefused(_no_people(view, studies))
    if options["format"]:
        return files.TEXTS[options["format"]](found, with_intervals=options["intervals"])
    return files.as_json(found, with_intervals=options["intervals"])


def _no_people(view: View, studies: QuerySet[Study]) -> str:
    """Why there is no row of people: no text at so early a minute, or none that was judged."""
    texts = Snapshot.objects.filter(
        kind=Snapshot.Kind.MARK, session__assignment__study__in=studies, summary__haystack__in=view.haystacks
    )
    found = texts.order_by().values_list("mark_ms", flat=True).distinct()
    marks = sorted(mark / MS_PER_MINUTE for mark in found)
    if view.minute is not None and marks and view.minute < marks[0]:
        known = ", ".join(f"{mark:g}" for mark in marks)
        return f"There is no text of people at minute {view.minute} or before; there are marks at {known}."
    return f"Judge “{view.judge}” has judged no text of people on these subtopics."


def _view(options: Mapping[str, Any]) -> View:
    judge = judges_argument.chosen(options["judge"])
    if (options.get("minute") or 0) < 0:
        raise ReportRefused("--minute is 0 or more.")
    haystacks = haystacks_argument.chosen(options)
    score = Score(options.get("score", Score.LABEL))
    return View(haystacks, judge, options["average"], options.get("minute"), score)


def leaderboard_lines(rows: Any) -> list[str]:
    """A table for a console, or the text that was asked for."""
    if isinstance(rows, str):
        return [rows.rstrip("\n")]
    names = tuple(files.NAMES.values())
    table = [["system", "retriever", *names, "summaries"]]
    for row in rows:
        cells = [_cell(row, name) for name in names]
        table.append([row["system"], row["retriever"], *cells, str(row["n_summaries"])])
    return aligned(table)


def _cell(row: Mapping[str, Any], name: str) -> str:
    """A figure, with its interval where it was asked for."""
    if row[name] is None:
        return "—"
    interval = row.get("intervals", {}).get(name, {})
    bounds = "" if interval.get("low") is None else f" [{interval['low']:.1f}, {interval['high']:.1f}]"
    return f"{row[name]:.1f}{bounds}"


def make_position(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for every system that read the full context in a known order other than the random one."""
    view = _view(options)
    found = rows_by_order(view)
    if not found:
        raise ReportRefused("No system read the full context in a known order here.")
    return [
        {
            "system": row.system,
            "judge": str(view.judge),
            **{figure: stat.value for figure, stat in row.stats.items()},
            "n_summaries": row.n_summaries,
            "intervals": {figure: files.with_reason(stat) for figure, stat in row.stats.items()},
        }
        for row in found
    ]


def position_lines(rows: list[dict[str, Any]]) -> list[str]:
    """A table for a console."""
    cells = [[row["system"], *(number(row[name]) for name in FIGURES), str(row["n_summaries"])] for row in rows]
    return [
        *aligned([["system", *FIGURES, "summaries"], *cells]),
        f"top is the published order {ORDERS['top']}, bottom {ORDERS['bottom']}, random {ORDERS['random']}.",
    ]


LEADERBOARD = Report("systems, and people, on the task", add_leaderboard, make_leaderboard, leaderboard_lines)
POSITION = Report(
    "joint score by the order of the documents in the full context", add_task, make_position, position_lines
)
