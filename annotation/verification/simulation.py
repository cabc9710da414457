"""Simulated annotators of known error rates: what is true of each key point, and what each would say. Pure.

For trying out the choice of annotators. Everything follows from seeds and names, so two runs say the same; what
one says of a point does not depend on the others.

Two people who turn yes and no around with the rates e and f agree on (1 − e)(1 − f) + ef of the points, so
Randolph's kappa of the first judgment is (1 − 2e)(1 − 2f).
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from benchmarks.states import Grounded, Keyness

K = TypeVar("K", bound=Hashable)


class RateOutOfRange(ValueError):
    """A rate of less than nothing or more than always."""


class Answer(NamedTuple):
    """The two judgments; `keyness` is empty after a no."""

    grounded: str
    keyness: str

    @property
    def is_kept(self) -> bool:
        """Whether the point is kept by it."""
        return self == (Grounded.YES, Keyness.AGREE)


class Truth(NamedTuple):
    """What is true of a key point; `keyness` is also known where it is not grounded."""

    grounded: bool
    keyness: str

    @property
    def answer(self) -> Answer:
        """The answer of somebody who makes no error."""
        return Answer(Grounded.YES.value, self.keyness) if self.grounded else Answer(Grounded.NO.value, "")


@dataclass(frozen=True, slots=True)
class Rates:
    """How often somebody confuses yes and no and, after a yes, gives another of the three answers, each as likely.

    `seconds` is the median time for a key point.
    """

    grounded: float = 0.0
    keyness: float = 0.0
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if not (0 <= self.grounded <= 1 and 0 <= self.keyness <= 1):
            raise RateOutOfRange(f"{self.grounded}, {self.keyness}")


CARELESS = Rates(grounded=0.5, keyness=2 / 3, seconds=2.5)
"""Somebody who does not look: every answer is as likely as any other."""


def true_answers(
    points: Iterable[K], *, seed: int, grounded_share: float = 0.9, agree_share: float = 0.7
) -> dict[K, Truth]:
    """Draw what is true of each key point; what is not agreed is neutral twice as often as not."""
    weights = (agree_share, (1 - agree_share) * 2 / 3, (1 - agree_share) / 3)
    found = {}
    for point in points:
        dice = _dice("truth", seed, point)
        found[point] = Truth(dice.random() < grounded_share, dice.choices(Keyness.values, weights)[0])
    return found


def answers_of(truth: Mapping[K, Truth], *, rates: Rates, person: str, seed: int) -> dict[K, Answer]:
    """What somebody says of each key point."""
    found = {}
    for point, true in truth.items():
        dice = _dice(person, seed, point)
        is_grounded = true.grounded != (dice.random() < rates.grounded)
        keyness = true.keyness
        if dice.random() < rates.keyness:
            keyness = dice.choice([other for other in Keyness.values if other != keyness])
        found[point] = Answer(Grounded.YES.value, keyness) if is_grounded else Answer(Grounded.NO.value, "")
    return found


def times_of(points: Iterable[K], *, rates: Rates, person: str, seed: int) -> dict[K, int]:
    """How long somebody takes for each key point, in milliseconds: log-normal around the median."""
    return {
        point: int(1000 * rates.seconds * _dice(f"time:{person}", seed, point).lognormvariate(0, 0.4))
        for point in points
    }


def _dice(what: str, seed: int, point: Hashable) -> random.Random:
    return random.Random(f"{what}:{seed}:{point}")  # noqa: S311  invented work, not a secret
