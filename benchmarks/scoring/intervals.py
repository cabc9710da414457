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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.formulas import (
    MIN_CLUSTERS,
    MIN_ITEMS,
    RARE,
    RARE_SHARE,
    SAME,
    Figure,
    LeftOut,
    Rate,
    Shares,
    effective_n,
    ends_over_people,
    few,
    is_rare,
    logit_ends,
    share_ends,
    wilson_ends,
    within_edges,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    BadShape,
    Floats,
    People,
    Resampling,
    draws,
    in_order_of_content,
    mean_of_defined,
    percentiles,
    ratio,
    sum_by_cluster,
)

MIN_PEOPLE = 5
"""Annotators that can be resampled."""
TOO_RARE = f"no interval under {RARE} labels other than the commonest, where these are rare"
RARE_CLUSTERS = 10
RARE_ON_BOTH_SIDES = f"no interval: both sides rarely score above 0, or below 1, in under {RARE_CLUSTERS} clusters"
HARDLY_ENOUGH = "rare labels or scores, hardly enough of them: the coverage of such intervals is about 92 %"
OVER_PEOPLE = "double jackknife over people and clusters"
WILSON = "Wilson interval over clusters"
MIN_DEFINED = 0.9
"""Share of resamples that must have a value; below it the percentiles would describe a lucky part."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure on the data, and on every resample once somebody asks for it.

    `value` is NaN where undefined. `n_clusters` are the clusters behind it, `counts` hits and n of a rate;
    `n_people` are the annotators where they are a sample, None where they are not; `left_out` then gives the
    figure without each of them and each cluster. `shares` are what a share, or a linear
    function of one, is made of; `minority` is the share of labels outside the commonest category, where chance
    agreement depends on it. `n_where_rare` are the clusters with any of the few, of a difference whose sides
    hardly ever are above 0, or below 1.
    """

    figure: Figure
    value: float
    draw: Callable[[], Floats]
    n_clusters: int
    resampling: Resampling | None
    counts: tuple[int, int] | None = None
    n_people: int | None = None
    shares: Shares | None = None
    minority: float | None = None
    left_out: Callable[[], LeftOut] | None = None
    n_where_rare: int | None = None

    @cached_property
    def values(self) -> Floats:
        """The figure on each resample, shape (resamples,), NaN where undefined."""
        return self.draw()

    def minus(self, other: Estimate) -> Estimate:
        """The difference, resample by resample (paired)."""
        ours, theirs = self.left_out, other.left_out
        return Estimate(
            figure=Figure("paired difference", self.figure.formula, "undefined on one side"),
            value=self.value - other.value,
            draw=lambda: self.values - other.values,
            n_clusters=min(self.n_clusters, other.n_clusters),
            resampling=self.resampling,
            n_people=self.n_people,
            minority=min((side for side in (self.minority, other.minority) if side is not None), default=None),
            left_out=None if ours is None or theirs is None else lambda: ours().minus(theirs()),
            n_where_rare=self.shares.clusters_where_rare(other.shares) if self.shares and other.shares else None,
        )

    def stat(self, *, n_items: int | None = None, n_pairs: int | None = None) -> Stat:
        """The figure with its interval, or with the reason why it has none.

        `n_items` are the items behind the figure, by default the n of a rate.
        """
        n = n_items if n_items is not None else (self.counts or (0, 0))[1]
        common: dict[str, Any] = {"n_items": n, "n_pairs": n_pairs, "n_clusters": self.n_clusters}
        if not np.isfinite(self.value):
            return Stat.undefined(self.figure.reason, method=self.figure.method, **common)
        stat = Stat(self.value, method=self.figure.method, **common)
        if self.resampling is None:
            return stat
        if reason := few(self.n_clusters, n):
            return replace(stat, interval_reason=reason)
        if self.n_people is not None and self.n_people < MIN_PEOPLE:
            return replace(stat, interval_reason=f"no interval over people under {MIN_PEOPLE} annotators")
        n_rare = math.inf if self.minority is None or self.minority >= RARE_SHARE else self.minority * n
        n_where_rare = math.inf if self.n_where_rare is None else self.n_where_rare
        if n_rare < RARE:
            return replace(stat, interval_reason=TOO_RARE)
        if n_where_rare < RARE_CLUSTERS:
            return replace(stat, interval_reason=RARE_ON_BOTH_SIDES)
        if n_rare < 2 * RARE or n_where_rare < 2 * RARE_CLUSTERS:
            stat = replace(stat, caution=HARDLY_ENOUGH)
        if self.n_people is not None:
            return self._over_people(stat)
        near = self._near_an_edge(n)
        if near is not None:
            low, high, method = near
            return replace(
                stat,
                low=low,
                high=high,
                method=f"{self.figure.method}, {method}" if self.figure.method else method,
            )
        defined = self.values[np.isfinite(self.values)]
        if len(defined) < MIN_DEFINED * len(self.values):
            return replace(stat, interval_reason="undefined in too many resamples")
        low, high = percentiles(defined, self.n_clusters)
        if self.figure.is_attenuated:
            least, greatest = self.figure.bounds or (-math.inf, math.inf)
            mirrored = 2 * self.value - high, 2 * self.value - low
            low, high = max(least, min(low, mirrored[0])), min(greatest, max(high, mirrored[1]))
        if high - low < SAME:
            return replace(stat, interval_reason="the same in every resample")
        return replace(
            stat,
            low=low,
            high=high,
            method=f"{self.figure.method}, cluster bootstrap" if self.figure.method else "cluster bootstrap",
            seed=self.resampling.seed,
            n_resamples=self.resampling.n_resamples,
        )

    def _over_people(self, stat: Stat) -> Stat:
        """The figure with an interval for people and clusters like these."""
        without = None if self.left_out is None else self.left_out()
        if without is None or not without.is_defined:
            return replace(stat, interval_reason="undefined without one of the people or clusters")
        low, high = ends_over_people(self.value, without, is_correlation=self.figure.is_correlation)
        if high - low < SAME:
            return replace(stat, interval_reason="the same without any of the people or clusters")
        if self.figure.bounds is not None:
            low, high = max(self.figure.bounds[0], low), min(self.figure.bounds[1], high)
        method = f"{self.figure.method}, {OVER_PEOPLE}" if self.figure.method else OVER_PEOPLE
        return replace(stat, low=low, high=high, method=method)

    def _near_an_edge(self, n: int) -> tuple[float, float, str] | None:
        """Both ends where resampling sees too little of what is rare, with how they are made; None elsewhere.

        They are made for a share and stretched over the bounds, of which the figure is a linear function.
        """
        if self.figure.bounds is None:
            return None
        if self.shares is not None and np.count_nonzero(self.shares.units) < MIN_CLUSTERS:
            return None
        below, above = self.figure.bounds
        share = (self.value - below) / (above - below)
        if share < SAME or share > 1 - SAME:
            sizes = self.shares.units if self.shares else np.full(self.n_clusters, n / self.n_clusters)
            ends = wilson_ends(round(share), effective_n(sizes, sizes))
            method = WILSON
        elif self.shares is not None and self.shares.is_binary and is_rare(self.shares.sums, self.shares.sizes):
            ends = share_ends(share, self.shares.sums, self.shares.sizes)
            method = WILSON
        elif self.shares is not None and not self.shares.is_binary and self.shares.n_rare < RARE:
            ends = logit_ends(self.shares.sums, self.shares.sizes)
            ends, method = within_edges(*ends, self.shares.units), "logit interval over clusters"
        else:
            return None
        if ends[1] - ends[0] < SAME:
            return None
        low, high = (below + (above - below) * end for end in ends)
        return min(low, self.value), max(high, self.value), method


