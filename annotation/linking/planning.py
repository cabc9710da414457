"""Linking studies: set up, add summaries and people, deal. Work that was begun is never taken from anybody."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import studies
from annotation.labelling import readiness
from annotation.labelling.dealing import Item, Pair, deal_items, in_blocks, sample
from annotation.labelling.setting_up import close_ranks, new_study, present_people
from annotation.linking.choosing import agreed_answers, authors_of
from annotation.models import (
    Annotator,
    Assignment,
    CoverageLabel,
    LabelItem,
    LabelKey,
    LabelTask,
    LinkingPlan,
    Study,
)
from benchmarks import audit
from benchmarks.models import Insight, Summary


@dataclass(frozen=True, slots=True)
class LinkingValues:
    """The settings of a linking study, named as in `LinkingPlan`; at most one of the two overlaps."""

    people_per_item: int = 1
    overlap_share: Decimal | None = None
    overlap_number: int | None = None
    allow_several_lines: bool = False
    pass_mark: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Checks:
    """How many training and hidden gold items, and the study on whose agreed or decided answers they stand."""

    source: Study
    n_training: int = 0
    n_gold: int = 0


class TooFewAgreed(Exception):
    """The source has not enough summaries whose answers are agreed on or decided; the message says how many."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a deal gave: new tasks, items that everyone has, and items that still lack people."""

    n_new: int
    n_overlap: int
    n_short: int


@transaction.atomic
def create_study(
    *,
    details: studies.Details,
    plan: LinkingValues,
    summaries: Iterable[Summary],
    guidelines: str,
    by: Any,
    now: datetime,
    annotators: Iterable[Annotator] = (),
    researchers: Iterable[Any] = (),
    seed: int | None = None,
    checks: Checks | None = None,
) -> Study:
    """Make a linking study with its items and tasks, not yet open; its maker is one of its researchers.

    Raises:
        TooFewAgreed: there are not as many summaries with agreed answers as `checks` asks for.
    """
    study = new_study(
        kind=Study.Kind.LINKING,
        details=details,
        guidelines=guidelines,
        annotators=annotators,
        researchers=researchers,
        seed=seed,
        by=by,
        now=now,
    )
    LinkingPlan.objects.create(study=study, **asdict(plan))
    if checks is not None:
        _add_checks(study, checks, now=now)
    add_summaries(study=study, summaries=summaries, by=by, now=now)
    deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def add_summaries(*, study: Study, summaries: Iterable[Summary], by: Any, now: datetime) -> int:
    """Add items, each once; gives how many are new. They are nobody's until the next deal."""
    known = set(study.label_items.values_list("summary_id", flat=True))
    new = {row.pk: row for row in summaries if row.pk not in known}
    asked: dict[int, int] = defaultdict(int)
    subtopics = {row.subtopic_id for row in new.values()}
    for subtopic in Insight.objects.filter(subtopic__in=subtopics).values_list("subtopic_id", flat=True):
        asked[subtopic] += 1
    LabelItem.objects.bulk_create(
        LabelItem(
            study=study,
            summary=row,
            block=f"subtopic-{row.subtopic_id}",
            n_questions=asked[row.subtopic_id],
            added_at=now,
        )
        for row in new.values()
    )
    if new:
        audit.record(actor=by, action="study.add_summaries", target=study, now=now, n=len(new))
    return len(new)


@transaction.atomic
def deal(*, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every item the people it lacks. With `rebalance`, tasks that nobody opened are dealt anew, to all.

    Nobody gets a summary of their own, nor one on a haystack that they still have to write on, nor a training or
    gold item that they labelled before.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    plan = study.linking_plan
    people = present_people(study)
    if rebalance:
        readiness.untouched(study).delete()
    tasks = list(study.label_tasks.values_list("annotator_id", "item_id"))
    _draw_overlap(study, plan, dealt={item for _person, item in tasks})
    items = {item.pk: item for item in study.label_items.select_related("summary")}
    overlap = {pk for pk, item in items.items() if item.is_overlap}
    pairs = deal_items(
        list(items),
        list(people),
        overlap=overlap,
        per_item=plan.people_per_item,
        seed=study.seed,
        barred=_barred(study, items, people),
        held=tasks,
    )
    _write_tasks(study, items, people, pairs, now=now)
    if pairs:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=len(pairs))
    return Dealt(len(pairs), len(overlap), n_short(study))


