"""The answers of a validation study as rows, the rest of its archive, and a study made of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.importing.label_work import LabelPart, LabelWorkPlan, Verdict
from annotation.kinds import StudyFile
from annotation.labelling.archive import (
    BY,
    JUDGED,
    Archived,
    Flag,
    PeoplePerItem,
    Place,
    Plain,
    PointItem,
    Tasks,
    name_of,
    one_of,
    ordinary_items,
    place_of_point,
    table,
    verdict_file,
    work_files,
)
from annotation.models import EntailmentLabel, LabelItem, LabelTask, Study, ValidationPlan
from annotation.studies.kind import has_plan
from annotation.studies.rows import PERSON, Columns, cells, fields_of, read
from benchmarks.io.schemas.fields import Expected
from benchmarks.models import PointVerdict
from benchmarks.scoring.keypoints import ENTAILMENTS


def _passage(text: str, start: int | None, end: int | None) -> str:
    return "" if start is None else text[start:end]


COLUMNS: Columns = {
    "annotator": PERSON,
    "task": (lambda: "entailment",),
    "item": ("{}/{}".format, "response__uid", "key_point__key"),
    "label": "answer",
    "cluster": "response__uid",
    "dataset": "response__question__dataset",
    "question": "response__question__key",
    "category": "response__question__category",
    "domain": "response__question__domain",
    "response": "response__uid",
    "system": "response__system__key",
    "key_point": "key_point__key",
    "judge": "judge",
    "verdict": "verdict",
    "verdict_shown": "verdict_shown",
    "snippet": (_passage, "response__text", "snippet_start", "snippet_end"),
    "why_not": "why_not",
    "is_unsure": "is_unsure",
    "is_current": "is_current",
    "guideline_version": "guideline__version",
    "made_at": "made_at",
}

_SHARED = ("task", "item", "label", "cluster", "dataset", "question", "response", "system", "key_point")
VERDICTS: Columns = {**BY, **{name: COLUMNS[name] for name in _SHARED}, "is_valid": "is_valid"}


def labels_of(study: Study, which: str) -> QuerySet[Any, Any]:
    rows = study.entailmentlabels.order_by("pk")
    return rows if which == "history" else rows.for_figures()


def label_rows(
    study: Study, which: str = "current", labels: QuerySet[Any, Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    """One row for each of these answers, beside what the judge said."""
    if not has_plan(study):
        return iter(())
    judge, verdicts = str(study.validation_plan.judge), verdicts_on(study)
    rows = labels_of(study, which) if labels is None else labels
    fields = fields_of(COLUMNS) - {"judge", "verdict"} | {"response_id", "key_point_id"}
    answers = (
        {**row, "judge": judge, "verdict": verdicts.get((row["response_id"], row["key_point_id"]), "")}
        for row in read(study, rows, *fields)
    )
    return cells(answers, COLUMNS)


def verdicts_on(study: Study) -> dict[tuple[int, int], str]:
    """{(response, key point): answer of the judge} on the items of a study. One query."""
    rows = _said_by(study.validation_plan.judge_id).filter(is_valid=True, response__label_items__study=study)
    return {
        (response, point): answer
        for response, point, answer in rows.values_list("response_id", "key_point_id", "answer")
    }


def _said_by(judge: int) -> QuerySet[PointVerdict]:
    return PointVerdict.objects.filter(judge=judge, premise=PointVerdict.Premise.RESPONSE, repeat=0)


def files_of(study: Study, now: datetime) -> Iterator[StudyFile]:
    if not has_plan(study):
        return
    yield from work_files(study, settings=_settings, item=_item, said=_entailments)
    pairs = ordinary_items(study).filter(response=OuterRef("response"), key_point=OuterRef("key_point"))
    yield verdict_file(study, VERDICTS, _said_by(study.validation_plan.judge_id).filter(Exists(pairs)))


def _settings(plan: ValidationPlan) -> Plain:
    names = ("people_per_item", "shows_verdict", "asks_why_not")
    return {name: getattr(plan, name) for name in names} | {"judge": [plan.judge.name, plan.judge.version]}


def _item(item: LabelItem) -> Plain:
    response: Any = item.response
    place = place_of_point(item)
    return place | {"id": f"{response.uid}/{place['key_point']}", "system": response.system.key}


def _entailments(study: Study, items: list[LabelItem]) -> Plain:
    place = {(item.response_id, item.key_point_id): at for at, item in enumerate(items)}
    judge = study.validation_plan.judge
    questions = [point.question_id for item in items if (point := item.key_point)]
    rows = _said_by(judge.pk).filter(is_valid=True, response__question__in=questions)
    told = rows.order_by("pk").values_list(
        "response", "key_point", "answer", "response__question__dataset", "response__question__key",
        "response__system__key", "key_point__key",
    )  # fmt: skip
    return {
        "judges": [
            [judge.name, judge.version, place.get((response, point)), *where, answer]
            for response, point, answer, *where in told
        ]
    }


class PairItem(PointItem):
    """A key point and a response."""

    system: name_of(200)  # type: ignore[valid-type]


class Settings(PeoplePerItem):
    """Settings of a validation study, with the judge by name and version."""

    shows_verdict: Flag
    asks_why_not: Flag
    judge: Annotated[tuple[JUDGED], Expected("name and version of a judge")]  # type: ignore[valid-type]


class ValidationWork(Archived):
    items: Annotated[list[PairItem], Expected("a list of items")]
    plan: Settings
    tasks: Tasks
    judges: table(  # type: ignore[valid-type]
        "judge, version, item if it is one, dataset, question, system, key point and answer",
        *JUDGED, Place | None, name_of(80), name_of(120), name_of(200), name_of(120), one_of(*ENTAILMENTS),
    )  # fmt: skip


class EntailmentsPlan(LabelWorkPlan):
    """Pairs with the answers of people and of a judge."""

    MODELS = (*LabelWorkPlan.MODELS, ValidationPlan, *LabelWorkPlan.TASKS, EntailmentLabel, PointVerdict)
    SCHEMA = ValidationWork
    ANSWERS = {"entailment": ("", *ENTAILMENTS)}
    SAID = {PointVerdict: (("response_id", "key_point_id", "repeat"), ("answer",))}

    def subject(self, item: PairItem) -> Plain:
        point = self.points[item.dataset, item.question, item.key_point]
        return {"key_point": point, "response": self.responses[item.dataset, item.question, item.system]}

    def answer(self, task: LabelTask, rows: Mapping[str, LabelPart], about: Plain) -> EntailmentLabel:
        [row] = rows.values()
        return EntailmentLabel(
            response=task.item.response,
            key_point=task.item.key_point,
            answer=row.label,
            why_not=row.why_not,
            verdict_shown=row.verdict_shown,
            is_complete=bool(row.label),
            **about,
        )

    def said(self, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
        for *judge, _at, dataset, question, system, key, answer in work.judges:
            texts = {
                "response": self.responses.get((dataset, question, system)),
                "key_point": self.points.get((dataset, question, key)),
                "premise": PointVerdict.Premise.RESPONSE,
            }
            if None not in texts.values():
                yield *judge, PointVerdict(answer=answer, is_imported=True, created_at=self.now, **texts)
