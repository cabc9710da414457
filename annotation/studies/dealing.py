"""Who gets what: evenly, by seed, never taking from anybody what was begun. Pure."""

from __future__ import annotations

import hashlib
import heapq
import math
import random
from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

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


Pair = tuple[int, int]
"""A person and a group."""


def newcomers_of(n: int) -> range:
    """Stand for `n` people yet to come in a deal; they have their places in it after all others, as they will."""
    return range(2**63, 2**63 + n)


@dataclass(frozen=True, slots=True)
class Group:
    """Something to deal: the work it makes, and how many people should have it, those included who have it.

    Nobody gets two groups of the same `cluster`, unless it is None.
    """

    pk: int
    size: int = 1
    wanted: int = 1
    is_for_everyone: bool = False
    cluster: Hashable = None


@dataclass(frozen=True, slots=True)
class Deal:
    """Changes of a deal: pairs to add, and movable pairs that are taken back or passed on."""

    given: tuple[Pair, ...]
    taken: tuple[Pair, ...]


def deal(
    groups: Iterable[Group],
    people: Iterable[int],
    *,
    seed: str,
    fixed: Collection[Pair] = (),
    movable: Collection[Pair] = (),
    barred: Collection[Pair] = (),
    caps: Mapping[int, int] | None = None,
) -> Deal:
    """Give each group its missing annotators: each pick is the person with the least work who may have it.

    `fixed` pairs stay, also those of people who left, whose work counts. `movable` pairs are not begun: those of
    people who left and barred ones are taken back, the others move where that evens out the work, so that a late
    joiner takes over from those who have most. `barred` pairs are never given, and nothing that would bring
    somebody's work beyond theirs in `caps`. What is for everyone is no part of the work that is compared.

    One cluster comes after the other, in it the groups with the fewest people, then the largest: few people cover
    many groups once before any twice. With nothing fixed or barred, no two people differ by more work than the
    largest group makes, and by at most 1 where all groups make 1.
    """
    dice = random.Random(seed)  # noqa: S311  a fair order, not a secret
    order, pool = sorted(people), sorted(groups, key=lambda group: group.pk)
    dice.shuffle(order)
    dice.shuffle(pool)
    shares = _Shares(pool, order, fixed=fixed, barred=barred, caps=caps or {})
    for pair in sorted(movable):
        if pair[0] in shares.work and pair not in shares.barred:
            shares.give(*pair)
    for group in pool:
        if group.is_for_everyone:
            for person in order:
                if shares.may_have(person, group.pk):
                    shares.give(person, group.pk)
    for pk in _slots(pool, Counter(pk for _person, pk in shares.kept | shares.loose)):
        free = [person for person in order if shares.may_have(person, pk)]
        if free:
            shares.give(min(free, key=lambda person: shares.work[person]), pk)
    shares.even_out()
    before = set(movable)
    return Deal(tuple(sorted(shares.loose - before)), tuple(sorted(before - shares.loose)))


def _slots(groups: Sequence[Group], n_have: Counter[int]) -> list[int]:
    """Groups with missing annotators, one entry for each missing one, in the order of filling."""
    clusters = {cluster: at for at, cluster in enumerate(dict.fromkeys(group.cluster for group in groups))}
    slots = [
        (clusters[group.cluster], n, -group.size, at, group.pk)
        for at, group in enumerate(groups)
        if not group.is_for_everyone
        for n in range(n_have[group.pk], group.wanted)
    ]
    return [pk for *_order, pk in sorted(slots)]


class _Shares:
    """The deal so far: `kept` pairs stay, `loose` ones may still move."""

    def __init__(
        self,
        groups: Iterable[Group],
        people: Iterable[int],
        *,
        fixed: Collection[Pair],
        barred: Collection[Pair],
        caps: Mapping[int, int],
    ) -> None:
        self.groups = {group.pk: group for group in groups}
        self.work = dict.fromkeys(people, 0)
        self.groups_of: dict[int, set[int]] = {person: set() for person in self.work}
        """The groups of each person that may move to somebody else."""
        self.kept, self.barred, self.caps = set(fixed), set(barred), caps
        self.loose: set[Pair] = set()
        self.clusters: set[tuple[int, Hashable]] = set()
        for person, pk in self.kept:
            self._count(person, pk, 1)

    def may_have(self, person: int, pk: int) -> bool:
        pair, group = (person, pk), self.groups[pk]
        if pair in self.kept or pair in self.loose or pair in self.barred:
            return False
        if group.cluster is not None and (person, group.cluster) in self.clusters:
            return False
        return self.work[person] + self._size(pk) <= self.caps.get(person, inf)

    def give(self, person: int, pk: int) -> None:
        self.loose.add((person, pk))
        if self._size(pk):
            self.groups_of[person].add(pk)
        self._count(person, pk, 1)

    def even_out(self) -> None:
        """Move groups from busy to idle people. Each move lowers the sum of squared work, so this ends."""
        while any(self._narrow(busy, idle) for busy, idle in self._gaps()):
            pass

    def _gaps(self) -> list[Pair]:
        """Who could give to whom, the busiest and the idlest first."""
        ranked = sorted(self.work, key=lambda person: (-self.work[person], person))
        return [
            (busy, idle)
            for busy in ranked
            for idle in reversed(ranked)
            if self.groups_of[busy] and self.work[busy] - self.work[idle] > 1
        ]

    def _narrow(self, busy: int, idle: int) -> bool:
        """Move the group that halves the gap best; False if there is none."""
        gap = self.work[busy] - self.work[idle]
        fitting = [pk for pk in self.groups_of[busy] if self._size(pk) < gap and self.may_have(idle, pk)]
        if not fitting:
            return False
        pk = min(fitting, key=lambda pk: (abs(2 * self._size(pk) - gap), pk))
        self.loose.discard((busy, pk))
        self.groups_of[busy].discard(pk)
        self._count(busy, pk, -1)
        self.give(idle, pk)
        return True

    def _size(self, pk: int) -> int:
        """The work that counts; none for what everybody has, or what is dealt no longer."""
        group = self.groups.get(pk)
        return 0 if group is None or group.is_for_everyone else group.size

    def _count(self, person: int, pk: int, sign: int) -> None:
        if person in self.work:
            self.work[person] += sign * self._size(pk)
        group = self.groups.get(pk)
        if group is not None and group.cluster is not None:
            change = self.clusters.add if sign > 0 else self.clusters.discard
            change((person, group.cluster))
