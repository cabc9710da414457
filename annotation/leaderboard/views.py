"""The leaderboard page, and its files: JSON, CSV, LaTeX, Markdown, rows insight by insight. Scores run to 100."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import LEADERBOARD, Board, Line, Look, View
from annotation.leaderboard.forms import TITLES, ViewForm, judged_haystacks, judges_of_people, unjudged
from annotation.leaderboard.people import key_of, times_json
from annotation.leaderboard.ratings import beside_systems
from annotation.leaderboard.sheet import judged_in, sheet
from annotation.models import Study
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack
from benchmarks.results.approval_notes import as_comments, with_approval_column
from benchmarks.results.judged import ApprovalNote, approval_notes
from benchmarks.results.pages import sheet_file, waiting_file, waiting_page
from benchmarks.results.sheet import Measure, Name, Row, Sheet, Table, Unit
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.writing import STAT_COLUMNS, Origin, stat_cells, tex
from benchmarks.scoring.components import Minutes
from benchmarks.scoring.leaderboard import FIGURES, WORDS
from benchmarks.scoring.stat import Stat, interval_json, stat_json
from benchmarks.scoring.summhay import Score
from benchmarks.web import latex
from benchmarks.web.downloads import CSV_TYPE, SPREADSHEETS, csv_lines, download, json_download, reader_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

NAMES = {
    "coverage": "coverage",
    "citation": "citation",
    "joint": "joint",
    "precision": "citation_precision",
    "recall": "citation_recall",
    WORDS: WORDS,
}
"""Names of the figures in files, in the order of the papers."""
BOUNDS = ("low", "high", "clusters")
"""Columns that say how sure a figure is."""
COUNTS = ("n_summaries", "n_insights", "n_missing")


def stats_of(line: Line) -> dict[str, Stat]:
    """The figures of a row by their names in files, scores from 0 to 100."""
    stats = {
        NAMES[name]: line.row.stats[name] if name == WORDS else line.row.stats[name].scaled(100)
        for name in FIGURES
    }
    return stats if line.labelled is None else {**stats, "coverage_labelled": line.labelled.scaled(100)}


def board_as_json(board: Board, *, with_intervals: bool) -> list[dict[str, Any]]:
    """A row for each system and retriever, and for people."""
    return [_row(board, line, with_intervals=with_intervals) for line in board.lines]


def _row(board: Board, line: Line, *, with_intervals: bool) -> dict[str, Any]:
    stats = stats_of(line)
    row: dict[str, Any] = {
        "system": line.entry.system,
        "retriever": line.entry.retriever,
        **{name: stat.value for name, stat in stats.items()},
        **{name: getattr(line.row, name) for name in COUNTS},
    }
    row |= {"n_subtopics": len(line.row.subtopics)} | rank_of(line) | writers_of(line)
    if with_intervals:
        row["intervals"] = {name: with_reason(stat) for name, stat in stats.items()}
    if line.ratings:
        row["ratings"] = stat_json(line.ratings)
    if with_intervals and board.people is not None:
        row["minutes"] = None if line.minutes is None else minutes_json(line.minutes)
        row["time_to_score"] = times_json(line.times)
        row["differences"] = {"above": _differences(line.to_above), "people": _differences(line.to_people)}
    return row


def rank_of(line: Line) -> dict[str, Any]:
    """A system's rank among those on the same subtopics, the ranks it may have, and the gap that would show."""
    rank = line.standing
    return {
        "rank": rank and rank.rank,
        "rank_interval": None if rank is None or rank.low is None else [rank.low, rank.high],
        "level_with_best": rank and rank.is_level,
        "detectable_gap": None if line.detectable is None else 100 * line.detectable,
    }


def counted_of(line: Line) -> dict[str, Any]:
    """Words on a row by value alone: of a system its rank, of people who they are."""
    if line.writers is not None:
        return dict(writers_of(line))
    columns = rank_of(line) | {"n_subtopics": len(line.row.subtopics)}
    low, high = columns.pop("rank_interval") or (None, None)
    return columns | {"rank_low": low, "rank_high": high}


def writers_of(line: Line) -> dict[str, float | None]:
    """Who the people of a row are, by names in files; nothing of a system."""
    if line.writers is None:
        return {}
    writers = {name: value for name, value in asdict(line.writers).items() if name != "studies"}
    ceiling = line.writers.citation_ceiling
    return writers | {"citation_ceiling": None if ceiling is None else 100 * ceiling}


def minutes_json(minutes: Minutes) -> dict[str, Any]:
    """Human minutes as plain values: what people never reach is null, and said so in `reason`."""
    ends = {"value": minutes.value, "low": minutes.low, "high": minutes.high}
    reasons = [
        *(["not reached"] if math.isinf(minutes.value) else []),
        *(["upper end not reached"] if minutes.high == math.inf > minutes.value else []),
        *([minutes.reason] if minutes.reason else []),
    ]
    return {
        **{name: end if end is not None and math.isfinite(end) else None for name, end in ends.items()},
        "target": 100 * minutes.target,
        "n": minutes.n_sessions,
        "reason": "; ".join(reasons),
        **({} if minutes.n_writers is None else {"only_these": minutes.n_writers}),
    }