def n_short(study: Study) -> int:
    """Items that have fewer people than the plan wants; of those for everyone, that somebody could still get."""
    people = set(present_people(study))
    items = {item.pk: item for item in study.label_items.select_related("summary")}
    barred = _barred(study, items, people)
    held = set(study.label_tasks.values_list("annotator_id", "item_id"))
    holders = Counter(item for _person, item in held)
    missing = Counter(item for person in people for item in items if (person, item) not in barred | held)
    wanted = study.linking_plan.people_per_item
    return sum(missing[pk] > 0 if item.is_overlap else holders[pk] < wanted for pk, item in items.items())


def _draw_overlap(study: Study, plan: LinkingPlan, *, dealt: set[int]) -> None:
    """Mark items that everyone gets, drawn among those that nobody has yet."""
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
        if not item.is_overlap and item.pk not in dealt
    ]
    chosen = sample(free, missing, seed=study.seed, label="overlap")[:missing]
    LabelItem.objects.filter(pk__in=[item.pk for item in chosen]).update(is_overlap=True)


def _add_checks(study: Study, checks: Checks, *, now: datetime) -> None:
    """Draw training and gold items among the summaries whose answers are agreed on or decided in the source."""
    agreed = agreed_answers(checks.source)
    wanted = checks.n_training + checks.n_gold
    if len(agreed) < wanted:
        raise TooFewAgreed(
            _("%(n)d summaries were asked for; in “%(name)s” all insights of %(found)d are agreed on or decided.")
            % {"n": wanted, "name": checks.source.name, "found": len(agreed)}
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


def _barred(study: Study, items: dict[int, LabelItem], people: Iterable[int]) -> set[Pair]:
    checks = {item.summary_id: pk for pk, item in items.items() if item.role != LabelItem.Role.ORDINARY}
    labelled = CoverageLabel.objects.filter(summary__in=checks, annotator__in=list(people)).exclude(study=study)
    known = {
        (person, checks[summary])
        for person, summary in labelled.order_by().values_list("annotator_id", "summary_id").distinct()
    }
    own = authors_of(item.summary.pk for item in items.values())
    writing = set(
        Assignment.objects.unfinished()
        .filter(annotator__in=list(people), is_practice=False)
        .values_list("annotator_id", "subtopic__haystack_id")
    )
    return known | {
        (person, pk)
        for person in people
        for pk, item in items.items()
        if (person, item.summary_id) in own or (person, item.summary.haystack_id) in writing
    }


def _write_tasks(
    study: Study, items: dict[int, LabelItem], people: dict[int, str], pairs: Iterable[Pair], *, now: datetime
) -> None:
    """New tasks come after those a person has, training first; places are counted from 1 without holes."""
    dealt: dict[int, list[int]] = defaultdict(list)
    for person, item in pairs:
        dealt[person].append(item)
    blocks = {pk: item.block for pk, item in items.items()}
    made = []
    for person, new in dealt.items():
        n_held = close_ranks(study, person)
        first = [pk for pk in new if items[pk].role == LabelItem.Role.TRAINING]
        order = [
            pk
            for part in (first, [pk for pk in new if pk not in set(first)])
            for pk in in_blocks(part, block_of=blocks, seed=study.seed, person=people[person])
        ]
        made += [
            LabelTask(
                study=study,
                annotator_id=person,
                item=items[pk],
                position=place,
                n_questions=items[pk].n_questions,
                created_at=now,
            )
            for place, pk in enumerate(order, n_held + 1)
        ]
    LabelTask.objects.bulk_create(made, batch_size=500)
