"""The one engine behind every figure and its interval.

A figure is a formula over sums. Rows are added up within clusters, since clusters (summaries, subtopics,
questions) share chance; whole clusters are then drawn with replacement, and the formula is computed anew on
every draw. A `Batch` draws many sums together, so that figures can be subtracted draw by draw (paired) and
hundreds of intervals cost little more than one. `Estimate.stat` is the only place that makes an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.draws import DEFAULT, People, Resampling, draws, percentiles
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    BadShape,
    Floats,
    divide,
    in_order_of_content,
    mean_of_defined,
    ratio,
    sum_by_cluster,
)

Formula = Callable[[Floats], Floats]
"""From totals of shape (resamples, sums) to values of shape (resamples,), NaN where undefined."""

MIN_ITEMS = 4
MIN_CLUSTERS = 5
MIN_PEOPLE = 5
"""Annotators that can be resampled."""
SHARE, COEFFICIENT = (0.0, 1.0), (-1.0, 1.0)
"""Bounds of shares, and of correlations and kappas."""
SAME = 1e-12
MIN_DEFINED = 0.9
"""Share of resamples that must have a value; below it the percentiles would describe a lucky part."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """How a figure is computed from totals, what this is called, and why it may be undefined.

    `bounds` are the least and the greatest value it can have, None where there are none: an interval at a bound
    is made from them when the figure is the same in every resample. `is_attenuated` where chance in the items
    pulls the figure towards 0, and resampling does so once more: the interval then also takes in the percentiles
    mirrored at the value (the basic bootstrap), which errs the other way.
    """

    method: str
    formula: Formula
    reason: str
    bounds: tuple[float, float] | None = None
    is_attenuated: bool = False

    def __call__(self, totals: Floats) -> Floats:
        """The value for each row of totals."""
        return self.formula(totals)


@dataclass(frozen=True, slots=True, eq=False)
class Rate(Figure):
    """A share of hits; `hits` and `among` are the weights of the sums that are its numerator and denominator."""

    hits: Floats = field(kw_only=True)
    among: Floats = field(kw_only=True)

    @classmethod
    def of(cls, method: str, reason: str, *, hits: ArrayLike = (1, 0), among: ArrayLike = (0, 1)) -> Rate:
        """A rate by its weights; by default of sums that are (hits, n)."""
        above, below = np.asarray(hits, dtype=np.float64), np.asarray(among, dtype=np.float64)

        def formula(totals: Floats) -> Floats:
            return divide(totals @ above, totals @ below)

        return cls(method, formula, reason, SHARE, hits=above, among=below)

    def counts(self, totals: Floats) -> tuple[int, int]:
        """Hits and n of totals of shape (1, sums)."""
        return round(float((totals @ self.hits)[0])), round(float((totals @ self.among)[0]))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure on the data, and on every resample once somebody asks for it.

    `value` is NaN where undefined; `n_clusters` are the clusters behind it, `counts` hits and n of a rate;
    `n_people` are the annotators that were drawn, None where none were.
    """

    method: str
    reason: str
    value: float
    draw: Callable[[], Floats]
    n_clusters: int
    resampling: Resampling | None
    counts: tuple[int, int] | None = None
    bounds: tuple[float, float] | None = None
    is_attenuated: bool = False
    n_people: int | None = None

    @cached_property
    def values(self) -> Floats:
        """The figure on each resample, shape (resamples,), NaN where undefined."""
        return self.draw()

    def minus(self, other: Estimate) -> Estimate:
        """The difference, resample by resample (paired)."""
        return Estimate(
            method="paired difference",
            reason="undefined on one side",
            value=self.value - other.value,
            draw=lambda: self.values - other.values,
            n_clusters=min(self.n_clusters, other.n_clusters),
            resampling=self.resampling,
            n_people=self.n_people,
        )

    def stat(self, *, n_items: int | None = None, n_pairs: int | None = None) -> Stat:
        """The figure with its interval, or with the reason why it has none.

        `n_items` are the items behind the figure, by default the n of a rate.
        """
        n = n_items if n_items is not None else (self.counts or (0, 0))[1]
        common: dict[str, Any] = {"n_items": n, "n_pairs": n_pairs, "n_clusters": self.n_clusters}
        if not np.isfinite(self.value):
            return Stat.undefined(self.reason, method=self.method, **common)
        stat = Stat(self.value, method=self.method, **common)
        if self.resampling is None:
            return stat
        if n < MIN_ITEMS:
            return replace(stat, interval_reason=f"no interval under {MIN_ITEMS} items")
        if self.n_clusters < MIN_CLUSTERS:
            return replace(stat, interval_reason=f"no interval under {MIN_CLUSTERS} clusters")
        if self.n_people is not None and self.n_people < MIN_PEOPLE:
            return replace(stat, interval_reason=f"no interval over people under {MIN_PEOPLE} annotators")
        defined = self.values[np.isfinite(self.values)]
        if len(defined) < MIN_DEFINED * len(self.values):
            return replace(stat, interval_reason="undefined in too many resamples")
        n_drawn = min(self.n_clusters, self.n_people or self.n_clusters)
        low, high = percentiles(defined, n_drawn, self.resampling)
        if self.is_attenuated:
            least, greatest = self.bounds or (-math.inf, math.inf)
            mirrored = 2 * self.value - high, 2 * self.value - low
            low, high = max(least, min(low, mirrored[0])), min(greatest, max(high, mirrored[1]))
        drawn = "cluster bootstrap" if self.n_people is None else "bootstrap over people and clusters"
        if high - low < SAME:
            return self._without_spread(stat, self.resampling.level)
        return replace(
            stat,
            low=low,
            high=high,
            method=f"{self.method}, {drawn}" if self.method else drawn,
            seed=self.resampling.seed,
            n_resamples=self.resampling.n_resamples,
        )

    def _without_spread(self, stat: Stat, level: float) -> Stat:
        """The interval of a figure that is the same in every resample, which is never of no width.

        At a bound the clusters count as hits or misses, and Wilson's interval of their share is stretched over the
        bounds: as if each cluster were one item, the most that its items can depend on each other.
        """
        is_low, is_high = (
            self.bounds is not None and abs(self.value - bound) < SAME for bound in self.bounds or (0, 0)
        )
        if self.bounds is None or is_low == is_high:
            return replace(stat, interval_reason="the same in every resample")
        share = wilson(self.n_clusters if is_high else 0, self.n_clusters, level=level)
        below, above = self.bounds
        low, high = ((below + (above - below) * (end or 0.0)) for end in (share.low, share.high))
        method = (
            f"{self.method}, Wilson interval over clusters" if self.method else "Wilson interval over clusters"
        )
        return replace(stat, low=min(low, self.value), high=max(high, self.value), method=method)


