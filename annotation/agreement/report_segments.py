"""`manage.py report segments`: how close the documents of questions are to them, by embeddings of a server."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from annotation.results.reports import Report, ReportRefused
from benchmarks.management import model_runs
from benchmarks.recall.segments import TOKENS, Closeness, Requests, closeness
from benchmarks.results.sheet import Measure, Name, Row, Sheet, Table, Unit, values_of
from benchmarks.retrieval.base import RetrievalFailed
from benchmarks.retrieval.embeddings import Embeddings
from benchmarks.scoring.stat import stat_json
from benchmarks.summarizers.token_budget import counted_by


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, metavar="NAME", help="questions imported under this name")
    parser.add_argument("--base-url", required=True, metavar="URL", help="the server, one that the settings allow")
    parser.add_argument("--model", required=True, metavar="NAME", help="of embeddings, as the server calls it")
    parser.add_argument(
        "--query-prefix", default="", metavar="TEXT", help="what the model wants before a question"
    )
    parser.add_argument("--document-prefix", default="", metavar="TEXT", help="likewise before a segment")
    parser.add_argument("--max-requests", type=int, metavar="N", help="send at most so many; failed tries count")


def _make(options: Mapping[str, Any]) -> Closeness:
    most = options["max_requests"]
    if most is not None and most < 0:
        raise ReportRefused("--max-requests is 0 or more.")
    questions = list(model_runs.questions(options["dataset"]).order_by("pk"))
    retriever = Embeddings(
        with_subtopic=False,
        **{name: options[name] for name in ("base_url", "model", "query_prefix", "document_prefix")},
    )
    try:
        return closeness(
            dataset=options["dataset"],
            questions=questions,
            retriever=retriever,
            requests=Requests(most),
            counted_by=counted_by(),
        )
    except RetrievalFailed as failed:
        raise ReportRefused(str(failed)) from failed


def _as_json(closeness: Closeness) -> dict[str, Any]:
    plain = asdict(closeness)
    del plain["mean"]
    return {**plain, **stat_json({"mean": closeness.mean})}


def _sheet(closeness: Closeness) -> Sheet:
    measures = (
        Measure("mean", "Mean cosine"),
        Measure("deviation", "Standard deviation"),
        Measure("n_questions", "Questions", Unit.COUNT),
        Measure("n_documents", "Documents", Unit.COUNT),
        Measure("n_segments", "Segments", Unit.COUNT),
    )
    values = values_of(measures, closeness)
    table = Table(
        "segments",
        "Questions and the segments of their documents",
        (Name("dataset", "Dataset"), Name("model", "Embeddings")),
        measures,
        (Row((closeness.dataset, closeness.model), values),),
        about=f"Segments of {TOKENS:,} tokens, counted as {closeness.counted_by}; the interval draws questions.",
    )
    return Sheet((table,))


REPORT = Report(
    "how close the documents of questions are to them, by embeddings",
    _arguments,
    _make,
    as_json=_as_json,
    sheet=_sheet,
)
