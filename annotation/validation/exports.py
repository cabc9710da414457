"""The answers of a validation study as rows, read in chunks. People appear as annotator1, annotator2 …"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Study
from benchmarks.models import PointVerdict

COLUMNS = (
    "annotator",
    "item",
    "label",
    "cluster",
    "dataset",
    "question",
    "category",
    "domain",
    "response",
    "system",
    "key_point",
    "judge",
    "verdict",
    "verdict_shown",
    "snippet",
    "why_not",
    "is_unsure",
    "is_current",
    "guideline_version",
    "made_at",
)
FIELDS = (
    "annotator_id",
    "response_id",
    "key_point_id",
    "answer",
    "response__question__dataset",
    "response__question__key",
    "response__question__category",
    "response__question__domain",
    "response__uid",
    "response__text",
    "response__system__key",
    "key_point__key",
    "verdict_shown",
    "snippet_start",
    "snippet_end",
    "why_not",
    "is_unsure",
    "is_current",
    "guideline__version",
    "made_at",
)
CHUNK = 1_000


def label_rows(study: Study, which: str = "current") -> Iterator[tuple[Any, ...]]:
    """One row an answer, in the order of `COLUMNS`: current ones, or every one ever made, oldest first."""
    names = {member.annotator_id: member.pseudonym for member in study.memberships.all()}
    judge = study.validation_plan.judge
    verdicts = verdicts_on(study)
    rows = study.entailmentlabels.order_by("pk")
    if which != "history":
        rows = rows.for_figures()
    for row in rows.values_list(*FIELDS).iterator(chunk_size=CHUNK):
        person, response, point, answer, dataset, question, category, domain, uid, text, system, key, *rest = row
        was_shown, start, end, why_not, is_unsure, is_current, version, at = rest
        yield (
            *(names.get(person, "unknown"), f"{uid}/{key}", answer, str(uid), dataset, question, category, domain),
            *(str(uid), system, key, str(judge), verdicts.get((response, point), ""), was_shown),
            "" if start is None else text[start:end],
            *(why_not, is_unsure, is_current, version, at.isoformat()),
        )


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
