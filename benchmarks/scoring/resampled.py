"""Many figures on the same draws: blocks of sums per cluster, resampled together.

One draw of the clusters serves every block, so that hundreds of intervals cost little more than one, and two
figures can be subtracted draw by draw, which is what makes their difference paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.scoring.intervals import (
    DEFAULT,
    BadShape,
    Figure,
    Floats,
    Resampling,
    divide,
    draws,
    percentiles,
    too_small,
    wilson,
)
from benchmarks.scoring.stat import Stat


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
        self._starts.append(sum(block.shape[1] for block in self.blocks))
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
            sums = np.hstack(self.blocks)
            self._drawn = np.vstack([piece @ sums for piece in draws(self.n_clusters, self.resampling)])
        start = self._starts[block]
        return self._drawn[:, start : start + self.blocks[block].shape[1]]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """A figure on the data and on every resample (shape (resamples,), NaN where undefined)."""

    value: float
    values: Floats
    n_clusters: int

    def minus(self, other: Spread) -> Spread:
        """The difference, resample by resample."""
        n_clusters = min(self.n_clusters, other.n_clusters)
        return Spread(self.value - other.value, self.values - other.values, n_clusters)

    def stat(
        self, *, n_items: int, method: str, reason: str, resampling: Resampling | None, n_pairs: int | None = None
    ) -> Stat:
        """As a figure with its interval; undefined for `reason`."""
        if not np.isfinite(self.value):
            return Stat.undefined(
                reason, n_items=n_items, n_pairs=n_pairs, n_clusters=self.n_clusters, method=method
            )
        stat = Stat(self.value, n_items=n_items, n_pairs=n_pairs, n_clusters=self.n_clusters, method=method)
        if resampling is None:
            return stat
        if why := too_small(n_items, self.n_clusters):
            return replace(stat, interval_reason=why)
        return percentiles(self.values, self.n_clusters, resampling).on(stat)


def spread(batch: Batch, blocks: Sequence[int], figure: Figure) -> Spread:
    """A figure of each block, averaged over those that have it; one block is that block's figure."""
    points = np.array([figure(batch.total(block))[0] for block in blocks])
    defined = [block for block, point in zip(blocks, points, strict=True) if np.isfinite(point)]
    if not defined:
        n_clusters = max((batch.n_filled(block) for block in blocks), default=0)
        n_resamples = 0 if batch.resampling is None else batch.resampling.n_resamples
        return Spread(float("nan"), np.full(n_resamples, np.nan), n_clusters)
    each = [figure(batch.drawn(block)) for block in defined]
    values = each[0] if len(each) == 1 else _mean(np.stack(each))
    point = float(points[np.isfinite(points)].mean())
    return Spread(point, values, max(batch.n_filled(block) for block in defined))


def rate_stat(
    found: Spread, *, hits: int, n: int, method: str, reason: str, resampling: Resampling | None
) -> Stat:
    """A share of hits as a figure: Wilson's interval where all or none hit, else the drawn one."""
    if n and hits in (0, n) and resampling is not None:
        exact = wilson(hits, n, level=resampling.level, method=method)
        return replace(exact, n_clusters=found.n_clusters)
    return found.stat(n_items=n, method=method, reason=reason, resampling=resampling)


def _mean(each: Floats) -> Floats:
    """Mean over the first axis of what is defined there."""
    is_defined = np.isfinite(each)
    n = is_defined.sum(axis=0)
    total = np.where(is_defined, each, 0.0).sum(axis=0)
    return divide(total, n.astype(np.float64))
