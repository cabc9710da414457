"""`synthesize check FILE.json`: the free checks of any haystack file."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from extensions.synthesis.checks.lexical import NothingToCompare
from extensions.synthesis.checks.report import CheckReport, check
from extensions.synthesis.commands.base import Output, Subcommand, SynthesisRefused, read_haystack

SHOWN = 5


def add_arguments(parser: ArgumentParser) -> None:
    """Take a file."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a haystack in the published format")
    parser.add_argument("--json", action="store_true", help="print all figures, and every pair that is wrong")


def run(options: Mapping[str, Any], output: Output) -> None:
    """Check it and print."""
    topic = read_haystack(options["file"])
    try:
        report = check(topic)
    except NothingToCompare as error:
        raise SynthesisRefused(f"{options['file'].name}: {error}") from error
    if options["json"]:
        output.json(report.as_json())
        return
    for line in lines(report):
        output.result(line)


def lines(report: CheckReport) -> Iterator[str]:
    """The figures for a console."""
    yield (
        f"{report.n_insights} insights in {report.n_documents} documents of {report.n_sentences} sentences, "
        f"{report.decided.n_planted} pairs planted, {report.decided.n_others} not"
    )
    yield f"planted against not, by the words they share: AUC {report.auc:.4f}"
    decided = report.decided
    yield (
        f"at {report.threshold:.3f}, fitted here: recall {_number(decided.recall)}, "
        f"precision {_number(decided.precision)}; {report.undecided} pairs lie where words do not decide"
    )
    for kind, caught in report.caught.items():
        yield f"{kind}s noticed: {caught.n_caught} of {caught.n} ({_number(caught.recall)})"
    for title, pairs in (("planted but not seen", report.missing), ("seen but not planted", report.leaks)):
        for key, number, score in pairs[:SHOWN]:
            yield f"{title}: insight {key} in document {number}, score {score:.3f}"
        if len(pairs) > SHOWN:
            yield f"{title}: {len(pairs) - SHOWN} more"
    yield (
        f"pairs of insights that overlap: {len(report.overlapping)}, of them {report.n_within} within a subtopic"
    )
    yield f"pairs of documents that are near-duplicates: {len(report.near_duplicates)}"
    yield f"runs of eight words that another document has too: {_number(report.repeated)}"
    yield f"runs of eight words of insights that their documents have: {_number(report.verbatim)}"
    yield f"sentences with a digit that are evidence: {_number(report.number_precision)}"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


CHECK = Subcommand(
    name="check",
    help="Compare what the documents of a haystack hold with what its file says, without a model.",
    add_arguments=add_arguments,
    run=run,
)
