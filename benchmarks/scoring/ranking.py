"""Pearson's correlation of two columns; how alike two judges rank systems, and which ranks systems may have.

Of rankings a figure is a formula of sums over clusters: for each of `width` systems the sum of its values by the
first judge, then by the second, then how many values there are, so totals have the shape (resamples, 3 × width).

For ranks with what is not known of them all pairs of systems are compared at once on the same subtopics. The
largest difference that chance makes comes from turning the signs of whole subtopics, with the standard errors of
each turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.formulas import COEFFICIENT, Figure
from benchmarks.scoring.intervals import Batch, figure_of
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    LEVEL,
    BadShape,
    Bools,
    Floats,
    Ints,
    Resampling,
    divide,
    in_order_of_content,
)

MIN_POINTS = 3
_NOISE = 1e-12
"""A variance this small beside the squared values is rounding: the column is constant."""


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Pearson's r of two arrays of shape (n,)."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise BadShape(f"columns of shape {first.shape} and {second.shape}")
    n = len(first)
    if n < MIN_POINTS:
        return Stat.undefined(f"under {MIN_POINTS} items", n_items=n, method="Pearson")
    figure = Figure("Pearson", r_of_moments, "one side is constant", COEFFICIENT)
    if not np.ptp(first) or not np.ptp(second):
        return Stat.undefined(figure.reason, n_items=n, method=figure.method)
    rows = moments(first - first.mean(), second - second.mean())
    return figure_of(figure, rows, clusters=clusters, n_items=n, resampling=resampling)


def moments(x: Floats, y: Floats) -> Floats:
    """Rows (1, x, y, x², y², xy), whose sums give r."""
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def r_of_moments(totals: Floats) -> Floats:
    """Pearson's r from sums of moments, shape (resamples, 6); NaN under 3 points or for a constant side."""
    n, x, y, xx, yy, xy = totals.T
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    is_defined = (n >= MIN_POINTS) & (spread_x > _NOISE * n * xx) & (spread_y > _NOISE * n * yy)
    scale = np.sqrt(np.where(is_defined, spread_x, 0.0)) * np.sqrt(np.where(is_defined, spread_y, 0.0))
    return np.clip(divide(n * xy - x * y, scale), -1.0, 1.0)


MIN_SYSTEMS = 3
ALL_LEVEL = "all systems are level on one side"
TOO_CLOSE = "too few clusters to tell these systems apart"
MOST_TURNED = 0.15
"""Share of the pairs of systems that resamples may turn over; above it intervals miss the truth too often."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Two judges on the same answers of systems.

    `means` has (mean by the first, mean by the second, answers) of each system that both judged; `swapped` are
    the pairs of systems that the first ranks one way round and the second the other, the first's better one first.
    """

    means: Mapping[str, tuple[float, float, int]]
    swapped: tuple[tuple[str, str], ...]
    kendall: Stat
    spearman: Stat


def rank_agreement(
    first: ArrayLike, second: ArrayLike, *, systems: Sequence[str], resampling: Resampling | None = DEFAULT
) -> RankAgreement:
    """Compare values of shape (questions, systems), NaN where there is none; intervals resample questions.

    A mean takes the answers that both judges gave a value.
    """
    ours, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if ours.shape != theirs.shape or ours.ndim != 2 or ours.shape[1] != len(systems):
        raise BadShape(f"values of shape {ours.shape} and {theirs.shape} for {len(systems)} systems")
    both = np.isfinite(ours) & np.isfinite(theirs)
    known: Bools = np.asarray(both.any(axis=0))
    names = [name for name, keep in zip(systems, known, strict=True) if keep]
    ours, theirs, both = ours[:, known], theirs[:, known], both[:, known]
    sums = np.hstack([np.where(both, ours, 0.0), np.where(both, theirs, 0.0), both.astype(np.float64)])
    sums = sums[both.any(axis=1)]
    width = len(names)
    counts = both.sum(axis=0)
    means = [side[0] for side in _means(sums.sum(axis=0)[None, :], width)]
    return RankAgreement(
        means={name: (float(means[0][at]), float(means[1][at]), int(counts[at])) for at, name in enumerate(names)},
        swapped=_swapped(names, *means),
        kendall=rank_stat(kendall_figure("Kendall's tau-b of systems' means", width), sums, resampling=resampling),
        spearman=rank_stat(
            _of_ranks("Spearman's rho of systems' means", width, _mean_ranks), sums, resampling=resampling
        ),
    )


