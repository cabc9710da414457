"""Linking studies: set up, add summaries and people, deal. Work that was begun is never taken from anybody."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation import studies
from annotation.assigning import stable_seed
from annotation.guidelines import publish_guideline
from annotation.labelling import readiness
from annotation.labelling.dealing import Item, Pair, deal_items, in_blocks, sample
from annotation.linking.choosing import authors_of
from annotation.models import Annotator, Assignment, LabelItem, LabelTask, LinkingPlan, Study
from benchmarks import audit
from benchmarks.models import Insight, Summary


@dataclass(frozen=True, slots=True)
class LinkingValues:
    """The settings of a linking study, named as in `LinkingPlan`; at most one of the two overlaps."""

    people_per_item: int = 1
    overlap_share: Decimal | None = None
    overlap_number: int | None = None
    allow_several_lines: bool = False


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
) -> Study:
    """Make a linking study with its items and tasks, not yet open; its maker is one of its researchers."""
    study = Study.objects.create(
        kind=Study.Kind.LINKING,
        seed=stable_seed("study", details.name) if seed is None else seed,
        created_at=now,
        created_by=by,
        **asdict(details),
    )
    study.researchers.set([*researchers, *([by] if by is not None else [])])
    LinkingPlan.objects.create(study=study, **asdict(plan))
    publish_guideline(study=study, body=guidelines, by=by, now=now)
    studies.add_annotators(study=study, annotators=annotators, by=by, now=now)
    audit.record(actor=by, action="study.create", target=study, now=now)
    add_summaries(study=study, summaries=summaries, by=by, now=now)
    deal(study=study, by=by, now=now)
    return study


@transaction.atomic
def update_details(*, study: Study, details: studies.Details, by: Any, now: datetime) -> Study:
    """Change name, description, contact, date and, until the first label, the rate.

    Raises:
        studies.Frozen: rate or currency would change after work was begun.
    """
    row: Study = Study.objects.select_for_update().get(pk=study.pk)
    changed = [item.name for item in fields(details) if getattr(row, item.name) != getattr(details, item.name)]
    frozen = [name for name in changed if name in studies.FROZEN_DETAILS]
    if frozen and row.label_tasks.exclude(begun_at=None).exists():
        raise studies.Frozen(frozen)
    for name in changed:
        setattr(row, name, getattr(details, name))
    row.save()
    audit.record(actor=by, action="study.update", target=row, now=now, changed=changed)
    return row


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

    Nobody gets a summary of their own, nor one on a haystack that they still have to write on.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    plan = study.linking_plan
    people = {
        member.annotator_id: str(member.annotator.uid)
        for member in study.memberships.current().select_related("annotator").order_by("number")
        if member.annotator.is_active
    }
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
        barred=_barred(items, people),
        held=tasks,
    )
    _write_tasks(study, items, people, pairs, now=now)
    if pairs:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=len(pairs))
    return Dealt(len(pairs), len(overlap), n_short(study))


def n_short(study: Study) -> int:
    """Items that have fewer people than the plan wants."""
    people = study.memberships.current().count()
    holders: dict[int, int] = defaultdict(int)
    for item in study.label_tasks.values_list("item_id", flat=True):
        holders[item] += 1
    wanted = study.linking_plan.people_per_item
    items = study.label_items.values_list("pk", "is_overlap")
    return sum(holders[pk] < (people if is_overlap else wanted) for pk, is_overlap in items)


def _draw_overlap(study: Study, plan: LinkingPlan, *, dealt: set[int]) -> None:
    """Mark items that everyone gets, drawn among those that nobody has yet."""
    items = list(study.label_items.select_related("summary"))
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


def _barred(items: dict[int, LabelItem], people: Iterable[int]) -> set[Pair]:
    own = authors_of(item.summary_id for item in items.values())
    writing = set(
        Assignment.objects.unfinished()
        .filter(annotator__in=list(people), is_practice=False)
        .values_list("annotator_id", "subtopic__haystack_id")
    )
    return {
        (person, pk)
        for person in people
        for pk, item in items.items()
        if (person, item.summary_id) in own or (person, item.summary.haystack_id) in writing
    }


def _write_tasks(
    study: Study, items: dict[int, LabelItem], people: dict[int, str], pairs: Iterable[Pair], *, now: datetime
) -> None:
    """New tasks come after those a person has; places are counted from 1 without holes."""
    dealt: dict[int, list[int]] = defaultdict(list)
    for person, item in pairs:
        dealt[person].append(item)
    blocks = {pk: item.block for pk, item in items.items()}
    made = []
    for person, new in dealt.items():
        n_held = _close_ranks(study, person)
        order = in_blocks(new, block_of=blocks, seed=study.seed, person=people[person])
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


def _close_ranks(study: Study, person: int) -> int:
    """Number the tasks a person has from 1; gives how many. Each only ever moves to a lower place that is free."""
    n = 0
    for n, (pk, position) in enumerate(
        study.label_tasks.filter(annotator=person).order_by("position").values_list("pk", "position"), 1
    ):
        if position != n:
            LabelTask.objects.filter(pk=pk).update(position=n)
    return n
