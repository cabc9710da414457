"""What an archive of label work holds, read and checked before anything is compared with the database."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, Field

from annotation.importing.opened import Opened
from annotation.models import Study
from annotation.models.validation import WhyNot
from annotation.states import LabelTaskState
from annotation.studies.work_file import (
    WORK,
    PointItem,
    RatingWork,
    ValidationWork,
    VerificationWork,
    question_file,
)
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.fields import Expected, Part, label, null_as
from benchmarks.io.schemas.questions import QuestionText
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import ASPECTS, LEVELS
from benchmarks.states import Grounded, Keyness

LABELS = "labels.jsonl"
SCHEMAS: Mapping[str, type[Any]] = {
    Study.Kind.RATING: RatingWork,
    Study.Kind.VERIFICATION: VerificationWork,
    Study.Kind.VALIDATION: ValidationWork,
}
ANSWERS: Mapping[str, Mapping[str, Sequence[str]]] = {
    Study.Kind.RATING: dict.fromkeys(ASPECTS, tuple(map(str, LEVELS))),
    Study.Kind.VERIFICATION: {"grounded": ("", *Grounded.values), "key_point": ("", *Keyness.values)},
    Study.Kind.VALIDATION: {"entailment": ("", *ENTAILMENTS)},
}
"""What people may say, by kind and task."""


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class PlacedLabel(Part):
    """A row of `labels.jsonl` as far as it tells who said what of which text, by names that all sites share."""

    EXPECTED = "a label"
    annotator: Annotated[label(120), Field(min_length=1)]  # type: ignore[valid-type]
    task: label(40) = ""  # type: ignore[valid-type]
    label: Annotated[str, BeforeValidator(_as_text), Expected("a text")]
    subtopic: label(120) = ""  # type: ignore[valid-type]
    system: label(200) = ""  # type: ignore[valid-type]
    insight: label(120) = ""  # type: ignore[valid-type]
    dataset: label(80) = ""  # type: ignore[valid-type]
    question: label(120) = ""  # type: ignore[valid-type]
    key_point: label(120) = ""  # type: ignore[valid-type]
    lines: Annotated[list[int], null_as(list), Expected("a list of lines")] = Field(default_factory=list)
    is_complete: bool = True


class LabelPart(PlacedLabel):
    """A row of `labels.jsonl` of label work; further columns stay in the archive."""

    item: label(400)  # type: ignore[valid-type]
    task: label(40)  # type: ignore[valid-type]
    made_at: Annotated[AwareDatetime, Field(strict=False), Expected("a moment in ISO 8601 with its zone")]
    is_unsure: bool = False
    verdict_shown: Annotated[bool, null_as(bool)] = False
    why_not: label(12) = ""  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Work:
    """What an archive holds of label work: kind and terms, `work.json`, labels, questions by dataset."""

    kind: str
    terms: Mapping[str, Any]
    work: Any
    labels: Sequence[LabelPart]
    questions: Mapping[str, Sequence[QuestionText]] = field(default_factory=dict)


def has_work(archive: Opened) -> bool:
    """Whether an archive holds what a study of its own kind takes; older ones do not."""
    return WORK in archive.members


def read_work(archive: Opened) -> Work:
    """Read it; raises `ImportFailed` where anything is not as an archive has it."""
    about, problems = archive.manifest.study, archive.problems
    work = archive.value(WORK, SCHEMAS[about.kind])
    labels = archive.rows(LABELS, LabelPart)
    questions = {}
    for dataset in sorted({item.dataset for item in work.items if isinstance(item, PointItem)}):
        with archive.stream(question_file(dataset)) as stream:
            questions[dataset] = long2rag.parse(stream, problems=problems)
    _check_tasks(work, problems)
    _check_labels(about.kind, labels, problems)
    problems.raise_errors()
    terms = {
        "seed": about.seed,
        "hourly_rate": Decimal(about.hourly_rate) if about.hourly_rate is not None else None,
        "currency": about.currency,
    }
    return Work(
        about.kind, {name: value for name, value in terms.items() if value is not None}, work, labels, questions
    )


def _check_tasks(work: Any, problems: Problems) -> None:
    """Report tasks and verdicts on unknown items, what is there twice, and counts that no task has."""
    n_items = len(work.items)
    for table, rows, at in (("tasks", work.tasks, 1), ("judges", work.judges, 2), ("autods", work.autods, 2)):
        for number, row in enumerate(rows):
            if row[at] is not None and row[at] >= n_items:
                expected = f"the position of one of {n_items} items"
                problems.error("unknown_item", f"{WORK}, {table}[{number}]", "", expected=expected, got=row[at])
    problems.raise_errors()
    for number, (_person, at, state, n_answered, _active_ms) in enumerate(work.tasks):
        n_asked = work.items[at].n_questions
        if n_answered > n_asked or (state == LabelTaskState.DONE and n_answered < n_asked):
            expected, got = f"{n_asked} answers at most, and all where it is done", Got(f"{n_answered}, {state}")
            problems.error("wrong_value", f"{WORK}, tasks[{number}]", "", expected=expected, got=got)
    _check_once("items", [item.id for item in work.items], problems)
    _check_once("tasks", [row[:2] for row in work.tasks], problems)
    _check_once("judges", [row[:-1] for row in work.judges], problems)
    _check_once("autods", [row[:4] for row in work.autods], problems)


def _check_once(table: str, keys: Iterable[Hashable], problems: Problems) -> None:
    seen: dict[Hashable, int] = {}
    for number, key in enumerate(keys):
        if (first := seen.setdefault(key, number)) != number:
            got = Got(f"the same as {table}[{first}]")
            problems.error("duplicate_key", f"{WORK}, {table}[{number}]", "", expected="each once", got=got)


def _check_labels(kind: str, labels: Sequence[LabelPart], problems: Problems) -> None:
    """Report answers that nobody can give, reasons where there is none to give, and answers given twice."""
    seen: set[tuple[str, str, str]] = set()
    grounded = {(row.annotator, row.item): row.label for row in labels if row.task == "grounded"}
    for number, row in enumerate(labels, 1):
        where = f"{LABELS}, line {number}"
        allowed = ANSWERS[kind].get(row.task)
        if allowed is None or row.label not in allowed:
            expected = f"one of {', '.join(filter(None, allowed or ()))}" if allowed else "a task of the study"
            problems.error(
                "unknown_label", where, "label" if allowed else "task", expected=expected, got=row.label
            )
        if row.task == "key_point" and row.label and grounded.get((row.annotator, row.item)) != Grounded.YES:
            expected = "an answer to key_point after a yes to grounded"
            problems.error("unknown_label", where, "label", expected=expected, got=row.label)
        if row.why_not and (row.why_not not in WhyNot.values or row.label in {"", "yes"}):
            expected = f"one of {', '.join(WhyNot.values)}, after an answer that is not yes"
            problems.error("unknown_label", where, "why_not", expected=expected, got=row.why_not)
        place = (row.annotator, row.item, row.task)
        if place in seen:
            expected = f"one answer of {row.annotator}"
            problems.error("labelled_twice", where, "item", expected=expected, got=Got("another one"))
        seen.add(place)
