"""Linking studies: set up, add summaries and people, deal. Work that was begun is never taken from anybody."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Unpack

from django.db import transaction
from django.utils.functional import SimpleLazyObject

from annotation.labelling import summaries as label_items
from annotation.linking.adjudicating import agreed_answers
from annotation.models import (
    CoverageLabel,
    LabelItem,
    LabelKey,
    LinkingPlan,
    Study,
)
from annotation.studies import tasks
from annotation.studies.dealing import Item, Pair, sample
from annotation.studies.fewer_tasks import task_counts
from annotation.studies.gaps import Reason, present_people
from annotation.studies.kind import NotPossible
from annotation.studies.lifecycle import NewStudy, new_study
from annotation.studies.tasks import Dealing, Dealt
from benchmarks.models import Insight, Summary


@dataclass(frozen=True, slots=True)
class Checks:
    """How many training and hidden gold items, and the study on whose agreed or decided answers they stand."""

    source: Study
    n_training: int = 0
    n_gold: int = 0


class TooFewAgreed(NotPossible):
    """The source has not enough summaries whose answers are agreed on or decided; the message says how many."""

    field = "checks_source"


@transaction.atomic
def create_study(
    *,
    plan: LinkingPlan,
    summaries: Iterable[Summary],
    checks: Checks | None = None,
    at_random: bool = False,
    **values: Unpack[NewStudy],
) -> Study:
    """Make a linking study with its items and tasks, not yet open; its maker is one of its researchers.

    `at_random` says that the summaries were drawn within each system.

    Raises:
        TooFewAgreed: there are not as many summaries with agreed answers as `checks` asks for.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.LINKING, plan=plan, **values)
    if checks is not None:
        _add_checks(study, checks, now=now)
    add_summaries(study=study, summaries=summaries, at_random=at_random, by=by, now=now)
    deal(study=study, by=by, now=now)
    return study


def add_summaries(
    *, study: Study, summaries: Iterable[Summary], by: Any, now: datetime, at_random: bool = False
) -> int:
    """Add items, each once, with a question for every insight; gives how many are new."""
    chosen = list(summaries)
    subtopics = {row.subtopic_id for row in chosen}
    n_insights = Counter(Insight.objects.filter(subtopic__in=subtopics).values_list("subtopic_id", flat=True))
    return label_items.add_summaries(
        study=study, summaries=chosen, n_questions=n_insights, at_random=at_random, by=by, now=now
    )


@transaction.atomic
def add_first_summaries(*, study: Study, checks: Checks | None, pass_mark: Decimal | None, **values: Any) -> int:
    """Add the first items, as to a new study: training and gold, then summaries; gives how many of these.

    Raises:
        TooFewAgreed: there are not as many summaries with agreed answers as `checks` asks for.
    """
    LinkingPlan.objects.filter(study=study).update(pass_mark=pass_mark)
    if checks is not None:
        _add_checks(study, checks, now=values["now"])
    return add_summaries(study=study, **values)


@transaction.atomic
def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every summary its missing annotators. With `rebalance`, tasks that nobody opened are assigned anew.

    Nobody gets a summary of their own, nor one on a haystack that they still have to write on, nor a training or
    gold item that they labelled before.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    before = task_counts(study)
    if rebalance:
        study.label_tasks.untouched().delete()
    _draw_overlap(study, assigned=set(study.label_tasks.values_list("item_id", flat=True)))
    narrows_first = study.linking_plan.narrows_first
    return tasks.deal(study=study, by=by, now=now, before=before, narrows_first=narrows_first, **dealing(study))


def dealing(study: Study) -> Dealing:
    """Summaries are assigned one by one; nobody gets a training or gold item that they labelled before."""
    barred: Any = SimpleLazyObject(partial(_barred, study))  # four queries, for where it is asked
    return {"group": "pk", "wanted": study.linking_plan.people_per_item, "barred": barred}


def _barred(study: Study) -> dict[Pair, Reason]:
    people, items = list(present_people(study)), list(study.label_items.select_related("summary"))
    checks = {item.summary_id: item.pk for item in items if item.role != LabelItem.Role.ORDINARY}
    labelled = CoverageLabel.objects.filter(summary__in=checks, annotator__in=people).exclude(study=study)
    known = Reason("Labelled the training and gold items before.")
    return label_items.barred_pairs(people, items) | {
        (person, checks[summary]): known
        for person, summary in labelled.order_by().values_list("annotator_id", "summary_id").distinct()
    }


def _draw_overlap(study: Study, *, assigned: set[int]) -> None:
    """Mark items that everyone gets, drawn among those that nobody has yet."""
    plan = study.linking_plan
    items = list(study.label_items.filter(role=LabelItem.Role.ORDINARY).select_related("summary"))
    target = plan.overlap_number or 0
    if plan.overlap_share is not None:
        target = math.ceil(plan.overlap_share * len(items))
    missing = target - sum(item.is_overlap for item in items)
    if missing <= 0:
        return
    free = [
        Item(item.pk, (item.summary.system_id, item.summary.subtopic_id))
        for item in items
        if not item.is_overlap and item.pk not in assigned
    ]
    chosen = sample(free, missing, seed=study.seed, label="overlap")[:missing]
    LabelItem.objects.filter(pk__in=[item.pk for item in chosen]).update(is_overlap=True)


def _add_checks(study: Study, checks: Checks, *, now: datetime) -> None:
    """Draw training and gold items among the summaries whose answers are agreed on or decided in the source."""
    agreed = agreed_answers(checks.source)
    wanted = checks.n_training + checks.n_gold
    if len(agreed) < wanted:
        raise TooFewAgreed(
            f"{wanted} summaries were asked for; in “{checks.source.name}” all insights of {len(agreed)} are "
            "agreed on or decided."
        )
    rows = Summary.objects.in_bulk(agreed)
    items = [Item(pk, (row.system_id, row.subtopic_id)) for pk, row in rows.items()]
    drawn = sample(items, wanted, seed=study.seed, label="checks")[:wanted]
    for place, item in enumerate(drawn):
        row, answers = rows[item.pk], agreed[item.pk]
        made = LabelItem.objects.create(
            study=study,
            summary=row,
            block=f"subtopic-{row.subtopic_id}",
            n_questions=len(answers),
            is_overlap=True,
            role=LabelItem.Role.TRAINING if place < checks.n_training else LabelItem.Role.GOLD,
            added_at=now,
        )
        LabelKey.objects.bulk_create(
            LabelKey(item=made, insight_id=insight, coverage=coverage, lines=list(lines))
            for insight, (coverage, lines) in answers.items()
        )
