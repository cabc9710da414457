"""Spreads of many texts pooled into curves, compared, and set against scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.position.source import Ints
from benchmarks.scoring.position.spread import BINS, CELLS, SENTENCE_BINS, Spread

SIGNIFICANT = 0.05
MIN_POINTS = 3


@dataclass(frozen=True, slots=True)
class Curve:
    """Shares of the content of texts by bin of what they were shown; None where there is no content."""

    bins: tuple[float, ...] | None
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test with its p-value, or the reason why there is none."""

    value: float | None
    p: float | None
    n: int
    reason: str = ""

    @property
    def is_significant(self) -> bool:
        """Whether p is .05 or less."""
        return self.p is not None and self.p <= SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two distributions are apart, or the reason why that is not known."""

    value: float | None
    n: int
    reason: str = ""


def pooled_cells(spreads: Iterable[Spread]) -> Ints:
    """The cells of all texts added up."""
    rows = [spread.cells for spread in spreads]
    total: Ints = np.array(rows, dtype=np.int64).reshape(-1, CELLS).sum(axis=0)
    return total


def pair_curve(cells: Ints) -> Curve:
    """Shares of matched pairs of words in 20 bins of equal words."""
    return _curve(cells.reshape(BINS, -1).sum(axis=1))


def sentence_curve(spreads: Iterable[Spread]) -> Curve:
    """Shares of the sentences that texts follow in 10 bins of sentences."""
    rows = [spread.sentences for spread in spreads]
    return _curve(np.array(rows, dtype=np.int64).reshape(-1, SENTENCE_BINS).sum(axis=0))


def _curve(counts: Ints) -> Curve:
    n = int(counts.sum())
    return Curve(tuple((counts / n).tolist()) if n else None, n)


def kolmogorov_smirnov(first: Ints, second: Ints) -> Distance:
    """The largest distance of two cumulated distributions given as cells, thousandths of what was shown.

    It has no p-value: matches of one text are not independent, so a test that takes them so rejects too often.
    """
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return Distance(None, n, "no pair of words was found in the documents")
    return Distance(float(np.abs(np.cumsum(first) / n - np.cumsum(second) / m).max()), n)


def spearman(positions: Sequence[float | None], scores: Sequence[float | None]) -> Comparison:
    """Spearman's ρ of the mean position with a score, over texts that have both (section 3.3)."""
    from scipy.stats import spearmanr

    both = [(x, y) for x, y in zip(positions, scores, strict=True) if x is not None and y is not None]
    if len(both) < MIN_POINTS:
        return Comparison(None, None, len(both), f"under {MIN_POINTS} texts with both")
    xs, ys = zip(*both, strict=True)
    if len(set(xs)) == 1 or len(set(ys)) == 1:
        return Comparison(None, None, len(both), "one side is constant")
    correlation = spearmanr(xs, ys)
    return Comparison(float(correlation.statistic), float(correlation.pvalue), len(both))
