"""The ratings of a study as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Study
from annotation.studies.rows import IS_UNDO, PERSON, Columns, rows_of
from benchmarks.scoring.likert import ASPECTS

COLUMNS: Columns = {
    "annotator": PERSON,
    "item": "summary__uid",
    "cluster": ("{}/{}".format, "summary__haystack__key", "summary__subtopic__key"),
    "haystack": "summary__haystack__key",
    "subtopic": "summary__subtopic__key",
    "summary": "summary__uid",
    "system": "summary__system__key",
    **{aspect: aspect for aspect in ASPECTS},
    "is_complete": "is_complete",
    "is_unsure": "is_unsure",
    "is_current": "is_current",
    "is_undo": IS_UNDO,
    "guideline_version": "guideline__version",
    "made_at": "made_at",
}


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row a summary and person: what holds, or every act ever, oldest first.

    What holds leaves out summaries without any rating; an aspect that is not rated yet is empty.
    """
    rows = study.ratinglabels.order_by("pk")
    if which != "history":
        rows = rows.filter(is_current=True).exclude(**dict.fromkeys(ASPECTS))
    return rows_of(study, rows, COLUMNS)
