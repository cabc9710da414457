"""`manage.py report retrieval`: how well retrievers find gold documents; shares from 0 to 1."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned, with_interval
from benchmarks.management import haystacks as haystacks_argument
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


def make(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for every retriever with stored scores, the highest recall of insights first."""
    if options["budget"] < 1:
        raise ReportRefused("--budget is a whole number from 1 on.")
    found = quality_lines(haystacks_argument.chosen(options), token_budget=options["budget"])
    if not found:
        raise ReportRefused("No retriever has scored documents here: run manage.py retrieve.")
    return [{**_row(line), "token_budget": options["budget"]} for line in found]


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


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """A table for a console."""
    head = ["retriever", "recall of insights", "recall of documents", "nDCG", "documents", "subtopics"]
    names = ("recall_insights", "recall_documents", "ndcg")
    return aligned(
        [
            head,
            *(
                [
                    row["reference"],
                    *(with_interval(row, name) for name in names),
                    f"{row['mean_documents']:.1f}",
                    str(row["n_subtopics"]),
                ]
                for row in rows
            ),
        ]
    )


REPORT = Report("how well retrievers find the documents that hold insights", add_arguments, make, lines)
