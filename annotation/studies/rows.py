"""Rows of the files of a study, what files call it, and what they lack because people asked for its removal."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils.text import slugify

from annotation.kinds import StudyFile, Text
from annotation.models import Removal, RemovedWork, Study
from benchmarks.results.writing import Origin
from benchmarks.web.downloads import csv_lines, json_lines


def origin_of(study: Study) -> Origin:
    return Origin(archive_name(study), f"Study “{study.name}”")


def archive_name(study: Study) -> str:
    """The name of the archive without its ending, and of the folder in it, in whatever alphabet."""
    return slugify(study.name, allow_unicode=True) or str(study.uid)


Made = tuple[Callable[..., Any], *tuple[str, ...]]
Columns = Mapping[str, str | Made]
"""Values of columns: a field of the row, or what a function makes of some of its fields."""
Rows = Callable[[], Iterable[Sequence[Any]]]
PERSON = "annotator_id"
"""The field that is read as a pseudonym."""
IS_UNDO: Made = (lambda undoes: undoes is not None, "undoes_id")
AS_TEXT: Mapping[type, Callable[[Any], str]] = {datetime: datetime.isoformat, UUID: str}
CHUNK = 500
"""Rows may hold whole texts."""


def rows_of(study: Study, queryset: QuerySet[Any, Any], columns: Columns) -> Iterator[tuple[Any, ...]]:
    return cells(read(study, queryset, *fields_of(columns)), columns)


def fields_of(columns: Columns) -> set[str]:
    values = columns.values()
    return {name for value in values for name in ((value,) if isinstance(value, str) else value[1:])}


def read(study: Study, queryset: QuerySet[Any, Any], *fields: str) -> Iterator[dict[str, Any]]:
    """Fields of rows of a study; `PERSON` becomes the pseudonym."""
    names = pseudonyms_of(study) if PERSON in fields else {}
    for row in queryset.values(*fields).iterator(chunk_size=CHUNK):
        if PERSON in row:
            row[PERSON] = names.get(row[PERSON], "unknown")
        yield row


def cells(rows: Iterable[Mapping[str, Any]], columns: Columns) -> Iterator[tuple[Any, ...]]:
    """Rows, which hold all that the columns need, in the order of the columns."""
    values = [(None, (value,)) if isinstance(value, str) else (value[0], value[1:]) for value in columns.values()]
    for row in rows:
        computed = [row[names[0]] if of is None else of(*[row[name] for name in names]) for of, names in values]
        yield tuple([AS_TEXT[type(cell)](cell) if type(cell) in AS_TEXT else cell for cell in computed])


def csv_file(
    name: str,
    title: Text,
    columns: Iterable[str],
    rows: Rows,
    cells: Callable[[Any], Iterable[Sequence[Any]]] = iter,
) -> StudyFile:
    """A table that can also be had in forms whose values keep their types; `cells` gives its rows for CSV."""
    names = tuple(columns)

    def make(*, reader: str) -> Iterator[str]:
        return csv_lines(names, cells(rows()), reader=reader)

    return StudyFile(name, title, make, names, rows)


def jsonl_file(name: str, title: Text, columns: Iterable[str], rows: Rows) -> StudyFile:
    return StudyFile(name, title, lambda: json_lines(objects(columns, rows())))


def objects(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    names = tuple(columns)
    return (dict(zip(names, row, strict=True)) for row in rows)


class Tally:
    def __init__(self, rows: Iterable[Any]) -> None:
        self.rows, self.n = rows, 0

    def __iter__(self) -> Iterator[Any]:
        for row in self.rows:
            self.n += 1
            yield row


def hashed(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in content:
        digest.update(piece)
    return digest.hexdigest()


def pseudonyms_of(study: Study) -> dict[int, str]:
    """{annotator pk: pseudonym} of everybody who took part at any time. One query."""
    return {member.annotator_id: member.pseudonym for member in study.memberships.all()}


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
"""Names of the counts of `RemovedWork`, in the order of pages."""


def in_words(counts: Mapping[str, int]) -> list[tuple[Any, int]]:
    """The counts as rows of a table: what it is called, how many."""
    return [(words, counts[what]) for what, words in WORDS.items() if counts.get(what)]


def removed_from(study: Study) -> dict[str, int]:
    """How many people had their work deleted, and how many of what; empty if nobody had. Two queries."""
    rows = RemovedWork.objects.filter(study=study, removal__mode=Removal.Mode.DELETED).order_by()
    counts: Any = rows.values_list("what").annotate(total=Sum("n")).order_by("what")
    removed = {str(what): int(n) for what, n in counts}
    return {"people": rows.values("removal").distinct().count(), **removed} if removed else {}
