"""What the order of documents does to a system's joint score (Table 3): signed differences, and a test.

A maximum of distances is above 0 by chance alone, so it has a p-value in place of an interval; the differences
that it is made of have intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from benchmarks.scoring.formulas import COEFFICIENT, SAME, few, with_student
from benchmarks.scoring.leaderboard import Leaderboard, Scored
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Average
from benchmarks.scoring.sums import DEFAULT, Floats, Resampling

RANDOM, OTHERS = "random", ("top", "bottom")
EXACT = 9_999
"""Ways to permute the orders up to which all are counted; else so many are drawn."""
METHOD = "larger distance from the random order"
DIFFERENCE = "paired difference over subtopics, linearised, Student's t"
NO_INTERVAL = "the larger of two distances is above 0 by chance alone: see both differences, and p"
NO_RANDOM, NO_OTHER = "no score in random order", "no score in an ordered run"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Joint of one system with its documents at the top, at the bottom and in random order.

    The differences are from the random order; `sensitivity` is the larger of their distances from 0. `p` is how
    often it is as large where the orders are permuted within subtopics; None without both sides of a difference.
    """

    random: Stat
    top: Stat
    bottom: Stat
    top_minus_random: Stat
    bottom_minus_random: Stat
    sensitivity: Stat
    p: float | None
    n_summaries: int


def sensitivity(
    orders: Mapping[str, Sequence[Scored]], *, average: Average, resampling: Resampling | None = DEFAULT
) -> Sensitivity:
    """Compare the joint scores of the orders "random", "top" and "bottom", as far as there are any.

    All figures are on the subtopics that every one of these orders has, so that they differ by the order alone.
    """
    subtopics = [{row.subtopic for row in rows} for rows in orders.values() if rows]
    common = set.intersection(*subtopics) if subtopics else set()
    kept = {order: [row for row in rows if row.subtopic in common] for order, rows in orders.items()}
    board = Leaderboard(
        (replace(row, entry=order) for order, rows in kept.items() for row in rows),
        average=average,
        resampling=resampling,
    )
    joints = {row.entry: row.stats["joint"] for row in board.rows()}
    missing = Stat.undefined("no summary in this order on a subtopic that all orders have")
    defined = [order for order in (RANDOM, *OTHERS) if joints.get(order, missing).is_defined]
    sums = {order: board.sums_of(order, "joint") for order in defined}
    differences = {order: order_difference(sums, order, resampling=resampling) for order in OTHERS}
    sides = {order: joints.get(order, missing) for order in (RANDOM, *OTHERS)}
    larger = Stat.undefined(NO_OTHER if RANDOM in sums else NO_RANDOM, method=METHOD)
    distances = [abs(stat.value) for stat in differences.values() if stat.value is not None]
    if distances:
        n, reason = sides[RANDOM].n_items, NO_INTERVAL if resampling else ""
        larger = Stat(max(distances), n_items=n, n_clusters=len(common), method=METHOD, interval_reason=reason)
    return Sensitivity(
        **sides,
        **{f"{order}_minus_random": stat for order, stat in differences.items()},
        sensitivity=larger,
        p=permutation_p(sums, seed=resampling.seed) if distances and resampling else None,
        n_summaries=sum(len(rows) for rows in kept.values()),
    )


def order_difference(sums: Mapping[str, Floats], order: str, *, resampling: Resampling | None = DEFAULT) -> Stat:
    """The score in an order minus that in random order.

    `sums` hold for each order the numerators and denominators of its score, shape (subtopics, 2), the same
    subtopics in the same rows. The difference of the two ratios of totals is linearised; its interval is
    Student's over subtopics.
    """
    if RANDOM not in sums or order not in sums:
        return Stat.undefined(NO_OTHER if RANDOM in sums else NO_RANDOM, method=DIFFERENCE)
    sides = [sums[name] for name in (order, RANDOM)]
    scores = [float(side[:, 0].sum() / side[:, 1].sum()) for side in sides]
    n, n_items = len(sides[1]), round(float(sides[1][:, 1].sum()))
    stat = Stat(scores[0] - scores[1], n_items=n_items, n_clusters=n, method=DIFFERENCE)
    if resampling is None:
        return stat
    if reason := few(n, n_items):
        return replace(stat, interval_reason=reason)
    first, second = (
        (side[:, 0] - score * side[:, 1]) / side[:, 1].sum() for side, score in zip(sides, scores, strict=True)
    )
    se = float(np.sqrt(n / (n - 1) * ((first - second) ** 2).sum()))
    return with_student(
        stat, se, n - 1, level=resampling.level, bounds=COEFFICIENT, same="the same in every subtopic"
    )


def permutation_p(sums: Mapping[str, Floats], *, seed: int = DEFAULT.seed) -> float:
    """How often the largest distance from the random order is as large as here when orders mean nothing.

    Of each subtopic the orders are permuted, all ways where these are few, else by lot: (1 + hits) / (1 + draws).
    `sums` are those of `order_difference`, of the random order and another one at least.
    """
    names = [RANDOM, *(order for order in OTHERS if order in sums)]
    cells = np.stack([sums[name] for name in names], axis=1)
    cells = cells[np.lexsort(cells.reshape(len(cells), -1).T[::-1])]
    ways = np.array(list(permutations(range(len(names)))))
    observed = float(_largest(cells.sum(axis=0)[None])[0])
    n_all = len(ways) ** len(cells)
    if n_all <= EXACT:
        totals = np.zeros((1, *cells.shape[1:]))
        for cell in cells:
            totals = (totals[:, None] + cell[ways][None]).reshape(-1, *cells.shape[1:])
        return float((_largest(totals) >= observed - SAME).mean())
    rng = np.random.default_rng(seed)
    totals = np.zeros((EXACT, *cells.shape[1:]))
    for cell in cells:
        totals += cell[ways][rng.integers(0, len(ways), EXACT)]
    return float((1 + (_largest(totals) >= observed - SAME).sum()) / (1 + EXACT))


def _largest(totals: Floats) -> Floats:
    """The largest distance from the first order, for totals of shape (permutations, orders, 2)."""
    scores = np.divide(totals[..., 0], totals[..., 1], out=np.zeros(totals.shape[:2]), where=totals[..., 1] > 0)
    return np.abs(scores[:, 1:] - scores[:, :1]).max(axis=1)
