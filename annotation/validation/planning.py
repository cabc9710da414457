"""Validation studies: a stratified sample of a judge's verdicts, assigned by response."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Unpack

from django.db import transaction

from annotation.models import LabelItem, Study, ValidationPlan
from annotation.studies.dealing import Item, sample
from annotation.studies.kind import NotPossible, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from benchmarks import audit
from benchmarks.models import Judge, PointVerdict

IN_A_QUERY = 500


class NothingToValidate(NotPossible):
    """The judge has given no verdict on what was chosen."""

    field = "dataset"


@transaction.atomic
def create_study(
    *,
    plan: ValidationPlan,
    n: int,
    dataset: str = "",
    **values: Unpack[NewStudy],
) -> Study:
    """Make a validation study on `n` verdicts of the judge of `plan`, assigned and not yet open.

    Raises:
        NothingToValidate: there is no verdict to sample.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.VALIDATION, plan=plan, **values)
    if not add_pairs(study=study, n=n, dataset=dataset, by=by, now=now):
        raise NothingToValidate("This judge has no verdicts on that question set.")
    work_of(study).deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def add_pairs(*, study: Study, n: int, by: Any, now: datetime, dataset: str = "") -> int:
    """Draw up to `n` more verdicts, stratified by answer, then category, then system; gives how many."""
    judge = study.validation_plan.judge
    known = set(study.label_items.values_list("response_id", "key_point_id"))
    rows = verdicts_of(judge, dataset=dataset)
    pairs: dict[int, tuple[int, int]] = {}
    items = []
    for pk, response, point, answer, category, system in rows.values_list(
        "pk", "response_id", "key_point_id", "answer", "response__question__category", "response__system_id"
    ):
        if (response, point) not in known:
            pairs[pk] = (response, point)
            items.append(Item(pk, (answer, category, system)))
    drawn = sample(items, n, seed=study.seed + len(known), label="verdicts")[:n]
    chosen = sorted(pairs[item.pk] for item in drawn)
    LabelItem.objects.bulk_create(_items(study, chosen, now), batch_size=IN_A_QUERY)
    if chosen:
        audit.record(actor=by, action="study.add_pairs", target=study, now=now, n=len(chosen))
    return len(chosen)


def verdicts_of(judge: Judge, *, dataset: str = "") -> Any:
    """The usable verdicts of a judge on key points and responses, of a question set or of all that are in use."""
    rows = PointVerdict.objects.filter(
        judge=judge,
        premise=PointVerdict.Premise.RESPONSE,
        repeat=0,
        is_valid=True,
        response__question__archived_at=None,
    )
    return rows.filter(response__question__dataset=dataset) if dataset else rows


def _items(study: Study, pairs: Sequence[tuple[int, int]], now: datetime) -> list[LabelItem]:
    return [
        LabelItem(
            study=study,
            response_id=response,
            key_point_id=point,
            block=f"response-{response}",
            n_questions=1,
            added_at=now,
        )
        for response, point in pairs
    ]
