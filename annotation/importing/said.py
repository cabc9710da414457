"""What an archive says, by names that all sites share, and how much of it a study holds.

A label is known by who gave it and what it is about: ids of texts differ between sites. Sessions keep their ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.external.kind import COLUMNS
from annotation.importing.sessions import Sessions
from annotation.importing.work_files import PlacedLabel
from annotation.kinds import kind_named
from annotation.models import Session, Study
from annotation.studies.kind import Work, has_plan
from annotation.studies.rows import objects, rows_of
from benchmarks.io.schemas.plain_labels import PlainLabels

SESSION = ("session",)
PLAIN = ("annotator", "task", "item", "label")
PLACED = (
    "annotator", "task", "label", "subtopic", "system", "insight", "lines", "dataset", "question", "key_point",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """Labels or sessions of an archive, each as the values of these columns, with how often it is there."""

    kind: str
    columns: tuple[str, ...]
    rows: Counter[tuple[str, ...]]

    def missing_in(self, study: Study) -> int:
        """How many of them a study does not hold."""
        return (self.rows - _counted(_stored(study), self.columns)).total()


def said_in(rows: Any, labels: Sequence[PlacedLabel]) -> Said:
    """What is read of an archive, with the labels where `rows` have none that count by themselves."""
    if isinstance(rows, Sessions):
        return Said("sessions", SESSION, _counted(({"session": row.session} for row in rows.rows), SESSION))
    if isinstance(rows, PlainLabels):
        told = ({name: getattr(row, name) for name in PLAIN} for row in rows.labels)
        return Said("labels", PLAIN, _counted(told, PLAIN))
    complete = (row.model_dump() for row in labels if row.label and row.is_complete)
    return Said("labels", PLACED, _counted(complete, PLACED))


def _counted(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple([str(row.get(name) or "") for name in columns]) for row in rows)


def _stored(study: Study) -> Iterable[Mapping[str, Any]]:
    """The rows of a study as its own archive has them."""
    if study.kind == Study.Kind.WRITING:
        sessions = Session.objects.filter(assignment__study=study)
        return ({"session": uid} for uid in sessions.values_list("uid", flat=True))
    kind = kind_named(study.kind)
    if not isinstance(kind, Work):
        return objects(COLUMNS, rows_of(study, study.external_labels.order_by("pk"), COLUMNS))
    if study.kind == Study.Kind.VALIDATION and not has_plan(study):
        return ()
    return objects(kind.label_columns, kind.label_rows(study, "current"))
