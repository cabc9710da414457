"""Coverage that a judge expects, beside what its labels are worth and what people say."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.correlation import moments, r_of_moments
from benchmarks.scoring.draws import Resampling
from benchmarks.scoring.formulas import COEFFICIENT, Figure
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.means import bootstrap_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Floats, cluster_index

N_PARTS = 10
PEARSON = Figure(
    "Pearson on the expected coverage",
    r_of_moments,
    "under 3 items, or one side is constant",
    COEFFICIENT,
    is_correlation=True,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Items of similar expectation: how many, and the means of what was expected and of what people say."""

    n: int
    expected: float
    human: float


@dataclass(frozen=True, slots=True)
class ExpectedFigures:
    """How well expectations do: their correlation with people, that of the labels, and the paired `gain`.

    `bias` is expected minus human coverage on average; `parts` are ten of equal size, by what was expected.
    """

    pearson: Stat
    label_pearson: Stat
    gain: Stat
    bias: Stat
    parts: tuple[Part, ...]


def expected_figures(
    expected: ArrayLike,
    by_label: ArrayLike,
    human: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> ExpectedFigures:
    """Compare expectations and labels, as numbers from 0 to 1 of shape (n,), with what people say on the items."""
    expectation, label, people = (np.asarray(side, dtype=np.float64) for side in (expected, by_label, human))
    n, numbers = len(people), cluster_index(clusters, len(people))
    batch = Batch(int(numbers.max(initial=-1)) + 1, resampling)
    estimates = [
        batch.estimate(PEARSON, [block])
        for block in [
            batch.add(moment_sums(people, side, numbers, batch.n_clusters)) for side in (expectation, label)
        ]
    ]
    return ExpectedFigures(
        pearson=estimates[0].stat(n_items=n),
        label_pearson=estimates[1].stat(n_items=n),
        gain=estimates[0].minus(estimates[1]).stat(n_items=n),
        bias=bootstrap_mean(expectation - people, clusters=clusters, resampling=resampling),
        parts=calibration(expectation, people),
    )


def moment_sums(first: Floats, second: Floats, clusters: ArrayLike, n_clusters: int) -> Floats:
    """Sums of moments by cluster, shape (n_clusters, 6), of the items that have both numbers (NaN: none).

    The numbers are from 0 to 1, so that the sums need no centring.
    """
    both = np.isfinite(first) & np.isfinite(second)
    sums = np.zeros((n_clusters, 6))
    np.add.at(sums, np.asarray(clusters)[both], moments(first[both], second[both]))
    return sums


def calibration(expected: ArrayLike, human: ArrayLike, *, n_parts: int = N_PARTS) -> tuple[Part, ...]:
    """Items in parts of equal size by expectation, the lowest first; fewer parts where there are fewer items."""
    expectation, people = np.asarray(expected, dtype=np.float64), np.asarray(human, dtype=np.float64)
    order = np.argsort(expectation, kind="stable")
    return tuple(
        Part(len(part), float(expectation[part].mean()), float(people[part].mean()))
        for part in np.array_split(order, n_parts)
        if len(part)
    )
