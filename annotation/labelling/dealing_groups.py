"""Which questions everyone verifies and who gets which of the others: pure and deterministic by seed.

Whole questions, so that a person keeps a question's context and cannot tell which ones everybody has.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Pair = tuple[int, int]
"""A person and a question."""

CONTROL_SHARE = Fraction(1, 10)


class ShareOutOfRange(ValueError):
    """A control group of less than nothing or more than everything."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its strata and the number of its key points, which is the work that it makes."""

    pk: int
    n_points: int
    category: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Deal:
    """What changes: pairs to add, and pairs not begun that are taken back or passed on."""

    given: tuple[Pair, ...]
    taken: tuple[Pair, ...]


def control_group(
    questions: Iterable[Asked], *, seed: int, share: Fraction | float = CONTROL_SHARE
) -> tuple[int, ...]:
    """Draw the questions that everyone gets: a share of all, at least one of any, in ascending order.

    Each category gets its share by largest remainders (equal ones by lot). Inside a category each pick goes to
    the domain that is furthest behind its own share of the whole, there by lot.
    """
    exact = Fraction(share).limit_denominator(10_000)
    if not 0 <= exact <= 1:
        raise ShareOutOfRange(f"a share of {float(share)}")
    pool = sorted(questions, key=lambda question: question.pk)
    if not pool or exact == 0:
        return ()
    dice = random.Random(f"control:{seed}")  # noqa: S311  a fair draw, not a secret
    dice.shuffle(pool)
    n = max(1, math.floor(len(pool) * exact + Fraction(1, 2)))
    quotas = largest_remainder(Counter(question.category for question in pool), n)
    behind = {
        domain: Fraction(size * n, len(pool)) for domain, size in Counter(row.domain for row in pool).items()
    }
    chosen: list[int] = []
    for category in sorted(quotas, key=lambda name: sum(row.category == name for row in pool)):
        members = [question for question in pool if question.category == category]
        for _ in range(quotas[category]):
            at = max(range(len(members)), key=lambda place: behind[members[place].domain])
            question = members.pop(at)
            behind[question.domain] -= 1
            chosen.append(question.pk)
    return tuple(sorted(chosen))


def largest_remainder(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Share `n` seats by size: each its whole part, then one more by descending remainder, ties in given order."""
    total = sum(sizes.values())
    exact = {name: Fraction(size * n, total) for name, size in sizes.items()}
    seats = {name: math.floor(quota) for name, quota in exact.items()}
    ranked = sorted(sizes, key=lambda name: seats[name] - exact[name])
    for name in ranked[: n - sum(seats.values())]:
        seats[name] += 1
    return seats


def deal_questions(
    questions: Sequence[Asked],
    people: Sequence[int],
    *,
    control: Collection[int],
    seed: int,
    per_question: int = 1,
    fixed: Collection[Pair] = (),
    movable: Collection[Pair] = (),
) -> Deal:
    """Give everyone the control group and deal the others, `per_question` people each, evenly by key points.

    `fixed` pairs are begun or done and stay, also those of people who left, whose work counts. `movable` pairs are
    not begun: of people who left they are taken back; of others they move where that evens out the work, so a
    late joiner takes over from those who have most. Without fixed pairs no two people differ by more key points
    than the largest question has.
    """
    dice = random.Random(f"verify:{seed}")  # noqa: S311  a fair order, not a secret
    order = sorted(people)
    dice.shuffle(order)
    present, shared = set(order), set(control)
    left = {pair for pair in movable if pair[0] not in present}
    hand = _Hand(
        points={question.pk: question.n_points for question in questions if question.pk not in shared},
        load=dict.fromkeys(order, 0),
        kept=set(fixed),
    )
    for pair in sorted(set(movable) - left):
        hand.take(pair)
    for pair in fixed:
        hand.count(pair)
    for person in order:
        for pk in shared:
            if (person, pk) not in hand.kept:
                hand.loose.add((person, pk))
    rest = sorted((question for question in questions if question.pk not in shared), key=lambda row: row.pk)
    dice.shuffle(rest)
    rest.sort(key=lambda question: -question.n_points)
    holders = Counter(pk for _, pk in hand.kept | hand.loose)
    for question in rest:
        for _ in range(per_question - holders[question.pk]):
            free = [person for person in order if not hand.has((person, question.pk))]
            if free:
                hand.take((min(free, key=lambda person: hand.load[person]), question.pk))
    hand.even_out()
    before = set(movable)
    return Deal(tuple(sorted(hand.loose - before)), tuple(sorted(before - hand.loose)))


def order_for(questions: Iterable[int], *, seed: int, person: str) -> list[int]:
    """The order in which one person gets questions: by lot, so that the control group is anywhere in it."""
    mixed = sorted(questions)
    random.Random(f"verify-order:{seed}:{person}").shuffle(mixed)  # noqa: S311  an order, not a secret
    return mixed


@dataclass
class _Hand:
    """The deal so far: `kept` pairs stay, `loose` ones may still move; `load` leaves the control group out."""

    points: Mapping[int, int]
    load: dict[int, int]
    kept: set[Pair]
    loose: set[Pair] = field(default_factory=set)

    def has(self, pair: Pair) -> bool:
        return pair in self.kept or pair in self.loose

    def count(self, pair: Pair, sign: int = 1) -> None:
        person, pk = pair
        if person in self.load:
            self.load[person] += sign * self.points.get(pk, 0)

    def take(self, pair: Pair) -> None:
        self.loose.add(pair)
        self.count(pair)

    def even_out(self) -> None:
        """Move the question that halves the gap best from the busiest to the idlest, while that narrows it."""
        while len(self.load) > 1:
            people = sorted(self.load, key=lambda person: (-self.load[person], person))
            if not any(self._narrow(busy, people[-1]) for busy in people[:-1]):
                return

    def _narrow(self, busy: int, idle: int) -> bool:
        gap = self.load[busy] - self.load[idle]
        fitting = [
            pk
            for person, pk in sorted(self.loose)
            if person == busy and 0 < self.points.get(pk, 0) < gap and not self.has((idle, pk))
        ]
        if not fitting:
            return False
        best = min(fitting, key=lambda pk: abs(2 * self.points[pk] - gap))
        self.loose.discard((busy, best))
        self.count((busy, best), -1)
        self.take((idle, best))
        return True
