"""Who labels what, in which order: pure and deterministic by seed."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.balancing import Opening, deal

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Item:
    """Something to label, with the strata it belongs to (for a summary its system and its subtopic)."""

    pk: int
    strata: tuple[Hashable, ...] = ()


def sample(items: Sequence[Item], n: int, *, seed: int, label: str = "sample") -> list[Item]:
    """Draw `n` items so that every stratum gives its share, the first kind of strata before the next.

    Each pick comes from the least drawn stratum of the first kind and there from the least drawn of the second.
    All items if there are no more than `n`.
    """
    pool = sorted(items, key=lambda item: item.pk)
    random.Random(f"{label}:{seed}").shuffle(pool)  # noqa: S311  a fair draw, not a secret
    if n >= len(pool):
        return pool
    sizes = Counter(key for item in pool for key in enumerate(item.strata))
    # Items of the same strata stand behind each other: only the first of each can be the next pick
    waiting: dict[tuple[Hashable, ...], deque[int]] = {}
    for at, item in enumerate(pool):
        waiting.setdefault(item.strata, deque()).append(at)
    drawn: Counter[tuple[int, Hashable]] = Counter()
    chosen: list[Item] = []
    while len(chosen) < n:
        strata = min(
            waiting,
            key=lambda one: (*(drawn[key] / sizes[key] for key in enumerate(one)), waiting[one][0]),
        )
        chosen.append(pool[waiting[strata].popleft()])
        drawn.update(enumerate(strata))
        if not waiting[strata]:
            del waiting[strata]
    return chosen


def deal_items(
    items: Sequence[int],
    people: Sequence[int],
    *,
    overlap: Collection[int],
    per_item: int,
    seed: int,
    barred: Collection[Pair] = (),
    held: Collection[Pair] = (),
) -> list[Pair]:
    """Give the (person, item) pairs that are missing: everyone has each item of `overlap`, `per_item` the others.

    `held` are pairs given before, which stay; `barred` are never given. The others are dealt evenly: with nothing
    held or barred, no two people differ by more than one item.
    """
    shared = set(overlap)
    dice = random.Random(f"deal:{seed}")  # noqa: S311  a fair order, not a secret
    order, rest = list(people), [item for item in items if item not in shared]
    dice.shuffle(order)
    dice.shuffle(rest)
    known, forbidden = set(held), set(barred)
    pairs = [
        (person, item)
        for item in items
        if item in shared
        for person in order
        if (person, item) not in known and (person, item) not in forbidden
    ]
    holders = Counter(item for _person, item in known)
    load = Counter(person for person, item in known if item not in shared)
    openings = [Opening(item, item, max(0, per_item - holders[item]), holders[item]) for item in rest]
    allowed = {(person, item) for person in order for item in rest} - known - forbidden
    return pairs + deal(order, openings, allowed=allowed, load=load, one_per_haystack=False)


def in_blocks(items: Iterable[int], *, block_of: Mapping[int, str], seed: int, person: str) -> list[int]:
    """The order in which a person gets items: block after block, shuffled within and between, by person."""
    blocks: dict[str, list[int]] = {}
    for item in sorted(items):
        blocks.setdefault(block_of[item], []).append(item)
    dice = random.Random(f"order:{seed}:{person}")  # noqa: S311  an order, not a secret
    names = sorted(blocks)
    dice.shuffle(names)
    for name in names:
        dice.shuffle(blocks[name])
    return [item for name in names for item in blocks[name]]