def _holds(people: People) -> Floats:
    """Which blocks hold labels of each person, as 1 and 0: shape (people, blocks)."""
    return np.array([[float(person in those) for those in people.who] for person in range(people.n)])


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
        if self._drawn is not None or sums.shape[0] != self.n_clusters:
            raise BadShape(f"a block of shape {sums.shape} for {self.n_clusters} clusters, or after the draw")
        self._starts.append(self._starts[-1] + self.blocks[-1].shape[1] if self.blocks else 0)
        self.blocks.append(sums)
        return len(self.blocks) - 1

    def total(self, block: int) -> Floats:
        """The sums over all clusters, shape (1, width)."""
        return self.blocks[block].sum(axis=0)[None, :]

    def n_filled(self, block: int) -> int:
        return int(self.blocks[block].any(axis=1).sum())

    def drawn(self, block: int) -> Floats:
        """The sums of each resample, shape (resamples, width)."""
        if self.resampling is None:
            return np.empty((0, self.blocks[block].shape[1]))
        if self._drawn is None:
            sums = np.hstack(self.blocks) if len(self.blocks) > 1 else self.blocks[0]
            self._drawn, at = np.empty((self.resampling.n_resamples, sums.shape[1])), 0
            for piece in draws(self.n_clusters, self.resampling):  # into its place: the whole is there once
                np.matmul(piece, sums, out=self._drawn[at : at + len(piece)])
                at += len(piece)
        start = self._starts[block]
        return self._drawn[:, start : start + self.blocks[block].shape[1]]

    def estimate(
        self,
        figure: Figure,
        blocks: Sequence[int],
        *,
        n_clusters: int | None = None,
        people: People | None = None,
        shares: Shares | None = None,
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
            return each[0] if len(each) == 1 else mean_of_defined(np.stack(each, axis=1))

        if n_clusters is None:
            n_clusters = max((self.n_filled(block) for block in defined or blocks), default=0)
        counts = [figure.counts(self.total(block)) for block in blocks] if isinstance(figure, Rate) else None
        if isinstance(figure, Rate) and defined:
            hits, sizes = (
                np.mean([self.blocks[block] @ weights for block in defined], axis=0)
                for weights in (figure.hits, figure.among)
            )
            shares = Shares(hits, sizes, sizes, is_binary=True)
        minorities = [figure.minority(self.total(block))[0] for block in defined] if figure.minority else []
        return Estimate(
            figure=figure,
            value=float(points[np.isfinite(points)].mean()) if defined else float("nan"),
            draw=draw,
            n_clusters=n_clusters,
            resampling=self.resampling,
            counts=None if counts is None else (sum(hits for hits, _ in counts), sum(n for _, n in counts)),
            n_people=None if people is None else people.n,
            shares=shares,
            left_out=None if people is None else lambda: self._left_out(figure, blocks, people),
            minority=float(np.mean(minorities)) if minorities else None,
        )

    def pooled(self, figure: Figure, blocks: Sequence[int], *, people: People | None = None) -> Estimate:
        """A figure of the sums of several blocks; `people` are drawn where blocks are of different ones."""
        together = Batch(self.n_clusters, self.resampling)
        pooled = together.estimate(
            figure, [together.add(np.sum([self.blocks[block] for block in blocks], axis=0))]
        )
        if people is None:
            return pooled

        def left_out() -> LeftOut:
            sums = np.stack([self.blocks[block] for block in blocks])
            sums = sums[:, sums.any(axis=(0, 2))]
            total = sums.sum(axis=(0, 1))
            holds = _holds(people)
            by_person = np.einsum("pb,bcs->pcs", holds, sums)
            return LeftOut(
                figure(total - by_person.sum(axis=1)),
                figure(total - sums.sum(axis=0)),
                np.stack([figure(total - person) for person in by_person]),
            )

        return replace(pooled, n_people=people.n, left_out=left_out)

    def _left_out(self, figure: Figure, blocks: Sequence[int], people: People) -> LeftOut:
        """A mean over blocks without each person, each cluster, and what a person said in a cluster."""
        filled = np.any([self.blocks[block].any(axis=1) for block in blocks], axis=0)
        whole = np.array([figure(self.total(block))[0] for block in blocks])
        cut = np.stack([figure(self.total(block) - self.blocks[block][filled]) for block in blocks])
        holds = _holds(people)
        return LeftOut(
            mean_of_defined(np.where(holds > 0, np.nan, whole)),
            mean_of_defined(cut.T),
            np.stack([mean_of_defined(np.where(held[:, None] > 0, cut, whole[:, None]).T) for held in holds]),
        )


def figure_of(
    figure: Figure,
    rows: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int,
    n_pairs: int | None = None,
    resampling: Resampling | None = DEFAULT,
    n_rare: float | None = None,
) -> Stat:
    """One figure of rows of shape (n, sums); `clusters` has a key for each row, None makes each its own.

    `n_rare` is for a figure whose first two sums are the sum and the number of shares, of which it is a linear
    function: how many of these are above 0, or below 1, whichever are fewer.

    Clusters in which nothing counts are drawn and counted as well; leave their rows out where they must not be.
    """
    sums = in_order_of_content(sum_by_cluster(rows, None if resampling is None else clusters))
    batch = Batch(len(sums), resampling)
    shares = None if n_rare is None else Shares(sums[:, 0], sums[:, 1], sums[:, 1], n_rare)
    estimate = batch.estimate(figure, [batch.add(sums)], n_clusters=len(sums), shares=shares)
    stat = estimate.stat(n_items=n_items, n_pairs=n_pairs)
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
        exact = wilson(round(float(array.sum())), n, method=method)
        return replace(exact, n_clusters=n)
    rows = np.column_stack([array, np.ones(n)])
    return figure_of(Rate.of(method, "no items"), rows, clusters=clusters, n_items=n, resampling=resampling)


def bootstrap_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = DEFAULT,
    method: str = "",
    reason: str = "nothing to average",
    bounds: tuple[float, float] | None = None,
) -> Stat:
    """Ratio of totals with its interval: a mean over items when rows hold sums and counts.

    Both arrays have shape (rows,); `clusters` has a key per row. Undefined, for `reason`, when the total
    of the denominators, which are the items, is 0. `bounds` are those of the ratio.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise BadShape(f"numerators {top.shape} and denominators {bottom.shape}")
    total = float(bottom.sum())
    if total == 0:
        return Stat.undefined(reason, method=method)
    figure, rows = Figure(method, ratio, reason, bounds), np.column_stack([top, bottom])
    return figure_of(figure, rows, clusters=clusters, n_items=round(total), resampling=resampling)


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


def wilson(n_hits: int, n: int, *, method: str = "rate") -> Stat:
    """Share of hits among `n` independent items with Wilson's score interval."""
    if n == 0:
        return Stat.undefined("no items", method=method)
    if not 0 <= n_hits <= n:
        raise BadShape(f"{n_hits} hits among {n} items")
    share = n_hits / n
    if n < MIN_ITEMS:
        return Stat(share, n_items=n, method=method, interval_reason=f"no interval under {MIN_ITEMS} items")
    low, high = wilson_ends(share, n)
    return Stat(share, n_items=n, low=low, high=high, method=f"{method}, Wilson interval")