def _differences(stats: Mapping[str, Stat]) -> dict[str, Any] | None:
    """Paired differences by the names of figures in files, from −100 to 100; None without another row."""
    scaled = {NAMES[name]: stat.scaled(100) for name, stat in stats.items()}
    return {name: {"value": stat.value} | with_reason(stat) for name, stat in scaled.items()} or None


def with_reason(stat: Stat) -> dict[str, Any]:
    """A figure's interval as plain values, with the reason where there is none."""
    return interval_json(stat) | {"reason": stat.reason}


FORMS = ("csv", "latex", "markdown")
"""Forms of text that the rows come in."""


def text_of(
    form: str,
    board: Board,
    *,
    with_intervals: bool = True,
    reader: str = SPREADSHEETS,
    said: Sequence[ApprovalNote] = (),
    origin: Origin | None = None,
) -> str:
    """The board in one of `FORMS`, with what is said of its judges and, but for CSV, of which data it is."""
    if form == "csv":
        columns = [name for name in STAT_COLUMNS if with_intervals or name not in BOUNDS]
        rows = (
            (line.entry.system, line.entry.retriever, name, *(cells[column] for column in columns))
            for line in board.lines
            for name, all_cells in (
                *((name, stat_cells(stat)) for name, stat in stats_of(line).items()),
                *((key_of(time.share), stat_cells(time.mean)) for time in line.times),
                *((name, (value, *[""] * (len(STAT_COLUMNS) - 1))) for name, value in counted_of(line).items()),
            )
            for cells in [dict(zip(STAT_COLUMNS, all_cells, strict=True))]
        )
        head, cells = with_approval_column(said, ("system", "retriever", "figure", *columns), rows)
        return "".join(csv_lines(head, cells, reader=reader))
    table, notes = _table(board), _notes(board)
    if form == "markdown":
        notes += [*(note.text for note in said), *([" ".join(origin.sentences)] if origin else [])]
        return _markdown(table, notes, with_intervals=with_intervals)
    of_people = "".join(map(latex.comment, notes))
    return tex(table, origin=origin, with_intervals=with_intervals) + of_people + as_comments(said)


def _markdown(table: Table, notes: Sequence[str], *, with_intervals: bool) -> str:
    head = [*(str(name.title) for name in table.names), *(str(measure.title) for measure in table.measures)]
    rows = [
        [
            *(name.replace("|", r"\|") for name in row.names),
            *(_in_markdown(row.value(measure.key), with_intervals=with_intervals) for measure in table.measures),
        ]
        for row in table.rows
    ]
    lines = [head, ["---"] * len(table.names) + ["---:"] * len(table.measures), *rows]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), *(f"\n{note}" for note in notes), ""])


def _in_markdown(value: Any, *, with_intervals: bool) -> str:
    if not isinstance(value, Stat):
        return str(value)
    if value.value is None:
        return "—"
    has_interval = with_intervals and value.low is not None
    return f"{value.value:.1f}" + (f" ({value.low:.1f}–{value.high:.1f})" if has_interval else "")


def _table(board: Board) -> Table:
    """The figures of each entry by their names in files, in the order of the papers, and how much they are of."""
    measures = (
        *(Measure(key, TITLES[name], Unit.POINTS, has_badge=False) for name, key in NAMES.items()),
        Measure("n_subtopics", "Subtopics", Unit.COUNT),
        Measure("n_insights", "Insights", Unit.COUNT),
    )
    rows = tuple(
        Row(
            tuple(line.entry),
            {**stats_of(line), "n_subtopics": len(line.row.subtopics), "n_insights": line.row.n_insights},
            is_people=line.is_people,
        )
        for line in board.lines
    )
    names = (Name("system", "System"), Name("retriever", "Retriever"))
    return Table("leaderboard", "Leaderboard", names, measures, rows)


def _notes(board: Board) -> list[str]:
    """Who the people of each row of people are, in lines below the table."""
    return [
        f"{line.key}: "
        + ", ".join(f"{name} {'—' if value is None else f'{value:.4g}'}" for name, value in writers.items())
        for line in board.of_people
        for writers in [writers_of(line)]
    ]


def origin_of(view: View, *, version: str = "", computed_at: datetime | None = None) -> Origin:
    return Origin(board_name(view), "Leaderboard", str(view.judge), _chosen(view), version, computed_at)


def board_name(view: View) -> str:
    """The name of the archive without its ending."""
    titles = [haystack.title for haystack in view.haystacks.order_by("title")[:2]]
    return slugify(f"leaderboard {titles[0]}", allow_unicode=True)[:80] if len(titles) == 1 else "leaderboard"


