"""Files of an archive of label work beside its labels: `work.json`, questions, and what judges said.

With these files it comes back as a study of its own kind, with every figure (`annotation.importing.label_work`). A
kind adds its own items, settings and rows of judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

from django.db.models import QuerySet
from pydantic import AfterValidator, ConfigDict, Field

from annotation.kinds import StudyFile
from annotation.models import LabelItem, Study
from annotation.states import LabelTaskState
from annotation.studies.kind import plan_of
from annotation.studies.rows import Columns, csv_file, pseudonyms_of, rows_of
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.fields import Expected, Part, no_nul
from benchmarks.io.writers import questions_of
from benchmarks.models import Judge, Question
from benchmarks.web.downloads import json_file

WORK, VERDICTS = "work.json", "verdicts.csv"
SMALLINT = 2**15 - 1
Plain = dict[str, Any]
JUDGE = ("judge__name", "judge__version")
BY: Columns = {"judge": (lambda name, version: str(Judge(name=name, version=version)), *JUDGE)}
"""The first column of a table of verdicts."""


def question_file(dataset: str) -> str:
    return f"questions-{dataset}.jsonl"


# Writing


def work_files(
    study: Study,
    *,
    settings: Callable[[Any], Plain],
    item: Callable[[LabelItem], Plain],
    said: Callable[[Study, list[LabelItem]], Plain],
) -> Iterator[StudyFile]:
    """The files of a study that was set up here: a kind gives settings of its plan, items, rows of judges."""
    items = ordinary_items(study)
    datasets = items.exclude(key_point=None).values_list("key_point__question__dataset", flat=True)
    for name in sorted(datasets.distinct()):
        yield StudyFile(
            question_file(name), "Questions with key points and responses", partial(_questions, study, name)
        )
    work = partial(_work, study, settings, item, said)
    yield StudyFile(WORK, "Items, tasks and what judges said of them", work)


def ordinary_items(study: Study) -> QuerySet[LabelItem]:
    """The items that enter figures."""
    items: QuerySet[LabelItem] = study.label_items.filter(role=LabelItem.Role.ORDINARY).order_by()
    return items


def _questions(study: Study, dataset: str) -> Iterator[bytes]:
    items = ordinary_items(study).values("key_point__question")
    return long2rag.dump(questions_of(Question.objects.of(dataset=dataset).filter(pk__in=items)))


def _work(study: Study, settings: Any, told: Any, said: Any) -> list[bytes]:
    rows = ordinary_items(study).order_by("pk")
    items = list(
        rows.select_related(
            "key_point__question", "response__system", "summary__haystack", "summary__subtopic", "summary__system"
        )
    )
    at = {item.pk: place for place, item in enumerate(items)}
    names = pseudonyms_of(study)
    tasks = study.label_tasks.filter(item__in=list(at)).order_by("annotator", "position")
    common = ("block", "n_questions", "is_overlap")
    value = {
        "plan": settings(plan_of(study)),
        "items": [{name: getattr(item, name) for name in common} | told(item) for item in items],
        "tasks": [
            [names[row.annotator_id], at[row.item_id], row.state, row.n_answered, row.active_ms]
            for row in tasks
            if row.n_answered
        ],
        **said(study, items),
    }
    return json_file(value)


def place_of_point(item: LabelItem) -> Plain:
    """By what names an item on a key point is known."""
    point: Any = item.key_point
    return {"dataset": point.question.dataset, "question": point.question.key, "key_point": point.key}


def verdict_file(study: Study, columns: Columns, rows: QuerySet[Any, Any]) -> StudyFile:
    """The first answers of judges, one in each row; columns are named as those of labels."""
    ordered = partial(rows_of, study, rows.order_by(*JUDGE, "pk"), columns)
    return csv_file(VERDICTS, "Verdicts of judges", columns, ordered)


# The schema of `work.json`


def name_of(most: int, least: int = 1) -> Any:
    return Annotated[
        str,
        Field(strict=True, min_length=least, max_length=most),
        AfterValidator(no_nul),
        Expected(f"a text of {least} to {most} characters"),
    ]


def one_of(*values: str) -> Any:
    def known(value: str) -> str:
        if value not in values:
            raise ValueError("unknown")
        return value

    words = ", ".join(values)
    return Annotated[str, Field(strict=True), AfterValidator(known), Expected(f"one of {words}")]


def whole(low: int, high: int) -> Any:
    expected = Expected(f"a whole number from {low:,} to {high:,}")
    return Annotated[int, Field(strict=True, ge=low, le=high), expected]


def table(words: str, *types: Any) -> Any:
    """A list of rows, each a list with one value of each type."""
    return Annotated[list[Annotated[tuple[types], Expected(words)]], Expected("a list of rows")]  # type: ignore[valid-type]


Place = whole(0, 2**31 - 1)
Number = whole(0, SMALLINT)
Flag = Annotated[bool, Field(strict=True), Expected("true or false")]
JUDGED = (name_of(120), whole(1, SMALLINT))
"""Name and version of a judge, the first columns of what judges said."""


class Archived(Part):
    """A part of `work.json`; rows of tables are lists there, tuples here."""

    model_config = ConfigDict(strict=False)
    EXPECTED = "an object as an archive has it"


class ItemPart(Archived):
    id: name_of(400)  # type: ignore[valid-type]
    block: name_of(80, 0)  # type: ignore[valid-type]
    n_questions: whole(1, SMALLINT)  # type: ignore[valid-type]
    is_overlap: Flag


class PointItem(ItemPart):
    """A key point beside the documents of its question."""

    dataset: name_of(80)  # type: ignore[valid-type]
    question: name_of(120)  # type: ignore[valid-type]
    key_point: name_of(120)  # type: ignore[valid-type]


class PeoplePerItem(Archived):
    """Settings of a study whose items are assigned one by one."""

    people_per_item: whole(1, SMALLINT)  # type: ignore[valid-type]


Tasks = table(
    "person, item, state, answers given and active time of a task",
    name_of(120), Place, one_of(*LabelTaskState.values), Number, whole(0, 2**63 - 1),
)  # fmt: skip
"""Fields of `work.json` of any kind; its `items`, `plan` and `judges` are the kind's."""