def kendall_figure(method: str, width: int) -> Figure:
    """Kendall's tau-b of `width` systems' means, as `rank_stat` takes it."""
    first, other = np.triu_indices(width, 1)

    def orders(means: Floats) -> Floats:
        return _order(means[:, first] - means[:, other])

    return _of_ranks(method, width, orders)


def _of_ranks(method: str, width: int, ranks: Callable[[Floats], Floats]) -> Figure:
    """The uncentred correlation of what `ranks` gives of both sides' means."""

    def formula(totals: Floats) -> Floats:
        x, y = (ranks(side) for side in _means(totals, width))
        return divide((x * y).sum(axis=1), np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1)))

    return Figure(method, formula, ALL_LEVEL, COEFFICIENT, is_attenuated=True)


def _mean_ranks(means: Floats) -> Floats:
    """Systems below minus systems above: twice the distance of a rank from the middle one; ties share theirs."""
    return _order(means[:, :, None] - means[:, None, :]).sum(axis=2)


def _means(totals: Floats, width: int) -> tuple[Floats, Floats]:
    """The systems' means by both judges, each of shape (resamples, width)."""
    counts = totals[:, 2 * width :]
    return divide(totals[:, :width], counts), divide(totals[:, width : 2 * width], counts)


def _order(differences: Floats) -> Floats:
    """1, 0 or −1; 0 also for rounding noise and where a system was not drawn."""
    known = np.where(np.isfinite(differences), differences, 0.0)
    return np.sign(np.where(np.abs(known) > 1e-12, known, 0.0))


def rank_stat(figure: Figure, sums: Floats, *, resampling: Resampling | None = DEFAULT) -> Stat:
    """A rank correlation of sums by cluster, shape (clusters, 3 × systems).

    It has no interval where systems are so close that resampling turns over many of their pairs: the correlation
    is then pulled to 0 so far that no bootstrap holds the truth often enough.
    """
    width = sums.shape[1] // 3
    if width < MIN_SYSTEMS:
        return Stat.undefined(f"under {MIN_SYSTEMS} systems that both judged", n_items=width, method=figure.method)
    batch = Batch(len(sums), resampling)
    block = batch.add(in_order_of_content(sums))
    stat = batch.estimate(figure, [block]).stat(n_items=width)
    if stat.low is None or _share_turned(batch, block, width) <= MOST_TURNED:
        return stat
    return replace(stat, low=None, high=None, seed=None, n_resamples=None, interval_reason=TOO_CLOSE)


def _share_turned(batch: Batch, block: int, width: int) -> float:
    """Of the pairs of systems, the share whose order a resample changes, by the judge by whom there are more."""
    first, other = np.triu_indices(width, 1)
    shares = []
    for drawn, known in zip(_means(batch.drawn(block), width), _means(batch.total(block), width), strict=True):
        orders = [_order(side[:, first] - side[:, other]) for side in (drawn, known)]
        shares.append(float((orders[0] != orders[1]).mean()))
    return max(shares)


def _swapped(names: Sequence[str], first: Floats, second: Floats) -> tuple[tuple[str, str], ...]:
    x, y = (_order(side[:, None] - side[None, :]) for side in (first, second))
    return tuple((names[a], names[b]) for a, b in np.argwhere((x > 0) & (y < 0)).tolist())


MIN_SUBTOPICS = 5
FLIPS = 2_000
"""Turns of the signs of subtopics: all of them up to so many, else so many by lot."""
PRIOR = 20
"""As how many subtopics the mean variance of all pairs counts for each pair."""
POWER = 0.84
"""Standard errors above the threshold at which 80 of 100 gaps are found."""
TOO_FEW = f"no ranks under {MIN_SUBTOPICS} subtopics"
_CELLS = 200_000
"""Pairs of systems and turns held at once."""


@dataclass(frozen=True, slots=True)
class RankInterval:
    """The rank of a system among others, the ranks that it may have, and whether it may be the best.

    The last three are None where systems cannot be compared.
    """

    rank: int
    low: int | None = None
    high: int | None = None
    is_level: bool | None = None


@dataclass(frozen=True, slots=True)
class RankIntervals:
    """The rank interval of each system in the order of the scores, on `n_subtopics`.

    `threshold` is how many standard errors two systems must be apart. A gap of `detectable` is found in 80 of 100
    comparisons of two systems of average variance. Both are None, with the reason, where nothing can be compared.
    """

    systems: tuple[RankInterval, ...]
    n_subtopics: int
    threshold: float | None
    detectable: float | None
    reason: str = ""


