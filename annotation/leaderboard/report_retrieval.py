"""`manage.py report retrieval`: how well retrievers find gold documents; shares from 0 to 1."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.agreement.reports import Report, ReportRefused
from benchmarks.management import haystacks as haystacks_argument
from benchmarks.results.sheet import Measure, Name, Row, Sheet, Table, Unit
from benchmarks.scoring.oracle import TOKEN_BUDGET
from benchmarks.scoring.retrieval import FIGURES
from benchmarks.scoring.stat import stat_json
from benchmarks.systems.retriever_quality import Line, quality_lines


def add_arguments(parser: ArgumentParser) -> None:
    """Which haystacks, and how many tokens a reader has."""
    haystacks_argument.add_argument(parser)
    parser.add_argument(
        "--budget", type=int, default=TOKEN_BUDGET, metavar="TOKENS", help="%(default)s by default"
    )


@dataclass(frozen=True, slots=True)
class Retrievers:
    """Retrievers with stored scores, the highest recall of insights first."""

    lines: list[Line]
    budget: int


def make(options: Mapping[str, Any]) -> Retrievers:
    """A row for every retriever with stored scores."""
    if options["budget"] < 1:
        raise ReportRefused("--budget is a whole number from 1 on.")
    lines = quality_lines(haystacks_argument.chosen(options), token_budget=options["budget"])
    if not lines:
        raise ReportRefused("No retriever has scored documents here: run manage.py retrieve.")
    return Retrievers(lines, options["budget"])


def as_json(retrievers: Retrievers) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [{**_row(line), "token_budget": retrievers.budget} for line in retrievers.lines]


def _row(line: Line) -> dict[str, Any]:
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
    }


def sheet(retrievers: Retrievers) -> Sheet:
    """The rows as a table."""
    measures = (
        Measure("recall_insights", "recall of insights", Unit.SHARE),
        Measure("recall_documents", "recall of documents", Unit.SHARE),
        Measure("ndcg", "nDCG"),
        Measure("mean_documents", "documents", Unit.POINTS),
        Measure("n_subtopics", "subtopics", Unit.COUNT),
    )
    rows = tuple(
        Row((line.reference,), {measure.key: getattr(line.quality, measure.key) for measure in measures})
        for line in retrievers.lines
    )
    return Sheet((Table("retrievers", "", (Name("retriever", "retriever"),), measures, rows),))


REPORT = Report(
    "how well retrievers find the documents that hold insights", add_arguments, make, as_json=as_json, sheet=sheet
)
