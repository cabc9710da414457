"""How wide an interval will be with more people or more items, from the variances that a pilot shows.

A figure over people and items has three sources of chance: who the people are, what the items are, and the rest.
Its error falls with people, with items and with both (generalizability theory: Brennan 2001). A pilot knows these
variances roughly, so that every width comes with the range that the pilot leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.scoring.components import Components, satterthwaite
from benchmarks.scoring.formulas import Error
from benchmarks.scoring.sums import DEFAULT, BadShape, Floats, t_quantile

ALIKE = 0.2
"""How alike items of a cluster are taken to be where nothing says it: an intraclass correlation."""
PILOT_LEVEL = 0.8
"""How often the range of a width holds what will come."""
_DRAWS, MOST_ITEMS = 2_000, 10_000


@dataclass(frozen=True, slots=True)
class Variances:
    """Variances of people, items and the rest, for one person and one item, in squares of the figure's unit.

    With `people` None the people are given and not a sample: only `items` count, however many people there are.
    `n_people` and `n_items` are those of the pilot, `n_cells` how many of their crossings it has, by default all.
    """

    people: float | None
    items: float
    rest: float
    n_people: int
    n_items: int
    n_cells: int | None = None

    @property
    def filled(self) -> float:
        """The share of people times items that the pilot has."""
        return 1.0 if self.n_cells is None else self.n_cells / (self.n_people * self.n_items)


def variances_of_mean(components: Components) -> Variances:
    """Those behind a mean over writers and subtopics."""
    return Variances(
        components.writers,
        components.subtopics,
        components.rest,
        components.n_writers,
        components.n_subtopics,
        components.n_cells,
    )


def variances_of_error(error: Error, *, n_people: int, n_clusters: int) -> Variances:
    """Those behind a figure of agreement with a double jackknife over annotators and clusters."""
    shared = error.of_both
    return Variances(
        people=n_people * max(0.0, error.of_people - shared),
        items=n_clusters * max(0.0, error.of_clusters - shared),
        rest=n_people * n_clusters * shared,
        n_people=n_people,
        n_items=n_clusters,
    )


def variances_of_agreement(percent: float, *, q: int, size: float = 1.0, alike: float = ALIKE) -> Variances:
    """Those behind Randolph's kappa of two given people who agree on a share of the items, in q categories.

    Each cluster has `size` items, which agree alike with the intraclass correlation `alike`.
    """
    of_item = percent * (1 - percent) / (1 - 1 / q) ** 2
    return Variances(None, of_item * _share_of_cluster(size, alike), 0.0, 2, 0)


def variances_of_share(hits: Floats, counts: Floats) -> Variances | None:
    """Those behind Σ hits / Σ counts by clusters, of given people; None where fewer than two count anything."""
    n, total = len(counts), float(counts.sum())
    if (counts > 0).sum() < 2:
        return None
    off = (hits - hits.sum() / total * counts) / total
    return Variances(None, n * n / (n - 1) * float((off**2).sum()), 0.0, 2, n)


def of_given_people(known: Variances, *, n_each: float) -> Variances:
    """The same where people are no sample: what is left of them is part of items, with `n_each` on each."""
    if known.people is None:
        return known
    return Variances(None, known.items + known.rest / max(1.0, n_each), 0.0, known.n_people, known.n_items)


def resized(known: Variances, *, before: float, size: float, alike: float = ALIKE) -> Variances:
    """The same with `size` items in each cluster, in place of as many as `before`."""
    factor = _share_of_cluster(size, alike) / _share_of_cluster(before, alike)
    return replace(known, items=known.items * factor, rest=known.rest * factor)


def _share_of_cluster(size: float, alike: float) -> float:
    """The variance of the mean of a cluster, as a share of that of one item."""
    return (1 + (size - 1) * alike) / size


def expected_width(known: Variances, *, n_people: int, n_items: int, n_each: int | None = None) -> float:
    """How wide the interval will be on average with so many people, `n_each` of them on each of the items.

    By default as large a share of them as in the pilot.

    Raises:
        BadShape: fewer than two items, or fewer than two people where they are a sample.
    """
    if n_items < 2 or (known.people is not None and n_people < 2):
        raise BadShape(f"{n_people} people on {n_items} items leave nothing to compare")
    if known.people is None:
        return _width(known.items / n_items, n_items - 1.0)
    n_cells = n_items * (n_people * known.filled if n_each is None else min(n_each, n_people))
    n_cells = max(n_cells, n_people, n_items)
    shares = 1 / n_people, 1 / n_items, 1 / n_cells
    variances = known.people, known.items, known.rest
    v = sum(share * variance for share, variance in zip(shares, variances, strict=True))
    if v <= 0:
        return 0.0
    df = max(satterthwaite(v, shares, variances, round(n_cells)), min(n_people, n_items) - 1.0)
    return _width(v, df)


def _width(v: float, df: float) -> float:
    """The mean width: an estimated standard error is too small on average, by c4."""
    c4 = math.sqrt(2 / df) * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2))
    return 2 * t_quantile(df) * c4 * math.sqrt(v)


@dataclass(frozen=True, slots=True)
class Width:
    """The expected width of an interval, and the range that the pilot leaves open (80 %)."""

    n_people: int
    n_items: int
    expected: float
    low: float
    high: float


def widths(known: Variances, designs: Sequence[tuple[int, int]], *, seed: int = DEFAULT.seed) -> tuple[Width, ...]:
    """The width at each design, (people, items), with its range.

    The range comes from variances that could have given the pilot's: each mean square over a drawn chi-square.
    """
    possible = _possible(known, seed)
    widths = []
    for n_people, n_items in designs:
        drawn = [expected_width(variances, n_people=n_people, n_items=n_items) for variances in possible]
        low, high = np.quantile(drawn, [(1 - PILOT_LEVEL) / 2, (1 + PILOT_LEVEL) / 2]).tolist()
        expected = expected_width(known, n_people=n_people, n_items=n_items)
        widths.append(Width(n_people, n_items, expected, min(low, expected), max(high, expected)))
    return tuple(widths)


def _possible(known: Variances, seed: int) -> list[Variances]:
    """Variances that could have given the pilot's, by chi-square draws of its mean squares."""
    rng = np.random.default_rng(seed)
    p, i = known.n_people, known.n_items

    def drawn(square: float, df: int) -> Floats:
        return np.asarray(square * max(1, df) / rng.chisquare(max(1, df), _DRAWS))

    if known.people is None:
        return [Variances(None, float(items), 0.0, p, i) for items in drawn(known.items, i - 1)]
    n_cells = p * i if known.n_cells is None else known.n_cells
    of_person, of_item = n_cells / p, n_cells / i
    rest = drawn(known.rest, n_cells - p - i + 1)
    people = np.maximum(0.0, drawn(of_person * known.people + known.rest, p - 1) - rest) / of_person
    items = np.maximum(0.0, drawn(of_item * known.items + known.rest, i - 1) - rest) / of_item
    return [
        Variances(float(a), float(b), float(c), p, i, known.n_cells)
        for a, b, c in zip(people, items, rest, strict=True)
    ]


def items_for(known: Variances, *, width: float, n_people: int) -> int | None:
    """The least number of items at which the interval is expected to be so narrow; None beyond 10,000.

    People who are a sample bring a width of their own, which no number of items makes smaller.
    """

    def is_enough(n: int) -> bool:
        return expected_width(known, n_people=n_people, n_items=n) <= width

    low, high = 1, 2
    while not is_enough(high):
        if high >= MOST_ITEMS:
            return None
        low, high = high, min(2 * high, MOST_ITEMS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def effective_votes(n_judges: int, mean_correlation: float) -> float:
    """As how many judges with independent errors a jury counts, by the mean correlation of their errors.

    At most as many as there are, also where errors happen to cancel out.
    """
    if n_judges < 1:
        raise BadShape("a jury needs a judge")
    return min(float(n_judges), n_judges / (1 + (n_judges - 1) * max(0.0, mean_correlation)))
