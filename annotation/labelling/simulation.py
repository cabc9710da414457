"""Simulated annotators of known error rates: how often somebody errs, and how long it takes. Pure.

Everything follows from seeds and names, so two runs say the same; what one says of an item does not depend on the
others.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


class RateOutOfRange(ValueError):
    """A rate of less than nothing or more than always."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often somebody gets the first thing that is asked wrong, and the second where there are two.

    What is said instead is as likely as any other wrong answer. `seconds` is the median time for an item.
    """

    first: float = 0.0
    second: float = 0.0
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if not (0 <= self.first <= 1 and 0 <= self.second <= 1):
            raise RateOutOfRange(f"{self.first}, {self.second}")


def mistaken(right: K, among: Sequence[K], *, rate: float, dice: random.Random) -> K:
    """What somebody says whose answers are wrong at this rate; `among` is all that can be said."""
    others = [other for other in among if other != right]
    return dice.choice(others) if dice.random() < rate and others else right


def times_of(items: Iterable[K], *, rates: Rates, person: str, seed: int) -> dict[K, int]:
    """How long somebody takes for each item, in milliseconds: log-normal around the median."""
    return {
        item: int(1000 * rates.seconds * dice_of(f"time:{person}", seed, item).lognormvariate(0, 0.4))
        for item in items
    }


def dice_of(what: str, seed: int, item: Hashable) -> random.Random:
    """The dice for one item, the same whenever it is asked for."""
    return random.Random(f"{what}:{seed}:{item}")  # noqa: S311  invented work, not a secret
