"""A judge's mean coverage of all summaries, corrected by what people say of a random part of them.

The difference estimator within strata (prediction-powered inference, Angelopoulos et al. 2023): from the judge's
mean over all summaries of a system its mean difference from people on the labelled ones is taken away. It is right
on average if the labelled summaries of each system are a random draw of those that the judge saw, and only then.
Over systems the corrections are weighted by how many summaries each has.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.formulas import SHARE, Figure
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.ppi import Text, powered_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Floats, cluster_index, divide, in_order_of_content

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

    `powered` is people's mean with the judge's help (`ppi`), by `weight` of the judge where it is defined.
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
    powered = powered_mean([_text(row) for row in rows])
    return Correction(raw, estimate.stat(n_items=n_labelled), n_labelled, powered.mean, powered.weight)


def _text(row: Judged) -> Text:
    return Text(row.system, row.cluster, row.score, None if row.difference is None else row.score - row.difference)


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
