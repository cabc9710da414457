"""`manage.py report agreement`: how far people agree, in a study, over all labels, or in a plain file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.figures.people import agreement, as_json
from annotation.figures.reports import Report, ReportRefused, number, with_interval
from annotation.figures.scope import add_scope, table_of
from annotation.figures.table import LabelTable, PlainLabel, plain_table
from benchmarks.exchange import plain_labels
from benchmarks.exchange.problems import ImportFailed, Problems


def _arguments(parser: Any) -> None:
    add_scope(parser)
    parser.add_argument(
        "--labels",
        type=Path,
        default=None,
        metavar="FILE",
        help="a CSV or JSONL of labels instead of the database",
    )
    parser.add_argument(
        "--categories",
        type=plain_labels.split_categories,
        default=(),
        metavar="A,B,C",
        help="of --labels: all labels the task allows, in their order",
    )
    parser.add_argument("--task", default="", help="of labels made elsewhere: which task")


def _make(options: Mapping[str, Any]) -> Any:
    table = _from_file(options) if options["labels"] else table_of(options)
    return as_json(agreement(table, public=not options["labels"]))


def _from_file(options: Mapping[str, Any]) -> LabelTable:
    problems = Problems()
    try:
        with plain_labels.opened(options["labels"], problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES) as rows:
            found = plain_labels.read(rows, categories=options["categories"], problems=problems)
    except ImportFailed as failure:
        sentences = "\n".join(str(problem) for problem in failure.problems.errors)
        raise ReportRefused(sentences) from failure
    kept = [row for row in found.labels if row.task == options["task"]]
    if not kept:
        raise ReportRefused(f"No label of task “{options['task']}” is in the file.")
    return plain_table(
        (PlainLabel(row.annotator, row.item, row.label, row.cluster, row.links) for row in kept),
        categories=found.categories,
    )


def _lines(values: dict[str, Any]) -> list[str]:
    names = ("percent", "randolph", "fleiss", "ac1", "alpha_nominal", "alpha_ordinal", "correlation", "linking")
    lines = [f"{name:<15}{with_interval(values, name)}" for name in names]
    lines += [f"{name:<15}{values['reasons'][name]}" for name in names if values[name] is None]
    lines.append(f"q = {values['q']}, {values['n_items']} items, {values['n_pairable']} with two labels or more")
    for pair in values["pairs"]:
        figures = (
            f"{name} {number(pair[name])}" for name in ("percent", "randolph", "cohen", "pearson", "linking")
        )
        lines.append(f"{pair['a']} – {pair['b']}: n = {pair['n']}, {', '.join(figures)}")
    return lines


REPORT = Report("how far people agree among themselves", _arguments, _make, _lines)