@dataclass(slots=True)
class Batch:
    """Blocks of sums, each of shape (n_clusters, some width); all are drawn when the first draw is read.

    Without `resampling` nothing is drawn and no figure has an interval.
    """

    n_clusters: int
    resampling: Resampling | None = DEFAULT
    blocks: list[Floats] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _drawn: Floats | None = None

    def add(self, sums: Floats) -> int:
        """Add a block and give its number."""
        if self._drawn is not None or sums.shape[0] != self.n_clusters:
            raise BadShape(f"a block of shape {sums.shape} for {self.n_clusters} clusters, or after the draw")
        self._starts.append(self._starts[-1] + self.blocks[-1].shape[1] if self.blocks else 0)
        self.blocks.append(sums)
        return len(self.blocks) - 1

    def total(self, block: int) -> Floats:
        """The sums over all clusters, shape (1, width)."""
        totals: Floats = self.blocks[block].sum(axis=0)[None, :]
        return totals

    def n_filled(self, block: int) -> int:
        """How many clusters have anything in a block."""
        return int(self.blocks[block].any(axis=1).sum())

    def drawn(self, block: int) -> Floats:
        """The sums of each resample, shape (resamples, width)."""
        if self.resampling is None:
            return np.empty((0, self.blocks[block].shape[1]))
        if self._drawn is None:
            sums = np.hstack(self.blocks) if len(self.blocks) > 1 else self.blocks[0]
            self._drawn = np.vstack([piece @ sums for piece in draws(self.n_clusters, self.resampling)])
        start = self._starts[block]
        return self._drawn[:, start : start + self.blocks[block].shape[1]]

    def estimate(
        self,
        figure: Figure,
        blocks: Sequence[int],
        *,
        n_clusters: int | None = None,
        people: People | None = None,
    ) -> Estimate:
        """A figure of each block, averaged over those that have it; one block is that block's figure.

        `n_clusters` are by default those that have anything in the block with most of them. `people` are drawn
        where blocks are of different ones.
        """
        points = np.array([figure(self.total(block))[0] for block in blocks])
        is_defined = np.isfinite(points)
        defined = [block for block, keep in zip(blocks, is_defined, strict=True) if keep]

        def draw() -> Floats:
            each = [figure(self.drawn(block)) for block in defined]
            if people is not None:
                return mean_of_defined(np.stack(each, axis=1), people.weights[:, is_defined])
            return each[0] if len(each) == 1 else mean_of_defined(np.stack(each, axis=1))

        if n_clusters is None:
            n_clusters = max((self.n_filled(block) for block in defined or blocks), default=0)
        counts = [figure.counts(self.total(block)) for block in blocks] if isinstance(figure, Rate) else None
        return Estimate(
            method=figure.method,
            reason=figure.reason,
            value=float(points[np.isfinite(points)].mean()) if defined else float("nan"),
            draw=draw,
            n_clusters=n_clusters,
            resampling=self.resampling,
            counts=None if counts is None else (sum(hits for hits, _ in counts), sum(n for _, n in counts)),
            bounds=figure.bounds,
            is_attenuated=figure.is_attenuated,
            n_people=None if people is None else people.n,
        )

    def pooled(self, figure: Figure, blocks: Sequence[int], *, people: People | None = None) -> Estimate:
        """A figure of the sums of several blocks; `people` are drawn where blocks are of different ones."""
        together = Batch(self.n_clusters, self.resampling)
        found = together.estimate(figure, [together.add(np.sum([self.blocks[block] for block in blocks], axis=0))])
        if people is None:
            return found

        def draw() -> Floats:
            each = enumerate(blocks)
            return figure(np.sum([people.weights[:, at, None] * self.drawn(block) for at, block in each], axis=0))

        return replace(found, draw=draw, n_people=people.n)


