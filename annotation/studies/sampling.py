"""What is drawn, and in which order it comes: samples, control groups, a person's order. Pure, by seed."""

from __future__ import annotations

import hashlib
import heapq
import math
import random
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

CONTROL_SHARE = Fraction(1, 10)


class ShareOutOfRange(ValueError):
    """A control group of less than nothing or more than everything."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to draw, with the strata it belongs to (for a summary its system and its subtopic)."""

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
            key=lambda stratum: (*(drawn[key] / sizes[key] for key in enumerate(stratum)), waiting[stratum][0]),
        )
        chosen.append(pool[waiting[strata].popleft()])
        drawn.update(enumerate(strata))
        if not waiting[strata]:
            del waiting[strata]
    return chosen


def control_group(items: Iterable[Item], *, seed: int, share: Fraction | float = CONTROL_SHARE) -> tuple[int, ...]:
    """Draw what everyone gets: a share of all, at least one of any, in ascending order.

    Each of the first strata (category) gets its share by largest remainders (equal ones by lot). Inside it each
    pick goes to the second stratum (domain) that is furthest behind its own share of the whole, there by lot.
    """
    exact = Fraction(share).limit_denominator(10_000)
    if not 0 <= exact <= 1:
        raise ShareOutOfRange(f"a share of {float(share)}")
    pool = sorted(items, key=lambda item: item.pk)
    if not pool or exact == 0:
        return ()
    dice = random.Random(f"control:{seed}")  # noqa: S311  a fair draw, not a secret
    dice.shuffle(pool)
    n = max(1, math.floor(len(pool) * exact + Fraction(1, 2)))
    quotas = largest_remainder(Counter(item.strata[0] for item in pool), n)
    behind = {
        domain: Fraction(size * n, len(pool)) for domain, size in Counter(row.strata[1] for row in pool).items()
    }
    chosen: list[int] = []
    for category in sorted(quotas, key=lambda name: sum(row.strata[0] == name for row in pool)):
        members = [item for item in pool if item.strata[0] == category]
        for _ in range(quotas[category]):
            at = max(range(len(members)), key=lambda place: behind[members[place].strata[1]])
            item = members.pop(at)
            behind[item.strata[1]] -= 1
            chosen.append(item.pk)
    return tuple(sorted(chosen))


def largest_remainder(sizes: Mapping[Hashable, int], n: int) -> dict[Hashable, int]:
    """Share `n` seats by size: each its whole part, then one more by descending remainder, ties in given order."""
    total = sum(sizes.values())
    exact = {name: Fraction(size * n, total) for name, size in sizes.items()}
    seats = {name: math.floor(quota) for name, quota in exact.items()}
    ranked = sorted(sizes, key=lambda name: seats[name] - exact[name])
    for name in ranked[: n - sum(seats.values())]:
        seats[name] += 1
    return seats


def in_blocks(items: Iterable[int], *, block_of: Mapping[int, str], seed: int, person: str) -> list[int]:
    """The order in which a person gets items: block after block, shuffled within and between, by person."""
    blocks: dict[str, list[int]] = {}
    for item in sorted(items):
        blocks.setdefault(block_of[item], []).append(item)
    dice = random.Random(f"order:{seed}:{person}")  # noqa: S311  an order, not a secret
    names = list(blocks)
    dice.shuffle(names)
    for name in names:
        dice.shuffle(blocks[name])
    return [item for name in names for item in blocks[name]]


def narrowing_first(
    items: Iterable[int],
    *,
    block_of: Mapping[int, str],
    people_of: Mapping[int, int],
    seed: int,
    before: Mapping[str, int] | None = None,
) -> list[int]:
    """The order in which labels narrow figures soonest, the same for everybody.

    What most people get comes first, since only answers of several say how far they agree. Among these each pick
    is of the block with the fewest items so far (`before` counts those of earlier deals), in it by lot: blocks are
    what intervals resample, and the variance of a mean over them falls fastest while all have as many. One order
    for everybody lets an item have all its answers soon. It stands on the design alone, on no answer and no
    verdict: what is labelled at any time is a draw by lot of each block.
    """
    pool = sorted(items)
    random.Random(f"next:{seed}").shuffle(pool)  # noqa: S311  an order, not a secret
    waiting: dict[int, dict[str, deque[int]]] = {}
    for item in pool:
        waiting.setdefault(people_of[item], {}).setdefault(block_of[item], deque()).append(item)
    taken = Counter(before or {})
    chosen: list[int] = []
    for _n_people, blocks in sorted(waiting.items(), reverse=True):
        heap = [(taken[block], place, block) for place, block in enumerate(blocks)]
        heapq.heapify(heap)
        while heap:
            n, place, block = heapq.heappop(heap)
            chosen.append(blocks[block].popleft())
            taken[block] = n + 1
            if blocks[block]:
                heapq.heappush(heap, (n + 1, place, block))
    return chosen


def stable_seed(*parts: object) -> int:
    """A seed below 2**63 that is the same for the same parts everywhere."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8]) >> 1
