"""How much was removed from a study because people asked for it: what its files say of what they lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Sum

from annotation.models import Removal, RemovedWork, Study

WORDS = {
    "writing_tasks": "writing tasks",
    "sessions": "writing sessions, with their times",
    "summaries": "different texts",
    "snapshots": "snapshots",
    "revisions": "saved versions, late texts included",
    "events": "recorded events",
    "label_tasks": "label tasks, with comments and times",
    "trials": "tries of the trial",
    "labels": "labels, changed ones included",
    "labels_of_others": "labels by other annotators on these texts",
    "decisions": "decisions by researchers on these texts",
    "verdicts": "verdicts of judges on these texts",
    "replies": "stored model replies about these texts",
    "remarks": "notes, comments and reasons",
}
"""What each count of `RemovedWork` is called, in the order of pages."""


def in_words(counts: Mapping[str, int]) -> list[tuple[Any, int]]:
    """The counts as rows of a table: what it is called, how many."""
    return [(words, counts[what]) for what, words in WORDS.items() if counts.get(what)]


def removed_from(study: Study) -> dict[str, int]:
    """How many people had their work deleted, and how many of what; empty if nobody had. Two queries."""
    rows = RemovedWork.objects.filter(study=study, removal__mode=Removal.Mode.DELETED).order_by()
    counts: Any = rows.values_list("what").annotate(total=Sum("n")).order_by("what")
    removed = {str(what): int(n) for what, n in counts}
    return {"people": rows.values("removal").distinct().count(), **removed} if removed else {}
