"""The verified dataset and the labels behind it as files, for page and command alike; a study made of an archive.

People appear as annotator1, annotator2 …, stable within the study. Times are UTC. Only the numbers of what is kept
are held in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from typing import Annotated, Any

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone
from pydantic import Field

from annotation.importing.label_work import LabelPart, LabelWorkPlan, Verdict
from annotation.kinds import StudyFile
from annotation.labelling.archive import (
    BY,
    JUDGE,
    JUDGED,
    SMALLINT,
    Archived,
    Number,
    Place,
    Plain,
    PointItem,
    Tasks,
    one_of,
    ordinary_items,
    place_of_point,
    table,
    verdict_file,
    whole,
    work_files,
)
from annotation.models import Grounded, LabelItem, LabelTask, PointLabel, Study, VerificationPlan
from annotation.studies.kind import NotPossible, has_plan
from annotation.studies.rows import (
    IS_UNDO,
    PERSON,
    Columns,
    Tally,
    cells,
    csv_file,
    fields_of,
    hashed,
    objects,
    read,
    removed_from,
)
from annotation.verification.datasets import Dataset, NoVersion, dataset_of
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.fields import Expected
from benchmarks.io.schemas.long2rag import QuestionText
from benchmarks.io.writers import questions_of
from benchmarks.models import AutodsScore, KeyPoint, KeyPointVerdict, Question
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.scoring.retention import DROP, KEEP, Task
from benchmarks.scoring.stat import stat_json
from benchmarks.states import Keyness, PointJudgment
from benchmarks.web.downloads import csv_lines, json_file, json_lines

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
VERDICTS: Columns = {
    **BY,
    **_JUDGED,
    "task": "judgment",
    "label": "answer",
    "is_valid": "is_valid",
}


def questions_in(study: Study, *, dataset: str = "") -> QuestionQuerySet:
    """The questions whose key points the study verifies, of one dataset if it is named."""
    items = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY, question__isnull=False)
    rows: QuestionQuerySet = Question.objects.filter(pk__in=items.order_by().values("question"))
    return rows.of(dataset=dataset) if dataset else rows


def same_key(rows: QuestionQuerySet) -> str:
    """The first key that two of the questions would have in a file; empty where one file can hold them all."""
    twice = rows.order_by().values("key").annotate(n=Count("pk")).filter(n__gt=1).order_by("key").first()
    return twice["key"] if twice else ""


def sets_in(study: Study) -> list[str]:
    return sorted(set(questions_in(study).order_by().values_list("dataset", flat=True)))


def ambiguous_sets(study: Study) -> list[str]:
    """The question sets of a study if questions of several share a key, so that one file cannot hold them all."""
    return sets_in(study) if same_key(questions_in(study)) else []


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
    """Contents and origin of the file; `sha256` is that of its bytes. A few queries."""
    rows = questions_in(study, dataset=dataset)
    overall, n_questions = verified.overall(), rows.count()
    points = KeyPoint.objects.filter(question__in=rows).order_by().values_list("pk", "question_id")
    questions_kept = [question for pk, question in points.iterator(chunk_size=CHUNK) if pk in verified.kept_points]
    n_kept, n_with_points = len(questions_kept), len(set(questions_kept))
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
    """The dataset as it is chosen now with its manifest, work and verdicts: what is archived beside the labels.

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
            return json_file(values)

        files += [
            StudyFile(title, "Questions with the key points that are kept", questions),
            StudyFile(f"{title}.manifest.json", "How this dataset was chosen", about),
        ]
    if has_plan(study):
        files += work_files(
            study,
            settings=lambda plan: {"people_per_question": plan.people_per_question},
            item=lambda item: place_of_point(item) | {"id": str(item.key_point.uid)},
            said=_judgments,
        )
        points = ordinary_items(study).values("key_point")
        verdicts = KeyPointVerdict.objects.counted().filter(repeat=0, key_point__in=points)
        files.append(verdict_file(study, VERDICTS, verdicts))
    return files


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


def labels_of(study: Study, which: str) -> QuerySet[Any, Any]:
    """Current and first answers to ordinary items, or every one that was ever made; the oldest first."""
    rows = PointLabel.objects.filter(study=study).order_by("pk")
    if which == "current":
        rows = rows.for_figures()
    elif which == "first":
        earlier = PointLabel.objects.filter(task=OuterRef("task"), is_complete=True, pk__lt=OuterRef("pk"))
        rows = rows.filter(~Exists(earlier), is_complete=True, is_check=False)
    return rows


