"""A mean of people's labels on all texts, of which they labelled some, with the help of a judge that saw all.

PPI++ (Angelopoulos, Duchi and Zrnic 2023) within strata, by cluster: the labelled mean plus λ times what the
judge's mean over all texts is above its mean over the labelled ones. λ is chosen to make the variance least: 0
where the judge does not go with people, towards 1 where it does. It is right on average if the labelled texts of
each stratum are a random draw, and only then.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.intervals import MIN_CLUSTERS
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval
from benchmarks.scoring.sums import Bools, Floats, Ints, cluster_index

METHOD = "labels plus λ times the judge's difference between all and labelled texts, by stratum"
NO_TEXTS, UNLABELLED = "no texts", "a stratum has no labelled text"
NO_FREEDOM = "no interval: as many strata as labelled clusters"


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a judge saw: its stratum and cluster, the judge's score, and people's where they labelled it."""

    stratum: Hashable
    cluster: Hashable
    judge: float
    human: float | None


@dataclass(frozen=True, slots=True)
class Powered:
    """The mean with its interval, its λ, and its standard error (None without an interval)."""

    mean: Stat
    weight: float | None
    se: float | None


@dataclass(frozen=True, slots=True)
class _Parts:
    """The labelled mean, what the judge adds, and the influence of each cluster on both, shape (clusters,)."""

    labelled: float
    added: float
    of_labelled: Floats
    of_added: Floats
    n_labelled_clusters: int
    n_strata: int


def powered_mean(texts: Sequence[Text], *, weight: float | None = None) -> Powered:
    """The mean over all texts as people would label them; `weight` fixes λ (0: labels alone, 1: the difference).

    The interval is by Student's t with the labelled clusters less the strata as degrees of freedom, and one less
    where λ was chosen between 0 and 1. None under five labelled clusters.
    """
    if not texts:
        return _undefined(NO_TEXTS)
    strata, clusters = (cluster_index([getattr(text, name) for text in texts], len(texts)) for name in _KEYS)
    human = np.array([math.nan if text.human is None else text.human for text in texts])
    is_labelled = np.isfinite(human)
    if (np.bincount(strata, weights=is_labelled) == 0).any():
        return _undefined(UNLABELLED)
    parts = _parts(np.array([text.judge for text in texts]), human, is_labelled, strata, clusters)
    best = _best_weight(parts)
    chosen = best if weight is None else weight
    value = parts.labelled + chosen * parts.added
    df = parts.n_labelled_clusters - parts.n_strata - int(weight is None and 0 < best < 1)
    n, n_clusters = int(is_labelled.sum()), parts.n_labelled_clusters
    if n_clusters < MIN_CLUSTERS or df < 1:
        reason = NO_FREEDOM if n_clusters >= MIN_CLUSTERS else f"no interval under {MIN_CLUSTERS} clusters"
        return Powered(
            Stat(value, n_items=n, n_clusters=n_clusters, method=METHOD, interval_reason=reason), chosen, None
        )
    influence = parts.of_labelled + chosen * parts.of_added
    se = math.sqrt(float(influence @ influence) * n_clusters / df)
    low, high = t_interval(value, se, df)
    return Powered(Stat(value, n_items=n, n_clusters=n_clusters, low=low, high=high, method=METHOD), chosen, se)


_KEYS = ("stratum", "cluster")


def _undefined(reason: str) -> Powered:
    return Powered(Stat.undefined(reason, method=METHOD), None, None)


def _parts(judge: Floats, human: Floats, is_labelled: Bools, strata: Ints, clusters: Ints) -> _Parts:
    n = np.bincount(strata)
    share, n_labelled = n / len(judge), np.bincount(strata, weights=is_labelled)
    mean_of_all = np.bincount(strata, weights=judge) / n
    of_labelled = strata[is_labelled]
    judged, labels = judge[is_labelled], human[is_labelled]
    mean_judged = np.bincount(of_labelled, weights=judged) / n_labelled
    mean_labels = np.bincount(of_labelled, weights=labels) / n_labelled
    weights = (share / n_labelled)[of_labelled]
    labelled_clusters, n_clusters = clusters[is_labelled], int(clusters.max()) + 1

    def over(keys: Ints, values: Floats) -> Floats:
        added: Floats = np.bincount(keys, weights=values, minlength=n_clusters).astype(np.float64)
        return added

    return _Parts(
        labelled=float(share @ mean_labels),
        added=float(share @ (mean_of_all - mean_judged)),
        of_labelled=over(labelled_clusters, weights * (labels - mean_labels[of_labelled])),
        of_added=over(clusters, (judge - mean_of_all[strata]) / len(judge))
        - over(labelled_clusters, weights * (judged - mean_judged[of_labelled])),
        n_labelled_clusters=len(np.unique(labelled_clusters)),
        n_strata=len(n),
    )


def _best_weight(parts: _Parts) -> float:
    """The λ of least variance, cut to 0 and 1."""
    spread = float(parts.of_added @ parts.of_added)
    if not spread:
        return 0.0
    return min(1.0, max(0.0, -float(parts.of_labelled @ parts.of_added) / spread))
