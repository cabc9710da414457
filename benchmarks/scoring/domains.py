"""Whether a judge is kinder or stricter in some domains: the bias of each, minus that of the others, and one test.

Interaction of judge and domain in the licence of a judge: a figure without a threshold, since few studies have
more than two or three domains.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.scoring.draws import DEFAULT
from benchmarks.scoring.intervals import MIN_CLUSTERS, SAME
from benchmarks.scoring.licence import Compared, Table, why_too_little
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval
from benchmarks.scoring.sums import Floats, Ints

BIAS = "judge minus people, mean over the domain's subtopics, Student's t"
TO_OTHERS = "bias in the domain minus bias in the others, Welch's t over subtopics"
ONE_DOMAIN = "all subtopics are of one domain"
LEAST_OF_A_SIDE = 2
"""Subtopics of a domain, and of the others, that a difference needs for an interval."""
N_PERMUTATIONS = 9_999


@dataclass(frozen=True, slots=True)
class DomainBias:
    """A judge's bias in a domain, and that minus its bias in the others, −1 to 1."""

    domain: str
    bias: Stat
    to_others: Stat


@dataclass(frozen=True, slots=True)
class Interaction:
    """Biases by domain. `p` is how often domains would differ as much by chance; None with a reason."""

    by_domain: tuple[DomainBias, ...]
    p: float | None
    reason: str = ""


def interaction(
    rows: Sequence[Compared], domains: Mapping[Hashable, str], *, seed: int = DEFAULT.seed
) -> Interaction:
    """Compare a judge's bias between domains; each subtopic is of one of them.

    The bias of a subtopic is its mean over systems, by an additive model where systems lack subtopics. The test
    deals the subtopics out to the domains by lot, and counts how often their biases spread as much.
    """
    table = Table.of(rows)
    if why := why_too_little(table):
        return Interaction((), None, why)
    values = table.subtopic_means(table.judge - table.people)
    names = sorted({domains[subtopic] for subtopic in table.subtopics})
    of = np.array([names.index(domains[subtopic]) for subtopic in table.subtopics])
    by_domain = tuple(
        DomainBias(name, _mean(values[of == at]), _difference(values[of == at], values[of != at]))
        for at, name in enumerate(names)
    )
    if len(names) < 2:
        return Interaction(by_domain, None, ONE_DOMAIN)
    return Interaction(by_domain, _p(values, of, seed))


def _mean(values: Floats) -> Stat:
    n = len(values)
    stat = Stat(float(values.mean()), n_items=n, n_clusters=n, method=BIAS)
    if n < MIN_CLUSTERS:
        return replace(stat, interval_reason=f"no interval under {MIN_CLUSTERS} clusters")
    se = float(values.std(ddof=1)) / math.sqrt(n)
    low, high = t_interval(float(values.mean()), se, n - 1)
    return replace(stat, low=max(-1.0, low), high=min(1.0, high))


def _difference(ours: Floats, others: Floats) -> Stat:
    """By Welch: the two sides may vary differently, and have as many subtopics as there are."""
    n = len(ours) + len(others)
    if not len(others):
        return Stat.undefined(ONE_DOMAIN, method=TO_OTHERS)
    value = float(ours.mean() - others.mean())
    stat = Stat(value, n_items=n, n_clusters=n, method=TO_OTHERS)
    sizes = [len(ours), len(others)]
    if min(sizes) < LEAST_OF_A_SIDE or n < MIN_CLUSTERS:
        return replace(stat, interval_reason=f"no interval under {LEAST_OF_A_SIDE} subtopics of a side")
    parts = [float(side.var(ddof=1)) / len(side) for side in (ours, others)]
    total = sum(parts)
    if total < SAME**2:
        return replace(stat, interval_reason="the same in every subtopic of a side")
    df = total**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    low, high = t_interval(value, math.sqrt(total), df)
    return replace(stat, low=max(-2.0, low), high=min(2.0, high))


def _p(values: Floats, of: Ints, seed: int) -> float:
    """How often domains spread as much when subtopics are dealt out to them by lot: (1 + hits) / (1 + draws)."""
    order = np.lexsort((values, of))  # the same figures have the same draws
    values, of = values[order] - values.mean(), of[order]
    member = (of[:, None] == np.arange(of.max() + 1)).astype(np.float64)
    sizes = member.sum(axis=0)
    rng = np.random.default_rng(seed)
    dealt = rng.permuted(np.tile(values, (N_PERMUTATIONS, 1)), axis=1)
    spread, observed = (((rows @ member) ** 2 / sizes).sum(axis=-1) for rows in (dealt, values))
    return float((1 + (spread >= observed - SAME).sum()) / (1 + N_PERMUTATIONS))
