"""The ratings of a study as rows, read in chunks. People appear as annotator1, annotator2 …"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Study
from benchmarks.scoring.likert import ASPECTS

COLUMNS = (
    "annotator",
    "item",
    "cluster",
    "haystack",
    "subtopic",
    "summary",
    "system",
    *ASPECTS,
    "is_complete",
    "is_unsure",
    "is_current",
    "is_undo",
    "guideline_version",
    "made_at",
)
FIELDS = (
    "annotator_id",
    "summary__uid",
    "summary__haystack__key",
    "summary__subtopic__key",
    "summary__system__key",
    *ASPECTS,
    "is_complete",
    "is_unsure",
    "is_current",
    "undoes_id",
    "guideline__version",
    "made_at",
)
CHUNK = 1_000


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row a summary and person, in the order of `COLUMNS`: what holds, or every act ever, oldest first.

    What holds leaves out summaries without any rating; an aspect that is not rated yet is empty.
    """
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    rows = study.ratinglabels.order_by("pk")
    if which != "history":
        rows = rows.filter(is_current=True).exclude(**dict.fromkeys(ASPECTS))
    for person, uid, haystack, subtopic, system, *rest in rows.values_list(*FIELDS).iterator(chunk_size=CHUNK):
        *ratings, is_complete, is_unsure, is_current, undoes, version, at = rest
        yield (
            *(names.get(person, "unknown"), str(uid), f"{haystack}/{subtopic}", haystack, subtopic, str(uid)),
            *(system, *ratings, is_complete, is_unsure, is_current, undoes is not None, version, at.isoformat()),
        )