def _chosen(view: View) -> str:
    """Choices other than the usual ones, in a few words."""
    parts = [
        *(["means over summaries"] if view.average != "pooled" else []),
        *(["coverage as the judge expects it"] if view.score is Score.EXPECTED else []),
        *([f"people's texts at minute {view.minute}"] if view.minute is not None else []),
        *(["subtopics that people wrote on"] if view.with_people_only else []),
    ]
    return ", ".join(parts)


@requires("annotation.view_session")
@require_safe
def leaderboard(request: HtmxHttpRequest) -> HttpResponse:
    """Systems and people by retriever: the answer, a chart, and every row with its intervals."""
    studies = studies_of(request)
    form, view, shown = shown_board(request, studies)
    board = shown.figures if shown else None
    if shown is not None and board is None:
        template = "annotation/leaderboard.html"
        return waiting_page(request, shown, {}, heading="Leaderboard", template=template, region="board")
    formats = {"csv": "CSV", "json": "JSON", "latex": "LaTeX", "markdown": "Markdown"}
    context: dict[str, Any] = {"form": form, "view": view, "shown": shown, "board": board, "formats": formats}
    context |= {"downloads_template": "annotation/_leaderboard_files.html", "publishes": True}
    if view is not None and board is not None:
        context |= {"judge": view.judge, "unjudged": unjudged(view)}
        context["of_people"] = judges_of_people(view) if board.people is None else []
        elsewhere = () if board.lines else judged_haystacks(form.haystacks)
        context["sheet"] = laid_out(board, view, request, studies, elsewhere=elsewhere)
        context["files_url"] = reverse("annotation:leaderboard-figures", args=["x"]).removesuffix("x")
    return page(request, "annotation/leaderboard.html", context, part="board")


@requires("annotation.view_session")
@require_safe
def leaderboard_figures(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures, a table or the chart as a file; retrievers have the names of files there."""
    name = request.GET.get("file", name)
    _form, view, shown = shown_board(request, wait_s=FILE_WAIT_S)
    if view is None or shown is None:
        raise Http404
    board = shown.figures
    if board is None:
        return waiting_file(request, shown, name=name)
    whole = laid_out(board, view, request, has_keys=not name.startswith("board-chart."), is_whole=True)
    as_json = {"data_version": shown.version, "rows": board_as_json(board, with_intervals=True)}
    prefix, origin = f"leaderboard-{shown.version}-", _origin(view, shown)
    return sheet_file(request, whole, name, as_json=as_json, prefix=prefix, origin=origin)


@requires("annotation.view_session")
@require_safe
def leaderboard_file(request: HttpRequest, file_format: str) -> HttpResponseBase:
    _form, view, shown = shown_board(request, wait_s=FILE_WAIT_S)
    if file_format not in FORMATS or view is None or shown is None:
        raise Http404
    name, board = f"leaderboard.{FORMATS[file_format]}", shown.figures
    if board is None:
        return waiting_file(request, shown, name=name)
    name = f"leaderboard-{shown.version}.{FORMATS[file_format]}"
    if file_format == "json":
        return json_download(board_as_json(board, with_intervals=True), name=name, indent=2)
    said = approval_notes(judged_in(view, board), reader=request.user)
    text = text_of(file_format, board, reader=reader_of(request), said=said, origin=_origin(view, shown))
    return download([text], name=name, content_type=TYPES.get(file_format, "text/plain; charset=utf-8"))


def _origin(view: View, shown: Shown[Any]) -> Origin:
    return origin_of(view, version=shown.version, computed_at=shown.result.computed_at)


TYPES = {"csv": CSV_TYPE, "markdown": "text/markdown; charset=utf-8"}
FORMATS = {"csv": "csv", "json": "json", "latex": "tex", "markdown": "md"}
"""Formats of the file and the ends of their names."""


def shown_board(
    request: HttpRequest, studies: QuerySet[Study] | None = None, *, wait_s: float = WAIT_S
) -> tuple[ViewForm, View | None, Shown[Board] | None]:
    """The view that an address asks for, None where nothing is judged, with the stored board."""
    haystacks = Haystack.objects.for_work().order_by("title")
    form = ViewForm(request.GET, haystacks=haystacks)
    view = form.view()
    if view is None:
        return form, None, None
    look = Look.at(view, studies_of(request) if studies is None else studies)
    return form, view, look_up(LEADERBOARD, look, now=timezone.now(), wait_s=wait_s)


def laid_out(
    board: Board,
    view: View,
    request: HttpRequest,
    studies: Iterable[Study] = (),
    *,
    has_keys: bool = False,
    is_whole: bool = False,
    elsewhere: Sequence[tuple[str, str]] = (),
) -> Sheet:
    """The sheet of a board as its address asks for it; with `has_keys` retrievers have their names of files."""
    names = {setting: setting for setting in board.settings} if has_keys else names_of(board.settings)
    return sheet(Layout(board, view, names, request.GET, tuple(studies), is_whole, elsewhere))


def studies_of(request: HttpRequest) -> QuerySet[Study]:
    """Those whose texts, ratings and labels of people stand beside systems, as far as the reader may see them."""
    return beside_systems().for_user(request.user)
