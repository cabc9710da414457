"""Fit the offline judge to human labels, and say how that does on labels held out.

The fitting itself is plain data in `benchmarks.judges.lexical_fit`; labels from anywhere else enter there too.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks.engine import texts, versions
from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import eval_benchmark
from benchmarks.io.schemas.eval_benchmark import BenchmarkEntry
from benchmarks.judges.base import Background, ItemRef, SummaryToJudge
from benchmarks.judges.lexical import LexicalConfig
from benchmarks.judges.lexical_expected import ExpectedConfig
from benchmarks.judges.lexical_fit import FitResult, HumanLabel, LabelledSummary, NothingHeldOut, TooFewLabels, fit
from benchmarks.judges.registry import OFFLINE
from benchmarks.management import named
from benchmarks.models import Haystack, Judge
from benchmarks.scoring.comparison import Comparison, ExpectedFigures
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage

FIGURES = {
    "pearson": "pearson",
    "exact": "exact_agreement",
    "covered_kappa": "covered.kappa",
    **{name: name for name in ("linking_authors", "linking", "linking_strict")},
}
"""Figures as they are printed, by their names in `pairs`."""

FITTED = "lexical-fitted"


class Command(BaseCommand):
    """Fit thresholds and odds; the figures to report are the held-out ones."""

    help = "Fit the offline judge to human labels, with each topic left out in turn."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE", help="published benchmarks of annotated summaries"
        )
        parser.add_argument(
            "--version-2",
            action="store_true",
            help="fit version 2 of the offline judge: odds alone, each topic counting the same",
        )
        parser.add_argument(
            "--save",
            nargs="?",
            const=FITTED,
            metavar="NAME",
            help="store it as the newest version of this judge (default name: %(const)s)",
        )
        parser.add_argument("--json", action="store_true", help="print all figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, fit, report, and store if asked to."""
        entries = [entry for path in options["files"] for entry in self._read(path)]
        try:
            start = ExpectedConfig() if options["version_2"] else LexicalConfig()
            result = fit(labelled_summaries(entries), start)
        except (TooFewLabels, NothingHeldOut) as error:
            raise CommandError(str(error)) from error
        judge, lines = None, list(_lines(result))
        if options["save"]:
            try:
                judge = save_fitted(result=result, name=options["save"], now=timezone.now())
            except NameTaken as error:
                raise CommandError(str(error)) from error
            lines.append(f"Stored as {judge}; run it with: manage.py run_judge {judge.name}")
        report = {"judge": str(judge) if judge else None, **_as_json(result)}
        self.stdout.write(named.printed(report, "\n".join(lines), options))

    def _read(self, path: Path) -> tuple[eval_benchmark.BenchmarkEntry, ...]:
        try:
            return eval_benchmark.parse(path, limit_bytes=settings.UPLOAD_LIMIT_BYTES)
        except ImportFailed as failure:
            raise CommandError(f"{path.name}: {failure}") from failure


def _lines(result: FitResult) -> Iterator[str]:
    yield f"partial from {result.config.partial_from}, full from {result.config.full_from}"
    yield result.description()
    for fold in result.folds:
        yield (
            f"  without {fold.left_out}: partial from {fold.config.partial_from}, full from "
            f"{fold.config.full_from}, judged {fold.n_insights} insights"
        )
        yield f"    {_on_expected(fold.expected)}"
    for title, figures in (("held out", result.held_out), ("before", result.before)):
        shown = ", ".join(f"{name} {_shown(figures.stats[key])}" for name, key in FIGURES.items())
        yield f"{title}: {shown}"
    yield f"expected coverage, held out: {_on_expected(result.expected)}"
    yield "calibration by decile (expected, people):"
    yield from (f"  {part.expected:.2f}  {part.human:.2f}  of {part.n}" for part in result.expected.parts)


def _shown(stat: Stat) -> str:
    if stat.value is None:
        return f"— ({stat.undefined_reason})"
    interval = "" if stat.low is None or stat.high is None else f" ({stat.low:.3f}–{stat.high:.3f})"
    return f"{stat.value:.3f}{interval}"


