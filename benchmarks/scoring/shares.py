"""Intervals of shares near 0 or 1 in clusters, where resampling sees too little of what is rare."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_quantile
from benchmarks.scoring.sums import Floats

RARE = 20
"""Hits, or misses, under which a share is rare."""
PRIOR_RHO, PRIOR_CLUSTERS = 0.2, 10
"""The correlation within clusters that is taken at an edge, and as how many clusters it counts elsewhere."""


def wilson_ends(share: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of `n` independent items, which may be a fraction."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(0.0, share * (1 - share)) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Rounding must not push an end past the share at 0/n and n/n.
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))


def unseen_hits(n_hits: int, n: int, n_others: int, *, level: float = 0.95) -> Stat:
    """Hits among the others, of whom `n` were drawn by lot and looked at; the hypergeometric test inverted."""
    if not n:
        return Stat.undefined("none was drawn", method="hypergeometric")
    if not n_others:
        return Stat(0.0, n_items=n, method="count", interval_reason="all were looked at")
    from scipy.stats import hypergeom

    total, possible = n + n_others, np.arange(n_hits, n_hits + n_others + 1)
    tail = (1 - level) / 2
    is_too_few = hypergeom.sf(n_hits - 1, total, possible, n) <= tail
    is_too_many = hypergeom.cdf(n_hits, total, possible, n) <= tail
    kept = possible[~is_too_few & ~is_too_many] - n_hits
    return Stat(
        n_others * n_hits / n,
        n_items=n,
        low=float(kept[0]),
        high=float(kept[-1]),
        method="hypergeometric interval",
    )


def effective_n(hits: Floats, sizes: Floats, *, level: float = 0.95) -> float:
    """As how many independent items those of clusters count, given their hits and sizes, shape (clusters,).

    The correlation within clusters is that of an analysis of variance, cut at 0 and drawn towards .2 as if ten
    more clusters said so; .2 where all are hits or all misses. Student's t replaces the normal distribution.
    """
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    total, n_clusters = float(sizes.sum()), len(sizes)
    estimated = _rho(hits, sizes)
    rho = PRIOR_RHO
    if estimated is not None:
        weight = n_clusters / (n_clusters + PRIOR_CLUSTERS)
        rho = weight * max(0.0, estimated) + (1 - weight) * PRIOR_RHO
    design = 1 + (float((sizes**2).sum()) / total - 1) * rho
    z = NormalDist().inv_cdf(0.5 + level / 2)
    # A design effect under 1, with clusters of less than one item, would count what is not there.
    return total / max(1.0, design) * (z / t_quantile(n_clusters - 1, level)) ** 2


def _rho(hits: Floats, sizes: Floats) -> float | None:
    """The intraclass correlation by analysis of variance, None where it has nothing to tell."""
    total, n_clusters = float(sizes.sum()), len(sizes)
    share = float(hits.sum()) / total
    if total <= n_clusters or not 0 < share < 1:
        return None if not 0 < share < 1 else 0.0
    shares = hits / sizes
    between = float((sizes * (shares - share) ** 2).sum()) / (n_clusters - 1)
    within = float((sizes * shares * (1 - shares)).sum()) / (total - n_clusters)
    usual = (total - float((sizes**2).sum()) / total) / (n_clusters - 1)
    whole = between + (usual - 1) * within
    return (between - within) / whole if whole > 0 else 1.0


def is_rare(hits: Floats, sizes: Floats) -> bool:
    """Whether under 20 items are hits, or under 20 are misses."""
    n_hits = float(hits.sum())
    return min(n_hits, float(sizes.sum()) - n_hits) < RARE


def share_ends(share: float, hits: Floats, sizes: Floats, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share in clusters with its effective number of items.

    It is never surer than it would be with none, or all, of the items hits.
    """
    low, high = wilson_ends(share, effective_n(hits, sizes, level=level), level=level)
    return within_edges(low, high, sizes, level=level)


def within_edges(low: float, high: float, sizes: Floats, *, level: float = 0.95) -> tuple[float, float]:
    """An interval whose lower end is not above that of all hits, nor its upper end under that of none."""
    n = effective_n(sizes, sizes, level=level)
    return min(low, wilson_ends(1.0, n, level=level)[0]), max(high, wilson_ends(0.0, n, level=level)[1])


def logit_ends(sums: Floats, sizes: Floats, *, level: float = 0.95) -> tuple[float, float]:
    """The interval of a mean of shares, given their sum and number in each cluster, on the scale of log odds.

    The standard error is the jackknife's over clusters, with Student's t.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    n = len(sums)
    value = float(sums.sum() / sizes.sum())
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    se = math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))
    half = t_quantile(n - 1, level) * se / (value * (1 - value))
    centre = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(-max(-700.0, min(700.0, end)))) for end in (centre - half, centre + half))
    return low, high


def minority(labels: Floats) -> Floats:
    """The share of labels outside the commonest category, for counts of shape (…, categories)."""
    total = labels.sum(axis=-1)
    other: Floats = np.divide(total - labels.max(axis=-1), total, out=np.zeros_like(total), where=total > 0)
    return other
