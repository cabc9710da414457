"""Ranks of systems with what is not known of them: who is level with the best, and how large a gap would show.

All pairs of systems are compared at once on the same subtopics. The largest difference that chance makes comes
from turning the signs of whole subtopics, with the standard errors of each turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.scoring.draws import DEFAULT
from benchmarks.scoring.sums import BadShape, Floats, Ints

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


def rank_intervals(scores: Floats, *, level: float = 0.95, seed: int = DEFAULT.seed) -> RankIntervals:
    """Compare systems by the means of their scores, shape (systems, subtopics), without gaps.

    Any difference at all is called wrongly in 1 − `level` of boards of equal systems. Differences count against
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
    threshold = _threshold(scores, level=level, seed=seed)
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
        gaps: Floats = means[:, first] - means[:, second]
        return gaps

    def mean_variance(self, gaps: Floats) -> Floats:
        """The mean over pairs of the variance of their difference, for gaps of shape (turns, pairs)."""
        squared = np.einsum("rp,rp->r", gaps, gaps)
        mean: Floats = np.maximum(self.squares.sum() - self.n * squared, 0.0) / (len(self.squares) * (self.n - 1))
        return mean

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


def _threshold(scores: Floats, *, level: float, seed: int) -> float:
    """The distance that the largest of all pairs exceeds in 1 − `level` of the turns."""
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
    return float(ordered[math.ceil(level * len(ordered)) - 1])
