"""`manage.py report leaderboard` and `report position`: systems and people on the task, from 0 to 100."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.agreement.reports import Report, ReportRefused, as_lines
from annotation.leaderboard import files
from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import Board, View, board
from annotation.leaderboard.orders import OrderRow, as_json, rows_by_order
from annotation.leaderboard.position_sheet import orders_sheet
from annotation.leaderboard.ratings import KINDS
from annotation.leaderboard.sheet import judged_in, sheet
from annotation.models import Snapshot, Study
from annotation.writing.documentsets import MS_PER_MINUTE
from annotation.writing.finals import AVERAGES
from benchmarks.management import haystacks as haystacks_argument
from benchmarks.management import judges as judges_argument
from benchmarks.results.judged import licence_notes
from benchmarks.scoring.summhay import Score


def add_task(parser: ArgumentParser) -> None:
    """The arguments that choose haystacks, a judge and an average."""
    haystacks_argument.add_argument(parser)
    parser.add_argument("--domain", default="")
    parser.add_argument("--judge", default="published", metavar="NAME")
    parser.add_argument("--average", choices=list(AVERAGES), default="pooled")


def add_view(parser: ArgumentParser) -> None:
    """What is compared."""
    add_task(parser)
    parser.add_argument("--people", action="store_true", help="add a row of people on these subtopics")
    parser.add_argument(
        "--score",
        choices=[score.value for score in Score],
        default=Score.LABEL.value,
        help="coverage by the judge's labels (the default) or by what it expects, where it says",
    )
    parser.add_argument("--minute", type=int, default=None, metavar="N", help="people's texts at an active minute")
    parser.add_argument(
        "--with-people-only", action="store_true", help="only subtopics that people wrote on; with --people"
    )


def add_leaderboard(parser: ArgumentParser) -> None:
    """What is compared, and in which form it is printed."""
    add_view(parser)
    parser.add_argument(
        "--intervals",
        action=BooleanOptionalAction,
        default=None,
        help="95 %% intervals over subtopics, which the table has unless told otherwise, and other forms if asked",
    )
    parser.add_argument("--format", choices=list(files.TEXTS), default="", help="print all rows in this form")


@dataclass(frozen=True, slots=True)
class Printed:
    """A board, and in which form it was asked for: one of `files.TEXTS`, or empty."""

    board: Board
    view: View
    form: str
    with_intervals: bool

    @property
    def text(self) -> str:
        """The text that was asked for."""
        said = licence_notes(judged_in(self.view, self.board))
        origin = files.origin_of(self.view)
        return files.TEXTS[self.form](self.board, with_intervals=self.with_intervals, said=said, origin=origin)


def make_leaderboard(options: Mapping[str, Any]) -> Printed:
    """A row for every system and retriever with judged summaries, the best joint score first."""
    view, studies = view_of(options), studies_of(options)
    computed = board(view, studies=studies)
    if not any(not line.is_people for line in computed.lines):
        raise ReportRefused(f"Judge “{view.judge}” has judged no system's summary here.")
    if options["people"] and computed.people is None:
        raise ReportRefused(_no_people(view, studies))
    with_intervals = options["intervals"]
    is_table = not options["format"] and not options["json"]
    return Printed(
        computed, view, options["format"], with_intervals=is_table if with_intervals is None else with_intervals
    )


def studies_of(options: Mapping[str, Any]) -> QuerySet[Study]:
    """The studies behind a board: those of people only where these are asked for."""
    return Study.objects.filter(kind__in=KINDS if options["people"] else (Study.Kind.LINKING,))


def _no_people(view: View, studies: QuerySet[Study]) -> str:
    """Why there is no row of people: no text at so early a minute, or none that was judged."""
    texts = Snapshot.objects.filter(
        kind=Snapshot.Kind.MARK, session__assignment__study__in=studies, summary__haystack__in=view.haystacks
    )
    marks_ms = texts.order_by().values_list("mark_ms", flat=True).distinct()
    marks = sorted(mark / MS_PER_MINUTE for mark in marks_ms)
    if view.minute is not None and marks and view.minute < marks[0]:
        known = ", ".join(f"{mark:g}" for mark in marks)
        return f"There is no text of people at minute {view.minute} or before; there are marks at {known}."
    return f"Judge “{view.judge}” has judged no text of people on these subtopics."


def view_of(options: Mapping[str, Any]) -> View:
    """What options of a command compare.

    Raises:
        ReportRefused: an option says nothing that could be.
    """
    judge = judges_argument.chosen(options["judge"])
    if (options.get("minute") or 0) < 0:
        raise ReportRefused("--minute is 0 or more.")
    haystacks = haystacks_argument.chosen(options)
    score = Score(options.get("score", Score.LABEL))
    with_people_only = bool(options.get("with_people_only"))
    return View(haystacks, judge, options["average"], options.get("minute"), score, with_people_only)


def leaderboard_plain(printed: Printed) -> Any:
    """The rows as plain values, or the text that was asked for."""
    return printed.text if printed.form else files.as_json(printed.board, with_intervals=printed.with_intervals)


def leaderboard_lines(printed: Printed) -> list[str]:
    """A table for a console, or the text that was asked for."""
    if printed.form:
        return [printed.text.rstrip("\n")]
    names = {setting: setting for setting in printed.board.settings}
    return as_lines(sheet(Layout(printed.board, printed.view, names)), with_intervals=printed.with_intervals)


def make_position(options: Mapping[str, Any]) -> tuple[list[OrderRow], str]:
    """Every system that read the full context in a known order other than the random one, and the judge."""
    view = view_of(options)
    rows = rows_by_order(view)
    if not rows:
        raise ReportRefused("No system read the full context in a known order here.")
    return rows, str(view.judge)


LEADERBOARD = Report(
    "systems, and people, on the task", add_leaderboard, make_leaderboard, leaderboard_lines, leaderboard_plain
)
POSITION = Report(
    "joint score by the order of the documents in the full context",
    add_task,
    make_position,
    as_json=lambda made: as_json(*made),
    sheet=lambda made: orders_sheet(*made),
)
