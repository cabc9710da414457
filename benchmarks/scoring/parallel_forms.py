"""The difference of two parallel forms on which the same people wrote, half of them in each order.

A crossover with two periods (Hills and Armitage, 1979): d is a person's score on form B minus that on form A.
With m_A, m_B the means of d of those who began with A and with B, the forms differ by (m_A + m_B) / 2, and the
second text differs from the first by (m_A - m_B) / 2: neither holds the other, also where the orders are not
equally frequent. Both have the standard error s / 2 * sqrt(1 / n_A + 1 / n_B), with s pooled within orders and
n_A + n_B - 2 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval

METHOD = "paired by person, orders weighted equally, Student's t"
TOO_FEW = "fewer than two people with a score on both forms"
ONE_ORDER = "all people with both began with the same form"
THREE_NEEDED = "an interval needs three people with both forms"
NO_SPREAD = "the differences do not vary within an order"


@dataclass(frozen=True, slots=True)
class Both:
    """One person's scores on form A and form B, and whether they began with A."""

    a: float
    b: float
    a_first: bool


def crossover(people: Sequence[Both]) -> tuple[Stat, Stat]:
    """Form B minus form A, and the second text minus the first; in the unit of the scores, n in people."""
    n = len(people)
    orders = [[person.b - person.a for person in people if person.a_first is first] for first in (True, False)]
    if n < 2 or not all(orders):
        none = Stat.undefined(TOO_FEW if n < 2 else ONE_ORDER, n_items=n, n_pairs=n, method=METHOD)
        return none, none
    means = [fmean(differences) for differences in orders]
    squares = sum((d - mean) ** 2 for group, mean in zip(orders, means, strict=True) for d in group)
    values = (means[0] + means[1]) / 2, (means[0] - means[1]) / 2
    if n < 3 or math.isclose(squares, 0.0, abs_tol=1e-18):
        why = THREE_NEEDED if n < 3 else NO_SPREAD
        bare = [Stat(value, n_items=n, n_pairs=n, method=METHOD, interval_reason=why) for value in values]
        return bare[0], bare[1]
    se = math.sqrt(squares / (n - 2)) / 2 * math.sqrt(sum(1 / len(group) for group in orders))
    return _with_interval(values[0], se, n), _with_interval(values[1], se, n)


def _with_interval(value: float, se: float, n: int) -> Stat:
    low, high = t_interval(value, se, n - 2)
    return Stat(value, n_items=n, n_pairs=n, low=low, high=high, method=METHOD, n_clusters=n)
