"""`manage.py report context` and `experiments`: where texts take content from, and scores by its position."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused
from annotation.leaderboard.experiments import Experiment, experiments
from annotation.leaderboard.experiments import as_json as experiments_as_json
from annotation.leaderboard.position_sheet import Content, experiments_sheet, position_sheet
from annotation.leaderboard.positions import Scope, as_json, rows_of, texts_in
from annotation.leaderboard.ratings import KINDS
from annotation.models import Study
from benchmarks.engine.naming import judges_called
from benchmarks.management import haystacks as haystacks_argument
from benchmarks.management import judges as judges_argument
from benchmarks.models import Judge

DEFAULT_JUDGE = "published"


def _add_common(parser: ArgumentParser) -> None:
    """The arguments that choose texts and the judge of the scores."""
    haystacks_argument.add_argument(parser)
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


def add_arguments(parser: ArgumentParser) -> None:
    """These, and the rule of MiddleSum."""
    _add_common(parser)
    parser.add_argument(
        "--late",
        action="store_true",
        help="only texts whose reference follows no sentence before word 1,200 (MiddleSum)",
    )


def make(options: Mapping[str, Any]) -> Content:
    """A row for every system and retriever, people last."""
    scope = _scope(options)
    rows = rows_of(scope, texts_in(scope))
    missing = set(options["system"]) - {row.entry.system for row in rows}
    if missing:
        raise ReportRefused(f"No summary here is by {', '.join(sorted(missing))}.")
    if not rows:
        raise ReportRefused("There is no summary of a system and no text of a person here.")
    return Content(rows, judge=str(scope.judge or ""))


def _scope(options: Mapping[str, Any]) -> Scope:
    haystacks = haystacks_argument.chosen(options)
    judge: Judge | None = None
    if options["judge"]:
        judge = judges_argument.chosen(options["judge"])
    else:
        judges = judges_called(DEFAULT_JUDGE, Judge.objects.counted())
        judge = judges[0] if judges else None
    studies = Study.objects.filter(kind__in=KINDS)
    return Scope(haystacks, studies, judge, tuple(options["system"]), options.get("late", False))


REPORT = Report(
    "where systems and people take their content from",
    add_arguments,
    make,
    as_json=lambda content: as_json(content.rows),
    sheet=position_sheet,
)


def make_experiments(options: Mapping[str, Any]) -> list[Experiment]:
    """Every experiment of position, by system."""
    rows = experiments(_scope(options))
    if not rows:
        raise ReportRefused("There is no experiment here: run manage.py summarize --order position-of-5.")
    return rows


EXPERIMENTS = Report(
    "scores by where the relevant document stood",
    _add_common,
    make_experiments,
    as_json=experiments_as_json,
    sheet=experiments_sheet,
)
