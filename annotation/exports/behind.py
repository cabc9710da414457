"""What figures of label work stand on beside the labels: texts, items, tasks, and what judges said of the items.

With these files an archive of verification, validation or rating comes back as a study of its own kind, with every
figure (`annotation.importing.label_work` reads them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, QuerySet

from annotation.kinds import StudyFile
from annotation.linking import exports as linking
from annotation.models import LabelItem, Study
from annotation.rating import exports as rating
from annotation.studies.kind import has_plan
from annotation.studies.rows import Columns, csv_file, pseudonyms_of, rows_of
from annotation.studies.work_file import WORK, question_file
from annotation.validation import exports as validation
from annotation.verification import exports as verification
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers.questions import questions_of
from benchmarks.models import (
    AutodsScore,
    Judge,
    KeyPointVerdict,
    PointVerdict,
    Question,
    Summary,
    SummaryRating,
    Verdict,
)

Plain = dict[str, Any]
PLANS: dict[str, tuple[str, ...]] = {
    Study.Kind.RATING: ("people_per_item",),
    Study.Kind.VERIFICATION: ("people_per_question",),
    Study.Kind.VALIDATION: ("people_per_item", "shows_verdict", "asks_why_not"),
}
"""Settings that come back, by kind."""
SYSTEM = ("key", "kind", "summarizer", "retriever", "document_order")
JUDGE = ("judge__name", "judge__version")


def work_files(study: Study) -> Iterator[StudyFile]:
    """The files of a study of one of these kinds that was set up here; none of others."""
    if study.kind not in PLANS or not has_plan(study):
        return
    for name in _datasets(study):
        yield StudyFile(
            question_file(name), "Questions with key points and responses", partial(_questions, study, name)
        )
    yield StudyFile(WORK, "Items, tasks and what judges said of them", lambda: [_work(study, _items(study))])


def _items(study: Study) -> list[LabelItem]:
    rows = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY).order_by("pk")
    return list(
        rows.select_related(
            "key_point__question", "response__system", "summary__haystack", "summary__subtopic", "summary__system"
        )
    )


def _datasets(study: Study) -> list[str]:
    items = study.label_items.filter(role=LabelItem.Role.ORDINARY).exclude(key_point=None).order_by()
    return sorted(items.values_list("key_point__question__dataset", flat=True).distinct())


def _questions(study: Study, dataset: str) -> Iterator[bytes]:
    items = study.label_items.filter(role=LabelItem.Role.ORDINARY).order_by()
    rows = Question.objects.of(dataset=dataset).filter(pk__in=items.values("key_point__question"))
    return long2rag.dump(questions_of(rows))


def _work(study: Study, items: list[LabelItem]) -> bytes:
    at = {item.pk: place for place, item in enumerate(items)}
    names = pseudonyms_of(study)
    tasks = study.label_tasks.filter(item__in=list(at)).order_by("annotator", "position")
    plan: Any = getattr(study, f"{study.kind}_plan")
    value = {
        "plan": {name: getattr(plan, name) for name in PLANS[study.kind]}
        | ({"judge": [plan.judge.name, plan.judge.version]} if study.kind == Study.Kind.VALIDATION else {}),
        "items": [_item(item) for item in items],
        "tasks": [
            [names[row.annotator_id], at[row.item_id], row.state, row.n_answered, row.active_ms]
            for row in tasks
            if row.n_answered
        ],
        **SAID[study.kind](study, items),
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _item(item: LabelItem) -> Plain:
    about = {"block": item.block, "n_questions": item.n_questions, "is_overlap": item.is_overlap}
    if item.summary is not None:
        return {**about, "id": str(item.summary.uid), "summary": _summary(item.summary)}
    point = item.key_point
    place = {"dataset": point.question.dataset, "question": point.question.key, "key_point": point.key}
    if item.response is not None:
        return {**about, **place, "id": f"{item.response.uid}/{point.key}", "system": item.response.system.key}
    return {**about, **place, "id": str(point.uid)}


def _summary(row: Summary) -> Plain:
    haystack, subtopic = row.haystack, row.subtopic
    return {
        "haystack": {"key": haystack.key, "title": haystack.title, "language": haystack.language},
        "subtopic": {
            "key": subtopic.key, "number": subtopic.number, "name": subtopic.name, "query": subtopic.query,
        },
        "system": {name: getattr(row.system, name) for name in SYSTEM},
        "origin": row.origin,
        "text": row.text,
    }  # fmt: skip


def _ratings(_study: Study, items: list[LabelItem]) -> Plain:
    place = {item.summary_id: at for at, item in enumerate(items)}
    rows = SummaryRating.objects.counted().filter(repeat=0, summary__in=list(place)).order_by("judge", "pk")
    return {
        "judges": [
            [name, version, place[summary], aspect, value]
            for name, version, summary, aspect, value in rows.values_list(*JUDGE, "summary", "aspect", "value")
        ]
    }


def _entailments(study: Study, items: list[LabelItem]) -> Plain:
    place = {(item.response_id, item.key_point_id): at for at, item in enumerate(items)}
    plan: Any = study.validation_plan
    rows = PointVerdict.objects.filter(
        judge=plan.judge, premise=PointVerdict.Premise.RESPONSE, repeat=0, is_valid=True
    ).filter(response__question__in=[item.key_point.question_id for item in items])
    told = rows.order_by("pk").values_list(
        "response", "key_point", "answer", "response__question__dataset", "response__question__key",
        "response__system__key", "key_point__key",
    )  # fmt: skip
    return {
        "judges": [
            [plan.judge.name, plan.judge.version, place.get((response, point)), *where, answer]
            for response, point, answer, *where in told
        ]
    }


def _judgments(_study: Study, items: list[LabelItem]) -> Plain:
    place = {item.key_point_id: at for at, item in enumerate(items)}
    rows = KeyPointVerdict.objects.counted().filter(repeat=0, key_point__in=list(place)).order_by("judge", "pk")
    scores = AutodsScore.objects.counted().filter(key_point__in=list(place)).order_by("judge", "pk")
    return {
        "judges": [
            [name, version, place[point], judgment, answer]
            for name, version, point, judgment, answer in rows.values_list(
                *JUDGE, "key_point", "judgment", "answer"
            )
        ],
        "autods": [
            [name, version, place[point], *values]
            for name, version, point, *values in scores.values_list(
                *JUDGE, "key_point", "repeat", "value", "low", "high"
            )
        ],
    }


SAID: dict[str, Callable[[Study, list[LabelItem]], Plain]] = {
    Study.Kind.RATING: _ratings,
    Study.Kind.VERIFICATION: _judgments,
    Study.Kind.VALIDATION: _entailments,
}


# A table of what judges said


def _judge(name: str, version: int) -> str:
    return str(Judge(name=name, version=version))


def _spaced(lines: Sequence[int]) -> str:
    return " ".join(map(str, lines))


def _of(columns: Columns, *names: str) -> dict[str, Any]:
    """Columns of labels that verdicts have too."""
    return {name: columns[name] for name in names}


BY: Columns = {"judge": (_judge, *JUDGE)}
VERDICTS: dict[str, Columns] = {
    Study.Kind.LINKING: {
        **BY,
        **_of(linking.COLUMNS, "item", "label", "cluster", "haystack", "subtopic", "summary", "system", "insight"),
        "lines": (_spaced, "lines"),
        "p_partial": "p_partial",
        "p_full": "p_full",
        "is_valid": "is_valid",
    },
    Study.Kind.VERIFICATION: {
        **BY,
        "task": "judgment",
        "item": "key_point__uid",
        "label": "answer",
        **_of(verification.LABEL_COLUMNS, "cluster", "dataset", "question", "key_point"),
        "is_valid": "is_valid",
    },
    Study.Kind.VALIDATION: {
        **BY,
        **_of(validation.COLUMNS, "task", "item", "label", "cluster", "dataset", "question", "response", "system"),
        **_of(validation.COLUMNS, "key_point"),
        "is_valid": "is_valid",
    },
    Study.Kind.RATING: {
        **BY,
        "task": "aspect",
        "item": "summary__uid",
        "label": "value",
        **_of(rating.COLUMNS, "cluster", "haystack", "subtopic", "summary", "system"),
        "is_valid": "is_valid",
    },
}
"""The columns of `verdicts.csv` by the kind of study, named as those of its labels."""


def verdict_file(study: Study) -> Iterator[StudyFile]:
    """The first answers of judges on the items of a study, one in each row; none of kinds that have no judges."""
    if study.kind in VERDICTS and (study.kind == Study.Kind.LINKING or has_plan(study)):
        columns = VERDICTS[study.kind]

        def rows() -> Iterator[tuple[Any, ...]]:
            return rows_of(study, _said_in(study).order_by(*JUDGE, "pk"), columns)

        yield csv_file("verdicts.csv", "Verdicts of judges", columns, rows)


def _said_in(study: Study) -> QuerySet[Any, Any]:
    """The first answers of judges that figures of a study are of."""
    items = study.label_items.filter(role=LabelItem.Role.ORDINARY).order_by()
    if study.kind == Study.Kind.LINKING:
        labelled = study.coveragelabels.for_figures().order_by().values("summary")
        return Verdict.objects.counted().filter(repeat=0, summary__in=labelled)
    if study.kind == Study.Kind.RATING:
        return SummaryRating.objects.counted().filter(repeat=0, summary__in=items.values("summary"))
    if study.kind == Study.Kind.VERIFICATION:
        return KeyPointVerdict.objects.counted().filter(repeat=0, key_point__in=items.values("key_point"))
    plan: Any = study.validation_plan
    pairs = items.filter(response=OuterRef("response"), key_point=OuterRef("key_point"))
    of_judge = PointVerdict.objects.filter(judge=plan.judge, premise=PointVerdict.Premise.RESPONSE, repeat=0)
    return of_judge.filter(Exists(pairs))
