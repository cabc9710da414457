"""Who gets what: evenly, and never taking from anybody what was begun. Pure, and deterministic by seed.

Dealt are groups: a subtopic to write on, a summary, all key points of a question. A group goes to a person whole,
so that people keep its context and nobody can tell which groups everybody has.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

Pair = tuple[int, int]
"""A person and a group."""


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
    """What changes: pairs to add, and movable pairs that are taken back or passed on."""

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