def figure_of(
    figure: Figure,
    rows: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int,
    n_pairs: int | None = None,
    resampling: Resampling | None = DEFAULT,
) -> Stat:
    """One figure of rows of shape (n, sums); `clusters` has a key for each row, None makes each its own.

    Clusters in which nothing counts are drawn and counted as well; leave their rows out where they must not be.
    """
    sums = in_order_of_content(sum_by_cluster(rows, None if resampling is None else clusters))
    batch = Batch(len(sums), resampling)
    stat = batch.estimate(figure, [batch.add(sums)], n_clusters=len(sums)).stat(n_items=n_items, n_pairs=n_pairs)
    return stat if stat.is_defined and resampling is not None else replace(stat, n_clusters=None)


def rate(
    hits: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
    method: str = "rate",
) -> Stat:
    """Share of true `hits`, shape (n,): Wilson where items are independent, else by cluster."""
    array = np.asarray(hits, dtype=np.float64)
    n = len(array)
    if clusters is None or not n:
        exact = wilson(round(float(array.sum())), n, level=resampling.level, method=method)
        return replace(exact, n_clusters=n)
    rows = np.column_stack([array, np.ones(n)])
    return figure_of(Rate.of(method, "no items"), rows, clusters=clusters, n_items=n, resampling=resampling)


def bootstrap_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int | None = None,
    resampling: Resampling | None = DEFAULT,
    method: str = "",
    reason: str = "nothing to average",
    bounds: tuple[float, float] | None = None,
) -> Stat:
    """Ratio of totals with its interval: a mean over items when rows hold sums and counts.

    Both arrays have shape (rows,); `clusters` has a key per row. `n_items` defaults to the total of the
    denominators. Undefined, for `reason`, when that total is 0. `bounds` are those of the ratio.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise BadShape(f"numerators {top.shape} and denominators {bottom.shape}")
    total = float(bottom.sum())
    count = round(total) if n_items is None else n_items
    if total == 0:
        return Stat.undefined(reason, n_items=count, method=method)
    figure = Figure(method, ratio, reason, bounds)
    rows = np.column_stack([top, bottom])
    return figure_of(figure, rows, clusters=clusters, n_items=count, resampling=resampling)


def bootstrap_mean(
    values: ArrayLike | Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = DEFAULT,
    method: str = "mean",
    reason: str = "nothing to average",
    bounds: tuple[float, float] | None = None,
) -> Stat:
    """Mean of `values`, shape (n,), with its interval; `bounds` are those of a value.

    Missing ones (None, NaN) are left out with their clusters; undefined, for `reason`, when none is there.
    """
    array = np.array(values, dtype=np.float64)
    is_there = np.isfinite(array)
    if clusters is not None:
        clusters = [key for key, there in zip(clusters, is_there.tolist(), strict=True) if there]
    return bootstrap_ratio(
        array[is_there],
        np.ones(is_there.sum()),
        clusters=clusters,
        resampling=resampling,
        method=method,
        reason=reason,
        bounds=bounds,
    )


def wilson(n_hits: int, n: int, *, level: float = 0.95, method: str = "rate") -> Stat:
    """Share of hits among `n` independent items with Wilson's score interval."""
    if n == 0:
        return Stat.undefined("no items", method=method)
    if not 0 <= n_hits <= n:
        raise BadShape(f"{n_hits} hits among {n} items")
    share = n_hits / n
    if n < MIN_ITEMS:
        return Stat(share, n_items=n, method=method, interval_reason=f"no interval under {MIN_ITEMS} items")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Rounding must not push an end past the share at 0/n and n/n.
    low, high = max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))
    return Stat(share, n_items=n, low=low, high=high, method=f"{method}, Wilson interval")