def _on_expected(expected: ExpectedFigures) -> str:
    return (
        f"Pearson {_shown(expected.pearson)}, of labels {_shown(expected.label_pearson)}, "
        f"gain {_shown(expected.gain)}, bias {_shown(expected.bias)}"
    )


def _as_json(result: FitResult) -> dict[str, Any]:
    return {
        "config": result.config.as_mapping(),
        "held_out_by": str(result.held_out_by),
        "n_summaries": result.n_summaries,
        "n_insights": result.n_insights,
        "description": result.description(),
        "held_out": _figures(result.held_out),
        "expected": _expected_json(result.expected),
        "before": _figures(result.before),
        "folds": [
            {
                "left_out": fold.left_out,
                "partial_from": fold.config.partial_from,
                "full_from": fold.config.full_from,
                "n_insights": fold.n_insights,
                "expected": _expected_json(fold.expected),
            }
            for fold in result.folds
        ],
    }


def _expected_json(expected: ExpectedFigures) -> dict[str, Any]:
    names = ("pearson", "label_pearson", "gain", "bias")
    return {
        **{name: getattr(expected, name).as_json() for name in names},
        "calibration": [asdict(part) for part in expected.parts],
    }


def _figures(comparison: Comparison) -> dict[str, Any]:
    figures = {name: comparison.stats[key].as_json() for name, key in FIGURES.items()}
    for name, figure in figures.items():
        if name.startswith("linking") and figure["value"] is not None:
            figure["hits"] = round(figure["value"] * figure["n_items"])
    return figures


class NameTaken(Exception):
    """Another kind of judge has this name, or it is the name of the defaults."""


def labelled_summaries(entries: Sequence[BenchmarkEntry]) -> list[LabelledSummary]:
    """Human labels of a published file, as they are fitted on.

    Word frequencies come from the haystack where it is here with its documents; otherwise from the file's own
    insights and summaries of that topic, as for any haystack without documents.
    """
    by_topic: dict[str, list[BenchmarkEntry]] = defaultdict(list)
    for entry in entries:
        by_topic[entry.haystack_key].append(entry)
    known = {key: _background(key, group) for key, group in by_topic.items()}
    return [
        LabelledSummary(
            summary=SummaryToJudge(
                key=entry.system.key,
                lines=entry.lines,
                insights=tuple(ItemRef(insight.key, insight.text) for insight in entry.insights),
            ),
            labels=tuple(
                HumanLabel(label.insight_key, Coverage(label.coverage), label.lines) for label in entry.human
            ),
            topic=entry.haystack_key,
            subtopic=entry.subtopic_key,
            background=known[entry.haystack_key],
        )
        for entry in entries
    ]


def _background(key: str, entries: Sequence[BenchmarkEntry]) -> Background:
    haystack = Haystack.objects.named(key).filter(n_documents__gt=0).first()
    if haystack is not None:
        return texts.of_haystack(haystack.pk)
    insights = {insight.text for entry in entries for insight in entry.insights}
    summaries = {"\n".join(entry.lines) for entry in entries}
    return Background(texts=tuple(sorted(summaries)), insights=tuple(sorted(insights)))


def save_fitted(*, result: FitResult, name: str, now: datetime) -> Judge:
    """Store a fitted judge with its held-out figures as the note; the same thresholds again change nothing.

    Raises:
        NameTaken: the name belongs to the defaults or to a judge of another kind.
    """
    if name in OFFLINE:
        raise NameTaken(f"“{name}” is the offline judge with its defaults; give the fitted one another name.")
    if Judge.objects.filter(name=name).exclude(kind=Judge.Kind.LEXICAL).exists():
        raise NameTaken(f"“{name}” is the name of a judge of another kind.")
    return versions.ensure_judge(
        name=name, kind=Judge.Kind.LEXICAL, config=result.config.as_mapping(), now=now, note=result.description()
    )
