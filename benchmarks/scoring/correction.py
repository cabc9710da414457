"""What people would say of all texts, of which they labelled a random part, with the help of a judge that saw all.

PPI++ (Angelopoulos, Duchi and Zrnic 2023) within strata, by cluster: the labelled mean plus λ times what the
judge's mean over all texts is above its mean over the labelled ones. λ is chosen to make the variance least: 0
where the judge does not go with people, towards 1 where it does. The difference estimator (Angelopoulos et al.
2023) takes the judge's mean difference from people on the labelled summaries of a system away from its mean over
all; over systems the corrections are weighted by how many summaries each has. Both are right on average if the
labelled texts of each stratum or system are a random draw of those that the judge saw, and only then.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmarks.scoring.formulas import SHARE, Figure, few, with_student
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    Floats,
    Ints,
    Resampling,
    cluster_index,
    divide,
    in_order_of_content,
    shared_draws,
)

POWERED = "labels plus λ times the judge's difference between all and labelled texts, by stratum"
NO_TEXTS, UNLABELLED = "no texts", "a stratum has no labelled text"
NO_FREEDOM = "no interval: as many strata as labelled clusters"


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a judge saw: its stratum and cluster, the judge's score, and people's where they labelled it."""

    stratum: Hashable
    cluster: Hashable
    judge: float
    human: float | None


class Powered(NamedTuple):
    """The mean with its interval, its λ, and its standard error (None without an interval)."""

    mean: Stat
    weight: float | None = None
    se: float | None = None


def powered_mean(texts: Sequence[Text], *, weight: float | None = None) -> Powered:
    """The mean over all texts as people would label them; `weight` fixes λ (0: labels alone, 1: the difference).

    The interval is by Student's t with the labelled clusters less the strata as degrees of freedom, and one less
    where λ was chosen between 0 and 1. None under five labelled clusters.
    """
    if not texts:
        return Powered(Stat.undefined(NO_TEXTS, method=POWERED))
    strata, clusters = (
        cluster_index([getattr(text, name) for text in texts], len(texts)) for name in ("stratum", "cluster")
    )
    judge = np.array([text.judge for text in texts])
    human = np.array([math.nan if text.human is None else text.human for text in texts])
    is_labelled = np.isfinite(human)
    n, n_labelled = np.bincount(strata), np.bincount(strata, weights=is_labelled)
    if (n_labelled == 0).any():
        return Powered(Stat.undefined(UNLABELLED, method=POWERED))
    share, of_labelled, their_clusters = n / len(judge), strata[is_labelled], clusters[is_labelled]
    mean_of_all = np.bincount(strata, weights=judge) / n
    weights = (share / n_labelled)[of_labelled]

    def over(keys: Ints, values: Floats) -> Floats:
        """The influence of each cluster, shape (clusters,)."""
        return np.bincount(keys, weights=values, minlength=int(clusters.max()) + 1).astype(np.float64)

    def on_labelled(values: Floats) -> tuple[Floats, Floats]:
        means = np.bincount(of_labelled, weights=values) / n_labelled
        return means, over(their_clusters, weights * (values - means[of_labelled]))

    mean_labels, of_labels = on_labelled(human[is_labelled])
    mean_judged, of_judged = on_labelled(judge[is_labelled])
    of_added = over(clusters, (judge - mean_of_all[strata]) / len(judge)) - of_judged
    spread = float(of_added @ of_added)
    best = min(1.0, max(0.0, -float(of_labels @ of_added) / spread)) if spread else 0.0
    chosen = best if weight is None else weight
    value = float(share @ mean_labels) + chosen * float(share @ (mean_of_all - mean_judged))
    n_clusters = len(np.unique(their_clusters))
    stat = Stat(value, n_items=int(is_labelled.sum()), n_clusters=n_clusters, method=POWERED)
    df = n_clusters - len(n) - int(weight is None and 0 < best < 1)
    if reason := few(n_clusters) or (NO_FREEDOM if df < 1 else ""):
        return Powered(replace(stat, interval_reason=reason), chosen)
    influence = of_labels + chosen * of_added
    se = math.sqrt(float(influence @ influence) * n_clusters / df)
    return Powered(with_student(stat, se, df), chosen, se)


NOT_RANDOM = "the labelled summaries are not known to be a random draw"
NOT_JUDGED = "the judge saw none of these summaries"
NOT_LABELLED = "no summary has labels by people"
ALL_LABELLED = "the judge saw no summary beyond those that people labelled"
RAW = "mean over all judged summaries"
METHOD = f"{RAW}, less judge minus human on the labelled ones, by system"


