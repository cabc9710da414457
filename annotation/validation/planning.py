"""Validation studies: a stratified sample of a judge's verdicts, dealt to people by whole responses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation import studies
from annotation.labelling import wholes
from annotation.labelling.dealing import Item, sample
from annotation.labelling.setting_up import new_study
from annotation.labelling.wholes import Dealt
from annotation.models import Annotator, LabelItem, Study, ValidationPlan
from benchmarks import audit
from benchmarks.models import Judge, PointVerdict

IN_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class ValidationValues:
    """The settings of a validation study, named as in `ValidationPlan`."""

    people_per_item: int = 2
    shows_verdict: bool = False


class NothingToValidate(Exception):
    """The judge has given no verdict on what was chosen."""


@transaction.atomic
def create_study(
    *,
    details: studies.Details,
    plan: ValidationValues,
    judge: Judge,
    n: int,
    guidelines: str,
    by: Any,
    now: datetime,
    dataset: str = "",
    annotators: Iterable[Annotator] = (),
    researchers: Iterable[Any] = (),
    seed: int | None = None,
) -> Study:
    """Make a validation study on `n` verdicts of a judge, dealt and not yet open.

    Raises:
        NothingToValidate: there is no verdict to sample.
    """
    study = new_study(
        kind=Study.Kind.VALIDATION,
        details=details,
        guidelines=guidelines,
        annotators=annotators,
        researchers=researchers,
        seed=seed,
        by=by,
        now=now,
    )
    ValidationPlan.objects.create(study=study, judge=judge, **asdict(plan))
    if not add_pairs(study=study, n=n, dataset=dataset, by=by, now=now):
        raise NothingToValidate
    deal(study=study, by=by, now=now)
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


def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every response the people it lacks; what somebody left unfinished goes whole to somebody else."""
    wanted = study.validation_plan.people_per_item
    return wholes.deal(study=study, whole="response", wanted=wanted, by=by, now=now, rebalance=rebalance)


def n_short(study: Study) -> int:
    """Responses that fewer people have than the plan wants."""
    return wholes.n_short(study, whole="response", wanted=study.validation_plan.people_per_item)


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