def rank_intervals(scores: Floats, *, seed: int = DEFAULT.seed) -> RankIntervals:
    """Compare systems by the means of their scores, shape (systems, subtopics), without gaps.

    Any difference at all is called wrongly in 5 of 100 boards of equal systems. Differences count against
    standard errors that lean on the mean variance of all pairs.
    """
    n_systems, n = scores.shape
    if not np.isfinite(scores).all():
        raise BadShape("every system needs a score on every subtopic")
    means = scores.mean(axis=1)
    ranks = 1 + (means[None, :] > means[:, None]).sum(axis=1)
    if n < MIN_SUBTOPICS or n_systems < 2:
        plain = tuple(RankInterval(rank) for rank in ranks.tolist())
        return RankIntervals(plain, n, None, None, TOO_FEW if n < MIN_SUBTOPICS else "a single system")
    pairs = _Pairs.of(scores)
    gaps = pairs.gaps(means[None])
    threshold = _threshold(scores, seed=seed)
    is_apart = pairs.distances(gaps)[0] > threshold
    first_wins = gaps[0] > 0
    better, worse = (np.where(first_wins, *sides)[is_apart] for sides in (pairs.sides, pairs.sides[::-1]))
    n_better, n_worse = (np.bincount(who, minlength=n_systems).tolist() for who in (worse, better))
    ranked = tuple(
        RankInterval(rank, 1 + above, n_systems - below, is_level=above == 0)
        for rank, above, below in zip(ranks.tolist(), n_better, n_worse, strict=True)
    )
    variance = float(pairs.mean_variance(gaps)[0])
    return RankIntervals(ranked, n, threshold, (threshold + POWER) * math.sqrt(variance / n))


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Every two systems, and the sums over `n` subtopics of their squared differences, which no turn changes.

    `sides` are the numbers of the first and the second, both of shape (pairs,), as `squares` is.
    """

    sides: tuple[Ints, Ints]
    squares: Floats
    n: int

    @classmethod
    def of(cls, scores: Floats) -> _Pairs:
        first, second = np.triu_indices(len(scores), 1)
        centred = scores - scores.mean(axis=0)
        products = centred @ centred.T
        variances = np.diag(products)
        squares = np.maximum(variances[first] + variances[second] - 2 * products[first, second], 0.0)
        return cls((first, second), squares, scores.shape[1])

    def gaps(self, means: Floats) -> Floats:
        """Differences of means of shape (turns, systems): shape (turns, pairs)."""
        first, second = self.sides
        return means[:, first] - means[:, second]

    def mean_variance(self, gaps: Floats) -> Floats:
        """The mean over pairs of the variance of their difference, for gaps of shape (turns, pairs)."""
        squared = np.einsum("rp,rp->r", gaps, gaps)
        return np.maximum(self.squares.sum() - self.n * squared, 0.0) / (len(self.squares) * (self.n - 1))

    def distances(self, gaps: Floats) -> Floats:
        """Gaps in standard errors, without a sign, shape (turns, pairs)."""
        leaning = PRIOR * self.mean_variance(gaps)[:, None]
        statistic = gaps * gaps
        statistic *= self.n
        variance = np.maximum(self.squares - statistic, 0.0)
        variance += leaning
        # Without any variance at all there is no gap on any turn either.
        np.divide(statistic, variance, out=statistic, where=variance > 0)
        statistic *= PRIOR - 1 + self.n
        return np.sqrt(statistic, out=statistic)


def _threshold(scores: Floats, *, seed: int) -> float:
    """The distance that the largest of all pairs exceeds in 5 of 100 turns."""
    n = scores.shape[1]
    residuals = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    # In the order of what subtopics hold, so that the same scores have the same draws.
    residuals = residuals[:, np.lexsort(np.sort(scores, axis=0))]
    pairs = _Pairs.of(residuals)
    if 2**n <= FLIPS:
        signs = np.array(list(product((-1.0, 1.0), repeat=n)))
    else:
        signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(FLIPS, n))
    means = signs @ residuals.T / n
    step = max(1, _CELLS // len(pairs.squares))
    parts = [means[start : start + step] for start in range(0, len(means), step)]
    ordered = np.sort(np.concatenate([pairs.distances(pairs.gaps(part)).max(axis=1) for part in parts]))
    return float(ordered[math.ceil(LEVEL * len(ordered)) - 1])
