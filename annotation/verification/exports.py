"""The verified dataset and the labels behind it as files: one generator for the page and for the command.

People appear as annotator1, annotator2 …, stable within the study. Times are UTC. Only the numbers of what is kept
are held in memory.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from typing import Any

import orjson
from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.kinds import StudyFile
from annotation.models import Grounded, LabelItem, PointLabel, Study
from annotation.studies.removed import removed_from
from annotation.studies.rows import IS_UNDO, PERSON, Columns, cells, csv_file, fields_of, read
from annotation.verification.datasets import Dataset, dataset_of
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.questions import QuestionText
from benchmarks.io.writers.questions import questions_of
from benchmarks.models import KeyPoint, Question
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.scoring.retention import DROP, KEEP, Task
from benchmarks.scoring.stat import stat_json

SCHEMA_VERSION = 1
CHUNK = 2_000
POINT_COLUMNS = (
    "dataset",
    "question",
    "category",
    "domain",
    "key_point",
    "text",
    "autods",
    "outcome",
    "is_kept",
    "n_keep",
    "n_drop",
)
_JUDGED: Columns = {
    "task": "task",
    "item": "key_point__uid",
    "label": "label",
    "cluster": "key_point__question__uid",
    "dataset": "key_point__question__dataset",
    "question": "key_point__question__key",
    "key_point": "key_point__key",
}
LABEL_COLUMNS: Columns = {
    "annotator": PERSON,
    **_JUDGED,
    "is_control": (lambda is_overlap, is_check: is_overlap and not is_check, "task__item__is_overlap", "is_check"),
    "is_check": "is_check",
    "is_current": "is_current",
    "is_complete": "is_complete",
    "is_undo": IS_UNDO,
    "is_unsure": "is_unsure",
    "guideline_version": "guideline__version",
    "active_ms": "task__active_ms",
    "made_at": "made_at",
}
DECISION_COLUMNS: Columns = {
    "annotator": (lambda: "adjudicated",),
    **_JUDGED,
    "is_current": "is_current",
    "note": "note",
    "was_blind": "was_blind",
    "decided_at": "made_at",
}
WHICH = ("current", "first", "history")
"""Labels: those that count, the first complete answer to each item, or every row ever made."""


class SameKeys(ValueError):
    """Questions of two datasets have the same key, so that one file cannot hold both."""


def questions_in(study: Study, *, dataset: str = "") -> QuestionQuerySet:
    """The questions whose key points the study verifies, of one dataset if it is named."""
    items = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY, question__isnull=False)
    rows: QuestionQuerySet = Question.objects.filter(pk__in=items.order_by().values("question"))
    return rows.of(dataset=dataset) if dataset else rows


def check_keys(rows: QuestionQuerySet) -> None:
    """Raise `SameKeys` where two of the questions would have the same key in a file."""
    twice = rows.order_by().values("key").annotate(n=Count("pk")).filter(n__gt=1).order_by("key").first()
    if twice:
        names = ", ".join(sorted(set(rows.order_by().values_list("dataset", flat=True))))
        raise SameKeys(f"Questions of several datasets are called “{twice['key']}”; name one of {names}.")


def sets_in(study: Study) -> list[str]:
    """The question sets of a study, by name."""
    return sorted(set(questions_in(study).order_by().values_list("dataset", flat=True)))


def ambiguous_sets(study: Study) -> list[str]:
    """The question sets of a study if questions of several share a key, so that one file cannot hold them all."""
    try:
        check_keys(questions_in(study))
    except SameKeys:
        return sets_in(study)
    return []


def lines(study: Study, verified: Dataset, *, dataset: str = "") -> Iterator[bytes]:
    """The dataset, a question with its kept key points on each line, as `import_dataset long2rag` reads it."""
    return long2rag.dump(_kept(questions_in(study, dataset=dataset), verified))


def _kept(rows: QuestionQuerySet, verified: Dataset) -> Iterator[QuestionText]:
    kept = verified.kept_points
    points = KeyPoint.objects.filter(question__in=rows).order_by()
    keys: dict[str, set[str]] = defaultdict(set)
    for pk, dataset, question, key in points.values_list(
        "pk", "question__dataset", "question__key", "key"
    ).iterator(chunk_size=CHUNK):
        if pk in kept:
            keys[f"{dataset}/{question}"].add(key)
    for text in questions_of(rows):
        keys_kept = keys.get(text.where, set())
        yield replace(text, key_points=tuple(point for point in text.key_points if point.key in keys_kept))


def manifest(
    study: Study, verified: Dataset, *, dataset: str = "", sha256: str, name: str, now: datetime
) -> dict[str, Any]:
    """What the file holds and how it came about; `sha256` is that of its bytes. A few queries."""
    rows = questions_in(study, dataset=dataset)
    overall, n_questions = verified.overall(), rows.count()
    n_kept, n_with_points = kept_in(rows, verified.kept_points)
    version = study.dataset_versions.filter(number=verified.choice.number).first()
    people = [person.pseudonym for person in verified.chosen]
    used = PointLabel.objects.filter(
        study=study, annotator__uid__in=[person.key for person in verified.chosen]
    ).for_figures()
    guidelines = used.exclude(guideline=None).order_by().values_list("guideline__version", flat=True).distinct()
    return {
        "schema_version": SCHEMA_VERSION,
        "format": "long2rag",
        "file": name,
        "sha256": sha256,
        "made_at": now.isoformat(),
        "study": {"name": study.name, "id": str(study.uid)},
        "dataset_version": verified.choice.number,
        "chosen_at": version.made_at.isoformat() if version else None,
        "annotators": people,
        "removed_on_request": removed_from(study),
        "rule": verified.choice.rule.value,
        "autods_threshold": verified.choice.threshold,
        "selection_seed": version.selection_seed if version else None,
        "filters": {"dataset": dataset or None},
        "counts": {
            "questions": n_questions,
            "questions_without_key_points": n_questions - n_with_points,
            "key_points_kept": n_kept,
            "study": {"key_points": verified.table.n_items, "decided": overall.n_decided, **verified.counts},
        },
        "retention": stat_json({"share": overall.share}),
        "guideline_versions": sorted(guidelines),
    }


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """The dataset as it is chosen now, with its manifest: what an archive holds beside the labels.

    Labels are read once, and only where a file is made: a page lists the files.
    """
    verified = cache(partial(dataset_of, study))
    set_names = ambiguous_sets(study) or [""]
    files = [
        csv_file(
            "key-points.csv",
            "All key points, with what became of them",
            POINT_COLUMNS,
            lambda: point_rows(study, verified(), only_kept=False),
        ),
        csv_file("adjudicated.csv", "Decisions", DECISION_COLUMNS, lambda: decision_rows(study)),
    ]
    for name in set_names:
        title = f"dataset-{name}.jsonl" if name else "dataset.jsonl"

        def questions(name: str = name) -> Iterator[bytes]:
            return lines(study, verified(), dataset=name)

        def about(name: str = name, title: str = title) -> list[bytes]:
            sha256 = hashed(lines(study, verified(), dataset=name))
            values = manifest(study, verified(), dataset=name, sha256=sha256, name=title, now=now)
            return [orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)]

        files += [
            StudyFile(title, "Questions with the key points that are kept", questions),
            StudyFile(f"{title}.manifest.json", "How this dataset was chosen", about),
        ]
    return files


def kept_in(rows: QuestionQuerySet, kept: frozenset[int]) -> tuple[int, int]:
    """How many kept key points some questions have, and how many of the questions have one."""
    points = KeyPoint.objects.filter(question__in=rows).order_by().values_list("pk", "question_id")
    questions_kept = [question for pk, question in points.iterator(chunk_size=CHUNK) if pk in kept]
    return len(questions_kept), len(set(questions_kept))


def hashed(content: Iterator[bytes]) -> str:
    """The SHA-256 of what a generator yields."""
    digest = hashlib.sha256()
    for piece in content:
        digest.update(piece)
    return digest.hexdigest()


def point_rows(study: Study, verified: Dataset, *, only_kept: bool = True) -> Iterator[tuple[Any, ...]]:
    """One row a key point in the order of `POINT_COLUMNS`, kept ones or all with what became of them."""
    place = {point: at for at, point in enumerate(verified.table.points)}
    columns = [at for at, person in enumerate(verified.table.people) if person.key in verified.choice.annotators]
    keep = verified.table.codes(Task.KEEP)[:, columns]
    n_keep, n_drop = (keep == KEEP).sum(axis=1), (keep == DROP).sum(axis=1)
    items = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY, key_point__isnull=False)
    rows = items.order_by("key_point__question__dataset", "key_point__question_id", "key_point__number")
    fields = ("question__dataset", "question__key", "question__category", "question__domain", "key", "text")
    values = rows.values_list("key_point_id", *(f"key_point__{name}" for name in (*fields, "autods")))
    for pk, *texts, score in values.iterator(chunk_size=CHUNK):
        at = place[pk]
        if verified.is_kept[at] or not only_kept:
            yield (
                *texts,
                score,
                verified.outcomes[at],
                bool(verified.is_kept[at]),
                int(n_keep[at]),
                int(n_drop[at]),
            )


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row for each judgment, in the order of `LABEL_COLUMNS`: task 1, and after a yes task 2.

    Current and first answers are those to ordinary items; `import_labels` reads them. With history every row that
    was ever made, oldest first.
    """
    rows = PointLabel.objects.filter(study=study).order_by("pk")
    if which == "current":
        rows = rows.for_figures()
    elif which == "first":
        earlier = PointLabel.objects.filter(task=OuterRef("task"), is_complete=True, pk__lt=OuterRef("pk"))
        rows = rows.filter(~Exists(earlier), is_complete=True, is_check=False)
    return _by_task(study, rows, LABEL_COLUMNS)


def decision_rows(study: Study, *, with_history: bool = False) -> Iterator[tuple[Any, ...]]:
    """The same of decisions, in the order of `DECISION_COLUMNS`: those that hold, or all that were made."""
    rows = study.point_adjudications.order_by("pk")
    return _by_task(study, rows if with_history else rows.filter(is_current=True), DECISION_COLUMNS)


def _by_task(study: Study, rows: QuerySet[Any], columns: Columns) -> Iterator[tuple[Any, ...]]:
    fields = fields_of(columns) - {"task", "label"} | {"grounded", "keyness"}
    return cells(
        (
            {**row, "task": task, "label": row[column]}
            for row in read(study, rows, *fields)
            for task, column in (("grounded", "grounded"), ("key_point", "keyness"))
            if column == "grounded" or row["grounded"] == Grounded.YES
        ),
        columns,
    )
