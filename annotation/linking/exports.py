"""Labels and decisions of a linking study as rows: the same for CSV and JSON lines, read in chunks.

`item`, `annotator`, `label` and `cluster` are what an import of labels asks for. People appear as annotator1,
annotator2 …, stable within the study. Times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count, OuterRef, Subquery

from annotation.models import CoverageLabel, Study

COLUMNS = (
    "annotator",
    "item",
    "label",
    "cluster",
    "haystack",
    "subtopic",
    "summary",
    "system",
    "insight",
    "lines",
    "is_complete",
    "is_unsure",
    "is_current",
    "is_undo",
    "is_imported",
    "breaks_rule",
    "is_overlap",
    "guideline_version",
    "made_at",
)
FIELDS = (
    "annotator_id",
    "coverage",
    "summary__haystack__key",
    "summary__subtopic__key",
    "summary__uid",
    "summary__system__key",
    "insight__key",
    "lines",
    "is_complete",
    "is_unsure",
    "is_current",
    "undoes_id",
    "is_imported",
    "breaks_rule",
    "task__item__is_overlap",
    "guideline__version",
    "made_at",
)
DECISION_COLUMNS = (*COLUMNS[: COLUMNS.index("lines") + 1], "is_current", "note", "n_labels", "decided_at")
DECISION_FIELDS = (
    "coverage",
    "summary__haystack__key",
    "summary__subtopic__key",
    "summary__uid",
    "summary__system__key",
    "insight__key",
    "lines",
    "is_current",
    "note",
    "n_labels",
    "made_at",
)
CHUNK = 2_000


def label_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """One row a label, in the order of `COLUMNS`: current answers, or every row ever made, oldest first."""
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    rows = study.coverage_labels.order_by("pk")
    if not with_history:
        rows = rows.filter(is_current=True).exclude(coverage="")
    for person, label, haystack, subtopic, summary, system, insight, *rest in rows.values_list(*FIELDS).iterator(
        chunk_size=CHUNK
    ):
        lines, is_complete, is_unsure, is_current, undoes, is_imported, breaks_rule, is_overlap, version, at = rest
        yield (
            names.get(person, "unknown"),
            f"{summary}/{insight}",
            label,
            str(summary),
            haystack,
            subtopic,
            str(summary),
            system,
            insight,
            lines,
            is_complete,
            is_unsure,
            is_current,
            undoes is not None,
            is_imported,
            breaks_rule,
            is_overlap,
            version,
            at.isoformat(),
        )


def csv_rows(study: Study, *, with_history: bool = False) -> Iterator[list[Any]]:
    """The rows with lines as “3 7”."""
    return spaced(label_rows(study, with_history=with_history))


def spaced(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows with lines as “3 7”, in either order of columns."""
    at = COLUMNS.index("lines")
    for row in rows:
        yield [*row[:at], " ".join(map(str, row[at])), *row[at + 1 :]]


def decision_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """One row a decision, in the order of `DECISION_COLUMNS`: those that hold, or all that were made."""
    rows = study.coverage_adjudications.order_by("pk")
    if not with_history:
        rows = rows.filter(is_current=True)
    same = CoverageLabel.objects.for_figures().filter(
        study=OuterRef("study"), summary=OuterRef("summary"), insight=OuterRef("insight")
    )
    counts = same.order_by().values("study").annotate(n=Count("pk")).values("n")
    rows = rows.annotate(n_labels=Subquery(counts))
    for label, haystack, subtopic, summary, system, insight, *rest in rows.values_list(*DECISION_FIELDS).iterator(
        chunk_size=CHUNK
    ):
        lines, is_current, note, n_labels, at = rest
        item = f"{summary}/{insight}"
        yield (
            *("adjudicated", item, label, str(summary), haystack, subtopic, str(summary), system, insight),
            *(lines, is_current, note, n_labels or 0, at.isoformat()),
        )


def objects(study: Study, *, with_history: bool = False) -> Iterator[dict[str, Any]]:
    """The rows by column name."""
    for row in label_rows(study, with_history=with_history):
        yield dict(zip(COLUMNS, row, strict=True))