@dataclass(frozen=True, slots=True)
class Judged:
    """A summary that a judge saw: its mean coverage, 0 to 1, and judge minus human where people labelled it."""

    system: str
    cluster: Hashable
    score: float
    difference: float | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A judge's mean of `raw.n_items` summaries, as it is and corrected; people labelled `n_labelled` of them.

    `powered` is people's mean with the judge's help (PPI++), by `weight` of the judge where it is defined.
    """

    raw: Stat
    corrected: Stat
    n_labelled: int
    powered: Stat
    weight: float | None = None


def correct(
    rows: Sequence[Judged], *, is_random: bool, resampling: Resampling | None = DEFAULT
) -> tuple[Correction, Mapping[str, Correction]]:
    """Over all systems, and by system; undefined where labels are not a random draw, or a system has none.

    Intervals count the clusters with labels, of which there are fewest.
    """
    systems = sorted({row.system for row in rows})
    if not rows:
        none = Stat.undefined(NOT_JUDGED, method=METHOD)
        return Correction(none, none, 0, none), {}
    sums = _sums(rows, systems)
    with shared_draws():
        batch = Batch(len(sums), resampling)
        blocks = [batch.add(sums[:, at : at + WIDTH]) for at in range(0, sums.shape[1], WIDTH)]
        all_of_them = batch.add(sums)
        by_system = {
            name: _correction(batch, block, [row for row in rows if row.system == name], is_random=is_random)
            for name, block in zip(systems, blocks, strict=True)
        }
        return _correction(batch, all_of_them, rows, is_random=is_random), by_system


WIDTH = 4
"""Sums of a system: score, summaries, difference, labelled summaries."""


def _sums(rows: Sequence[Judged], systems: Sequence[str]) -> Floats:
    """Shape (clusters, systems × WIDTH)."""
    clusters = cluster_index([row.cluster for row in rows], len(rows))
    column = {system: at for at, system in enumerate(systems)}
    sums = np.zeros((int(clusters.max()) + 1, len(systems), WIDTH))
    values = [
        (row.score, 1.0, 0.0, 0.0) if row.difference is None else (row.score, 1.0, row.difference, 1.0)
        for row in rows
    ]
    np.add.at(sums, (clusters, np.array([column[row.system] for row in rows])), np.array(values))
    return in_order_of_content(sums.reshape(len(sums), -1))


def _correction(batch: Batch, block: int, rows: Sequence[Judged], *, is_random: bool) -> Correction:
    sums = batch.blocks[block]
    of_systems, labelled = sums[:, 1::WIDTH].sum(axis=0), sums[:, 3::WIDTH].sum(axis=0)
    n, n_labelled = int(of_systems.sum()), int(labelled.sum())
    raw = batch.estimate(Figure(RAW, _raw, NOT_JUDGED, SHARE), [block]).stat(n_items=n)
    n_without = int((labelled == 0).sum())
    if reason := _reason(n, n_labelled, n_without, len(labelled), is_random=is_random):
        undefined = Stat.undefined(reason, n_items=n_labelled, method=METHOD)
        return Correction(raw, undefined, n_labelled, undefined)
    n_clusters = int((sums[:, 3::WIDTH] > 0).any(axis=1).sum())
    estimate = batch.estimate(Figure(METHOD, _corrected, NOT_LABELLED), [block], n_clusters=n_clusters)
    texts = [
        Text(row.system, row.cluster, row.score, None if row.difference is None else row.score - row.difference)
        for row in rows
    ]
    powered, weight, _se = powered_mean(texts)
    return Correction(raw, estimate.stat(n_items=n_labelled), n_labelled, powered, weight)


def _reason(n: int, n_labelled: int, n_without: int, n_systems: int, *, is_random: bool) -> str:
    if not n_labelled:
        return NOT_LABELLED
    if n_labelled == n:
        return ALL_LABELLED
    if not is_random:
        return NOT_RANDOM
    return f"{n_without} of {n_systems} systems have no labelled summary" if n_without else ""


def _raw(totals: Floats) -> Floats:
    return divide(totals[:, 0::WIDTH].sum(axis=1), totals[:, 1::WIDTH].sum(axis=1))


def _corrected(totals: Floats) -> Floats:
    """The raw mean less the mean difference of each system, weighted by its summaries.

    In a resample that has no labelled summary of a system, the difference over the others stands in for its own.
    """
    n, difference, labelled = (totals[:, at::WIDTH] for at in (1, 2, 3))
    over_all = divide(difference.sum(axis=1), labelled.sum(axis=1))[:, None]
    rates = np.where(labelled > 0, divide(difference, labelled), over_all)
    return _raw(totals) - divide((n * rates).sum(axis=1), n.sum(axis=1))
