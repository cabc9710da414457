"""Dealing items that stay together: all key points of a question, all pairs of a response. Work begun stays.

`whole` names the field of `LabelItem` that says what an item is part of: "question" or "response".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.labelling.dealing import Pair
from annotation.labelling.dealing_groups import Asked, deal_questions, order_for
from annotation.labelling.setting_up import close_ranks, present_people
from annotation.models import LabelTask, Study
from benchmarks import audit

IN_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a deal gave: new tasks, wholes that everyone has, and wholes that still lack people."""

    n_new: int
    n_control: int
    n_short: int


@transaction.atomic
def deal(*, study: Study, whole: str, wanted: int, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
    """Give every whole the people it lacks. With `rebalance`, wholes that nobody opened are shared anew.

    A whole that somebody left unfinished goes whole to somebody else; what was answered stays.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    people = present_people(study)
    items: dict[int, list[int]] = defaultdict(list)
    shared: set[int] = set()
    for pk, key, is_overlap in study.label_items.order_by("pk").values_list("pk", whole, "is_overlap"):
        items[key].append(pk)
        if is_overlap:
            shared.add(key)
    held = _held(study, whole)
    fixed, movable = _split(held, items, set(people), rebalance=rebalance)
    dealt = deal_questions(
        [Asked(key, len(pks)) for key, pks in items.items()],
        list(people),
        control=shared,
        seed=study.seed,
        per_question=wanted,
        fixed=fixed,
        movable=movable,
    )
    _take_back(study, whole, dealt.taken)
    given = [*dealt.given, *_unfinished(held, items, fixed, set(people), shared=shared, wanted=wanted)]
    n_new = _write_tasks(study, whole, items, people, given, held=held, now=now)
    if given or dealt.taken:
        audit.record(actor=by, action="study.assign", target=study, now=now, n_tasks=n_new)
    return Dealt(n_new, len(shared), n_short(study, whole=whole, wanted=wanted))


def n_short(study: Study, *, whole: str, wanted: int) -> int:
    """Wholes that fewer people have than wanted; of those for everyone, that somebody lacks."""
    people = set(present_people(study))
    sizes: dict[int, int] = defaultdict(int)
    shared: set[int] = set()
    for key, is_overlap in study.label_items.values_list(whole, "is_overlap"):
        sizes[key] += 1
        if is_overlap:
            shared.add(key)
    holders: dict[int, set[int]] = defaultdict(set)
    for (person, key), tasks in _held(study, whole).items():
        if tasks.n == sizes[key]:
            holders[key].add(person)
    return sum(not people <= holders[key] if key in shared else len(holders[key]) < wanted for key in sizes)


@dataclass(slots=True)
class _Held:
    """How many tasks of a whole a person has, and whether any was opened."""

    n: int = 0
    is_begun: bool = False


def _held(study: Study, whole: str) -> dict[Pair, _Held]:
    """{(person, whole): tasks}."""
    found: dict[Pair, _Held] = defaultdict(_Held)
    rows = study.label_tasks.order_by().values_list("annotator_id", f"item__{whole}", "begun_at")
    for person, key, begun_at in rows:
        row = found[person, key]
        row.n += 1
        row.is_begun = row.is_begun or begun_at is not None
    return dict(found)


def _split(
    held: Mapping[Pair, _Held], items: Mapping[int, Sequence[int]], people: set[int], *, rebalance: bool
) -> tuple[set[Pair], set[Pair]]:
    """Pairs that stay and pairs that may move. What somebody who left did not finish counts for neither."""
    fixed, movable = set(), set()
    for pair, tasks in held.items():
        is_present = pair[0] in people
        if not tasks.is_begun and (rebalance or not is_present):
            movable.add(pair)
        elif is_present or tasks.n == len(items[pair[1]]):
            fixed.add(pair)
    return fixed, movable


def _unfinished(
    held: Mapping[Pair, _Held],
    items: Mapping[int, Sequence[int]],
    fixed: Collection[Pair],
    people: set[int],
    *,
    shared: set[int],
    wanted: int,
) -> list[Pair]:
    """Pairs of which a person holds a part and needs the rest: it grew, or they left and came back."""
    n_whole = Counter(key for (_person, key), tasks in held.items() if tasks.n == len(items[key]))
    found = []
    for person, key in sorted(fixed):
        lacks = person in people and held[person, key].n < len(items[key])
        if lacks and (key in shared or n_whole[key] < wanted):
            n_whole[key] += 1
            found.append((person, key))
    return found


def _take_back(study: Study, whole: str, pairs: Iterable[Pair]) -> None:
    """Delete tasks that nobody opened; the others of the person move up."""
    by_person: dict[int, list[int]] = defaultdict(list)
    for person, key in pairs:
        by_person[person].append(key)
    for person, keys in by_person.items():
        for start in range(0, len(keys), IN_A_QUERY):
            own = study.label_tasks.filter(annotator=person, begun_at=None)
            own.filter(**{f"item__{whole}__in": keys[start : start + IN_A_QUERY]}).delete()
        close_ranks(study, person)


def _write_tasks(
    study: Study,
    whole: str,
    items: Mapping[int, Sequence[int]],
    people: Mapping[int, str],
    pairs: Iterable[Pair],
    *,
    held: Mapping[Pair, _Held],
    now: datetime,
) -> int:
    """New tasks come after those that a person has, whole by whole; places count from 1 without holes.

    A person who holds part of a whole gets the part that is missing.
    """
    dealt: dict[int, list[int]] = defaultdict(list)
    for person, key in pairs:
        dealt[person].append(key)
    made = []
    for person, keys in dealt.items():
        n_held = close_ranks(study, person)
        partly = [key for key in keys if (person, key) in held]
        own = study.label_tasks.filter(annotator=person, **{f"item__{whole}__in": partly})
        owned = set(own.values_list("item", flat=True))
        order = [
            pk
            for key in order_for(keys, seed=study.seed, person=people[person])
            for pk in items[key]
            if pk not in owned
        ]
        made += [
            LabelTask(study=study, annotator_id=person, item_id=pk, position=place, n_questions=1, created_at=now)
            for place, pk in enumerate(order, n_held + 1)
        ]
    LabelTask.objects.bulk_create(made, batch_size=IN_A_QUERY)
    return len(made)
