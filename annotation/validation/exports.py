"""The answers of a validation study as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Study
from annotation.studies.rows import PERSON, Columns, cells, fields_of, read
from benchmarks.models import PointVerdict


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


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row an answer: current ones, or every one ever made, oldest first."""
    judge, verdicts = str(study.validation_plan.judge), verdicts_on(study)
    rows = study.entailmentlabels.order_by("pk")
    if which != "history":
        rows = rows.for_figures()
    fields = fields_of(COLUMNS) - {"judge", "verdict"} | {"response_id", "key_point_id"}
    answers = (
        {**row, "judge": judge, "verdict": verdicts.get((row["response_id"], row["key_point_id"]), "")}
        for row in read(study, rows, *fields)
    )
    return cells(answers, COLUMNS)


def verdicts_on(study: Study) -> dict[tuple[int, int], str]:
    """{(response, key point): answer of the judge} on the items of a study. One query."""
    rows = PointVerdict.objects.filter(
        judge=study.validation_plan.judge,
        premise=PointVerdict.Premise.RESPONSE,
        repeat=0,
        is_valid=True,
        response__label_items__study=study,
    )
    return {
        (response, point): answer
        for response, point, answer in rows.values_list("response_id", "key_point_id", "answer")
    }
