"""Reports of manage.py on systems and people: leaderboard, position, context, experiments, sources, retrieval."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from annotation.leaderboard import views
from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import Board, View, board
from annotation.leaderboard.experiments import Experiment, experiments, experiments_sheet
from annotation.leaderboard.experiments import as_json as experiments_json
from annotation.leaderboard.position_page import Content, OrderRow, orders_sheet, position_sheet, rows_by_order
from annotation.leaderboard.position_page import orders_as_json as orders_json
from annotation.leaderboard.positions import Scope, rows_of, texts_in
from annotation.leaderboard.positions import as_json as positions_json
from annotation.leaderboard.ratings import beside_systems
from annotation.leaderboard.sheet import judged_in, sheet
from annotation.leaderboard.sources import SOURCE_SCORES, SourceLook
from annotation.leaderboard.sources import as_json as sources_json
from annotation.leaderboard.sources_page import USUAL, SourceView, source_sheet
from annotation.models import Snapshot, Study
from annotation.results.reports import Report, as_lines
from annotation.writing.documentsets import MS_PER_MINUTE
from annotation.writing.results import AVERAGES
from benchmarks.engine.versions import judges_called
from benchmarks.management import named
from benchmarks.models import Haystack, Judge, SourceSample
from benchmarks.results.judged import approval_notes
from benchmarks.results.sheet import Measure, Name, Row, Sheet, Table, Unit, values_of
from benchmarks.scoring.retrieval import FIGURES
from benchmarks.scoring.stat import stat_json
from benchmarks.scoring.summhay import TOKEN_BUDGET, Score
from benchmarks.systems.retrievers import Line, quality_lines


def add_task(parser: ArgumentParser) -> None:
    named.add_haystacks(parser)
    parser.add_argument("--domain", default="")
    parser.add_argument("--judge", default="published", metavar="NAME")
    parser.add_argument("--average", choices=list(AVERAGES), default="pooled")


def add_view(parser: ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--people", action="store_true", help="add a row of people on these subtopics")
    parser.add_argument(
        "--score",
        choices=[score.value for score in Score],
        default=Score.LABEL.value,
        help="coverage by the judge's labels (the default) or by what it expects, where it says",
    )
    parser.add_argument("--minute", type=int, metavar="N", help="people's texts at an active minute")
    parser.add_argument(
        "--with-people-only", action="store_true", help="only subtopics that people wrote on; with --people"
    )


def add_leaderboard(parser: ArgumentParser) -> None:
    add_view(parser)
    parser.add_argument(
        "--intervals",
        action=BooleanOptionalAction,
        help="95 %% intervals over subtopics, which the table has unless told otherwise, and other forms if asked",
    )
    parser.add_argument("--format", choices=views.FORMS, default="", help="print all rows in this form")


@dataclass(frozen=True, slots=True)
class Printed:
    """A board, and in which form it was asked for: one of `files.FORMS`, or empty."""

    board: Board
    view: View
    form: str
    with_intervals: bool

    @property
    def text(self) -> str:
        said = approval_notes(judged_in(self.view, self.board))
        origin = views.origin_of(self.view)
        return views.text_of(self.form, self.board, with_intervals=self.with_intervals, said=said, origin=origin)


def make_leaderboard(options: Mapping[str, Any]) -> Printed:
    """A row for every system and retriever with judged summaries, the best joint score first."""
    view, studies = view_of(options), studies_of(options)
    computed = board(view, studies=studies)
    if not any(not line.is_people for line in computed.lines):
        raise CommandError(f"Judge “{view.judge}” has judged no system's summary here.")
    if options["people"] and computed.people is None:
        raise CommandError(_no_people(view, studies))
    with_intervals = options["intervals"]
    is_table = not options["format"] and not options["json"]
    return Printed(
        computed, view, options["format"], with_intervals=is_table if with_intervals is None else with_intervals
    )


def studies_of(options: Mapping[str, Any]) -> QuerySet[Study]:
    """The studies behind a board: those of people only where these are asked for."""
    return beside_systems() if options["people"] else beside_systems("coverage")


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
    """The view that options of a command ask for.

    Raises:
        CommandError: an option says nothing that could be.
    """
    judge = named.judge_called(options["judge"])
    if (options.get("minute") or 0) < 0:
        raise CommandError("--minute is 0 or more.")
    haystacks = named.haystacks(options)
    score = Score(options.get("score", Score.LABEL))
    with_people_only = bool(options.get("with_people_only"))
    return View(haystacks, judge, options["average"], options.get("minute"), score, with_people_only)


def leaderboard_lines(printed: Printed) -> list[str]:
    if printed.form:
        return [printed.text.rstrip("\n")]
    names = {setting: setting for setting in printed.board.settings}
    return as_lines(sheet(Layout(printed.board, printed.view, names)), with_intervals=printed.with_intervals)


def make_position(options: Mapping[str, Any]) -> tuple[list[OrderRow], str]:
    """Every system that read the full context in a known order other than the random one, and the judge."""
    view = view_of(options)
    rows = rows_by_order(view)
    if not rows:
        raise CommandError("No system read the full context in a known order here.")
    return rows, str(view.judge)


LEADERBOARD = Report(
    "systems, and people, on the task",
    add_leaderboard,
    make_leaderboard,
    leaderboard_lines,
    lambda made: made.text if made.form else views.board_as_json(made.board, with_intervals=made.with_intervals),
)
POSITION = Report(
    "joint score by the order of the documents in the full context",
    add_task,
    make_position,
    as_json=lambda made: orders_json(*made),
    sheet=lambda made: orders_sheet(*made),
)


DEFAULT_JUDGE = "published"


def _add_texts(parser: ArgumentParser) -> None:
    named.add_haystacks(parser)
    parser.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME",
        help="the name of a summarizer, or people; repeatable (default: all)",
    )
    parser.add_argument(
        "--judge", default="", metavar="NAME", help=f"whose scores are correlated (default: {DEFAULT_JUDGE})"
    )


def _add_context(parser: ArgumentParser) -> None:
    _add_texts(parser)
    parser.add_argument(
        "--late",
        action="store_true",
        help="only texts whose reference follows no sentence before word 1,200 (MiddleSum)",
    )


def _make_context(options: Mapping[str, Any]) -> Content:
    """A row for every system and retriever, people last."""
    scope = _scope(options)
    rows = rows_of(scope, texts_in(scope))
    missing = set(options["system"]) - {row.entry.system for row in rows}
    if missing:
        raise CommandError(f"No summary here is by {', '.join(sorted(missing))}.")
    if not rows:
        raise CommandError("There is no summary of a system and no text of a person here.")
    return Content(rows, judge=str(scope.judge or ""))


def _scope(options: Mapping[str, Any]) -> Scope:
    haystacks = named.haystacks(options)
    judge: Judge | None = None
    if options["judge"]:
        judge = named.judge_called(options["judge"])
    else:
        judges = judges_called(DEFAULT_JUDGE, Judge.objects.counted())
        judge = judges[0] if judges else None
    studies = beside_systems()
    return Scope(haystacks, studies, judge, tuple(options["system"]), options.get("late", False))


CONTEXT = Report(
    "where systems and people take their content from",
    _add_context,
    _make_context,
    as_json=lambda content: positions_json(content.rows),
    sheet=position_sheet,
)


def _make_experiments(options: Mapping[str, Any]) -> list[Experiment]:
    rows = experiments(_scope(options))
    if not rows:
        raise CommandError("There is no experiment here: run manage.py summarize --order position-of-5.")
    return rows


EXPERIMENTS = Report(
    "scores by where the relevant document stood",
    _add_texts,
    _make_experiments,
    as_json=experiments_json,
    sheet=experiments_sheet,
)


def _add_sources(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME",
        help="a dataset of sources; repeatable (default: all)",
    )
    parser.add_argument("--sample", metavar="NAME", help="a sample of sources instead")
    parser.add_argument(
        "--measure", default=USUAL, metavar="NAME", help=f"what is compared over datasets (default: {USUAL})"
    )


def _make_sources(options: Mapping[str, Any]) -> SourceView:
    if options["dataset"] and options["sample"]:
        raise CommandError("Name datasets or a sample.")
    sample = None
    if options["sample"]:
        sample = SourceSample.objects.filter(name=options["sample"]).first()
        if sample is None:
            raise CommandError(f"There is no sample “{options['sample']}”.")
    known = set(Haystack.objects.current().sources().values_list("dataset", flat=True))
    if unknown := sorted(set(options["dataset"]) - known):
        raise CommandError(f"There is no dataset of sources “{unknown[0]}”.")
    studies = beside_systems().order_by("pk").values_list("pk", flat=True)
    look = SourceLook(tuple(sorted(options["dataset"])), None if sample is None else sample.pk, tuple(studies))
    view = SourceView(SOURCE_SCORES.compute(look), options["measure"])
    if view.figures.rows and options["measure"] not in view.scores:
        raise CommandError(f"No text has “{options['measure']}”; known: {', '.join(view.scores)}.")
    return view


SOURCES = Report(
    "mean scores on sources by system, method and dataset",
    _add_sources,
    _make_sources,
    as_json=lambda view: sources_json(view.figures),
    sheet=source_sheet,
)


def _add_retrieval(parser: ArgumentParser) -> None:
    named.add_haystacks(parser)
    parser.add_argument(
        "--budget", type=int, default=TOKEN_BUDGET, metavar="TOKENS", help="%(default)s by default"
    )


def _make_retrieval(options: Mapping[str, Any]) -> tuple[list[Line], int]:
    """A row for every retriever with stored scores, the highest recall of insights first, and the budget."""
    if options["budget"] < 1:
        raise CommandError("--budget is a whole number from 1 on.")
    lines = quality_lines(named.haystacks(options), token_budget=options["budget"])
    if not lines:
        raise CommandError("No retriever has scored documents here: run manage.py retrieve.")
    return lines, options["budget"]


def _retriever_row(line: Line, budget: int) -> dict[str, Any]:
    quality = line.quality
    named = asdict(line)
    del named["quality"]
    return {
        **named,
        "is_imported": line.is_imported,
        **stat_json({name: getattr(quality, name) for name in FIGURES}),
        "mean_documents": quality.mean_documents,
        "n_subtopics": quality.n_subtopics,
        "n_without_gold": quality.n_without_gold,
        "token_budget": budget,
    }


def _retrievers_sheet(lines: list[Line]) -> Sheet:
    measures = (
        Measure("recall_insights", "recall of insights", Unit.SHARE),
        Measure("recall_documents", "recall of documents", Unit.SHARE),
        Measure("ndcg", "nDCG"),
        Measure("mean_documents", "documents", Unit.POINTS),
        Measure("n_subtopics", "subtopics", Unit.COUNT),
    )
    rows = tuple(Row((line.reference,), values_of(measures, line.quality)) for line in lines)
    return Sheet((Table("retrievers", "", (Name("retriever", "retriever"),), measures, rows),))


RETRIEVAL = Report(
    "how well retrievers find the documents that hold insights",
    _add_retrieval,
    _make_retrieval,
    as_json=lambda made: [_retriever_row(line, made[1]) for line in made[0]],
    sheet=lambda made: _retrievers_sheet(made[0]),
)
