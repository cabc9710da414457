"""Labels and decisions of a linking study as rows: the same for CSV and JSON lines, read in chunks.

`item`, `annotator`, `label` and `cluster` are what an import of labels asks for; the last columns are the texts
that a label is about, so that a table can be read by itself. People appear as annotator1, annotator2 …, stable
within the study. Times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.linking.unlinked import unlinked_of
from annotation.models import Study

ITEM_COLUMNS = ("annotator", "item", "label", "cluster", "haystack", "subtopic", "summary", "system")
COLUMNS = (
    *ITEM_COLUMNS,
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
    "insight_text",
    "bullet_text",
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
    "insight__text",
    "summary__text",
)
DECISION_COLUMNS = (
    *COLUMNS[: COLUMNS.index("lines") + 1],
    "is_current",
    "note",
    "was_blind",
    "n_people",
    "labels",
    "decided_at",
    "insight_text",
    "bullet_text",
)
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
    "was_blind",
    "made_at",
    "insight__text",
    "summary__text",
    "summary",
    "insight",
)
UNLINKED_COLUMNS = (
    *ITEM_COLUMNS,
    "line",
    "guideline_version",
    "made_at",
    "bullet_text",
)
CHUNK = 2_000


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row a label, in the order of `COLUMNS`: current answers, or every row ever made, oldest first."""
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    rows = study.coverage_labels.order_by("pk")
    if which != "history":
        rows = rows.filter(is_current=True).exclude(coverage="")
    for person, label, haystack, subtopic, summary, system, insight, *rest in rows.values_list(*FIELDS).iterator(
        chunk_size=CHUNK
    ):
        lines, is_complete, is_unsure, is_current, undoes, is_imported, breaks_rule, is_overlap, *more = rest
        version, at, insight_text, text = more
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
            *_texts(insight_text, text, lines),
        )


def _texts(insight: str, summary: str, lines: Sequence[int]) -> tuple[str, str]:
    """The insight, and the lines of the summary that a label is linked to."""
    if not lines:
        return insight, ""
    all_lines = summary.split("\n")
    return insight, "\n".join(all_lines[line - 1] for line in lines if line <= len(all_lines))


def spaced(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows with lines as “3 7”, in either order of columns."""
    at = COLUMNS.index("lines")
    for row in rows:
        yield [*row[:at], " ".join(map(str, row[at])), *row[at + 1 :]]


def unlinked_rows(study: Study) -> Iterator[tuple[Any, ...]]:
    """One row a bullet that somebody linked to nothing, as `UNLINKED_COLUMNS`; `label` is the reason."""
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    for one in unlinked_of(study):
        summary = one.summary
        yield (
            names.get(one.annotator, "unknown"),
            *(f"{summary.uid}/line {one.line}", one.reason, str(summary.uid)),
            *(summary.subtopic.haystack.key, summary.subtopic.key, str(summary.uid), summary.system.key, one.line),
            *(one.guideline_version, one.made_at.isoformat() if one.made_at else ""),
            summary.text.split("\n")[one.line - 1],
        )


def decision_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """One row a decision, in the order of `DECISION_COLUMNS`: those that hold, or all that were made.

    `labels` are those that hold now on the item, of everybody under their pseudonyms.
    """
    rows = study.coverage_adjudications.order_by("pk")
    if not with_history:
        rows = rows.filter(is_current=True)
    labels_on = _labels_of_decided(study)
    for label, haystack, subtopic, summary, system, insight, *rest in rows.values_list(*DECISION_FIELDS).iterator(
        chunk_size=CHUNK
    ):
        lines, is_current, note, was_blind, at, insight_text, text, *item = rest
        labels = labels_on.get(tuple(item), [])
        yield (
            *("adjudicated", f"{summary}/{insight}", label, str(summary)),
            *(haystack, subtopic, str(summary), system, insight),
            *(lines, is_current, note, was_blind, len(labels), labels, at.isoformat()),
            *_texts(insight_text, text, lines),
        )


def decision_cells(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """Rows of decisions with lines as “3 7” and labels as “annotator1 none; annotator2 full 3 7”."""
    at = DECISION_COLUMNS.index("labels")
    for row in spaced(rows):
        cells = ((one["annotator"], one["label"], *one["lines"]) for one in row[at])
        yield [*row[:at], "; ".join(" ".join(map(str, words)) for words in cells), *row[at + 1 :]]


def _labels_of_decided(study: Study) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    decided = study.coverage_adjudications.filter(summary=OuterRef("summary"), insight=OuterRef("insight"))
    labels = study.coverage_labels.for_figures().filter(Exists(decided)).order_by("annotator", "pk")
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for person, summary, insight, label, lines in labels.values_list(
        "annotator", "summary", "insight", "coverage", "lines"
    ):
        one = {"annotator": names.get(person, "unknown"), "label": label, "lines": lines}
        found.setdefault((summary, insight), []).append(one)
    return found
