"""The ratings of a study as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Study
from annotation.studies.rows import IS_UNDO, PERSON, Columns, cells, fields_of, read
from benchmarks.scoring.likert import ASPECTS

COLUMNS: Columns = {
    "annotator": PERSON,
    "task": "task",
    "item": "summary__uid",
    "label": "label",
    "cluster": ("{}/{}".format, "summary__haystack__key", "summary__subtopic__key"),
    "haystack": "summary__haystack__key",
    "subtopic": "summary__subtopic__key",
    "summary": "summary__uid",
    "system": "summary__system__key",
    "is_complete": "is_complete",
    "is_unsure": "is_unsure",
    "is_current": "is_current",
    "is_undo": IS_UNDO,
    "guideline_version": "guideline__version",
    "made_at": "made_at",
}


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row for each aspect of a summary, by one person: what holds, or every act ever, oldest first.

    What holds leaves out aspects that are not rated; in the history their label is empty.
    """
    rows = study.ratinglabels.order_by("pk")
    if which != "history":
        rows = rows.filter(is_current=True)
    fields = fields_of(COLUMNS) - {"task", "label"} | set(ASPECTS)
    return cells(
        (
            {**row, "task": aspect, "label": row[aspect]}
            for row in read(study, rows, *fields)
            for aspect in ASPECTS
            if which == "history" or row[aspect] is not None
        ),
        COLUMNS,
    )
