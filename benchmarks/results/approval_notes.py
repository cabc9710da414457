"""Notes on the judges behind figures, as a part of what is shown of them in files and on a console."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.results.judged import ApprovalNote
from benchmarks.results.sheet import Measure, Name, Row, Section, Sheet, Table, Unit
from benchmarks.web import latex
from benchmarks.web.charts import Chart

APPROVALS = "judge_approvals"
"""The key of the table, in JSON too."""
MOST_IN_CHART = 2
"""Judges of whom a chart says more than how many have an approval."""


def with_approval_notes(sheet: Sheet, said: Sequence[ApprovalNote]) -> Sheet:
    """A sheet with a table of the approvals of its judges at its end; without judges as it is."""
    if not said:
        return sheet
    title = "May these judges replace people?"
    rows = tuple(
        Row((note.judge,), {"holds": "yes" if note.holds else "no", "approval": note.text}) for note in said
    )
    measures = (Measure("holds", "Approved", Unit.TEXT), Measure("approval", "Approval", Unit.TEXT))
    table = Table(APPROVALS, title, (Name("judge", "Judge"),), measures, rows)
    return replace(sheet, parts=(*sheet.parts, Section(APPROVALS, title, (table,))))


def with_approval_column(
    said: Sequence[ApprovalNote], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """Columns and rows of a CSV with what is said of its judges at the end of each; without judges as they are."""
    words = " ".join(note.text for note in said)
    if not words:
        return [*columns], iter(rows)
    return [*columns, APPROVALS], ([*row, words] for row in rows)


def with_approval_words(chart: Chart, said: Sequence[ApprovalNote]) -> Chart:
    """A chart that says below its title what is said of its judges; of more than two how many approvals hold."""
    if not said:
        return chart
    if len(said) <= MOST_IN_CHART:
        words = " ".join(note.text for note in said)
    else:
        counts = {"n": len(said), "held": sum(note.holds for note in said)}
        words = "%(held)d of %(n)d judges are approved for these data." % counts
        if n_safe := sum(note.is_found_safe for note in said):
            words += " " + f"Tests found {n_safe} more safe for scores or ranking."
    return with_words(chart, words)


def with_words(chart: Chart, words: str) -> Chart:
    """A chart with more words below its title."""
    subtitle = " ".join(filter(None, (str(chart.subtitle), words)))
    return replace(chart, words=replace(chart.words, subtitle=subtitle))


def as_comments(said: Sequence[ApprovalNote]) -> str:
    """Notes on judges above or below a table in LaTeX, as lines that it skips."""
    return "".join(latex.comment(note.text) for note in said)


def approval_notes_json(said: Sequence[ApprovalNote]) -> list[dict[str, Any]]:
    return [{"judge": note.judge, "holds": note.holds, "approval": note.text} for note in said]