def label_rows(
    study: Study, which: str = "current", labels: QuerySet[Any, Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    """One row for each judgment, in the order of `LABEL_COLUMNS`: task 1, and after a yes task 2.

    `import_labels` reads current and first answers.
    """
    return _by_task(study, labels_of(study, which) if labels is None else labels, LABEL_COLUMNS)


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


def export_dataset(study: Study, options: Mapping[str, Any], write: Callable[..., str]) -> str:
    """Write labels, key points as a table, or the dataset with its manifest beside it, as the command is told.

    Gives what was written, in words; raises `NotPossible`.
    """
    out = options["out"]

    def table_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        tally = Tally(rows)
        if out.suffix.lower() in {".jsonl", ".ndjson"}:
            write(out, json_lines(objects(columns, tally)))
        else:
            write(out, csv_lines(columns, tally, reader=options["reader"]))
        return tally.n

    if options["labels"]:
        n = table_of(tuple(LABEL_COLUMNS), label_rows(study, which=options["labels"]))
        return f"{n:,} judgments in {out}"
    try:
        verified = dataset_of(study, number=options["dataset_version"])
    except NoVersion as problem:
        raise NotPossible(str(problem)) from problem
    if key := same_key(questions_in(study, dataset=options["dataset"])):
        names = ", ".join(sets_in(study))
        raise NotPossible(f"Questions of several datasets are called “{key}”; name one of {names}.")
    if options["csv"] or options["all_points"]:
        n = table_of(POINT_COLUMNS, point_rows(study, verified, only_kept=not options["all_points"]))
        return f"{n:,} key points in {out}"
    sha256 = write(out, lines(study, verified, dataset=options["dataset"]))
    about = manifest(study, verified, dataset=options["dataset"], sha256=sha256, name=out.name, now=timezone.now())
    beside = out.with_name(out.name + ".manifest.json")
    write(beside, json_file(about))
    overall, counts = verified.overall(), about["counts"]
    return (
        f"{counts['questions']:,} questions with {counts['key_points_kept']:,} key points"
        f" in {out}; kept {overall.n_kept:,} of {overall.n_decided:,} decided, {verified.table.n_items:,} in all"
    )


# The study in an archive


def _judgments(_study: Study, items: list[LabelItem]) -> Plain:
    place = {item.key_point_id: at for at, item in enumerate(items)}
    of_points = {"key_point__in": list(place)}
    rows = KeyPointVerdict.objects.counted().filter(repeat=0, **of_points).order_by("judge", "pk")
    scores = AutodsScore.objects.counted().filter(**of_points).order_by("judge", "pk")
    values = {
        "judges": rows.values_list(*JUDGE, "key_point", "judgment", "answer"),
        "autods": scores.values_list(*JUDGE, "key_point", "repeat", "value", "low", "high"),
    }
    return {
        name: [[judge, version, place[point], *said] for judge, version, point, *said in told]
        for name, told in values.items()
    }


class Settings(Archived):
    people_per_question: whole(1, SMALLINT)  # type: ignore[valid-type]


Share = Annotated[float | None, Field(ge=0, le=1), Expected("a number from 0 to 1, or nothing")]
Scores = table("judge, version, item, repeat, score and its bounds", *JUDGED, Place, Number, Share, Share, Share)


class VerificationWork(Archived):
    items: Annotated[list[PointItem], Expected("a list of items")]
    plan: Settings
    tasks: Tasks
    judges: table(  # type: ignore[valid-type]
        "judge, version, item, judgment and answer",
        *JUDGED, Place, one_of(*PointJudgment.values), one_of("", *Grounded.values, *Keyness.values),
    )  # fmt: skip
    autods: Scores = Field(default_factory=list)  # type: ignore[valid-type]


class JudgmentsPlan(LabelWorkPlan):
    """Key points with the judgments of people and of judges."""

    MODELS = (
        *LabelWorkPlan.MODELS, VerificationPlan, *LabelWorkPlan.TASKS, PointLabel, KeyPointVerdict, AutodsScore,
    )  # fmt: skip
    SCHEMA = VerificationWork
    ANSWERS = {"grounded": ("", *Grounded.values), "key_point": ("", *Keyness.values)}
    SAID = {
        KeyPointVerdict: (("key_point_id", "judgment", "repeat"), ("answer",)),
        AutodsScore: (("key_point_id", "repeat"), ("value", "low", "high")),
    }

    def subject(self, item: PointItem) -> Plain:
        point = self.points[item.dataset, item.question, item.key_point]
        return {"key_point": point, "question": point.question}

    def answer(self, task: LabelTask, rows: Mapping[str, LabelPart], about: Plain) -> PointLabel:
        said = {name: row.label for name, row in rows.items()}
        grounded, keyness = said.get("grounded", ""), said.get("key_point", "")
        is_complete = grounded == Grounded.NO or bool(grounded and keyness)
        point = task.item.key_point
        return PointLabel(key_point=point, grounded=grounded, keyness=keyness, is_complete=is_complete, **about)

    def said(self, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
        for *judge, at, judgment, answer in work.judges:
            about = {"judgment": judgment, "answer": answer, "is_valid": bool(answer), "created_at": self.now}
            yield *judge, KeyPointVerdict(key_point=items[at].key_point, **about)
        for *judge, at, repeat, value, low, high in work.autods:
            about = {"repeat": repeat, "value": value, "low": low, "high": high, "created_at": self.now}
            yield *judge, AutodsScore(key_point=items[at].key_point, **about)
