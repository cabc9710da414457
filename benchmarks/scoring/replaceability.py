"""May a judge take an annotator's place? The alternative annotator test (Calderon, Reichart and Dror, 2025).

Each annotator in turn is left out and compared with the judge: who of the two is nearer to the others, item by
item? The judge may stand `epsilon` behind, since it costs less. Half of the tests, corrected after
Benjamini and Yekutieli (2001), must be won.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from benchmarks.scoring.sums import Bools, Floats, Ints, cluster_index, t_interval

MIN_ANNOTATORS, MIN_ITEMS, MIN_CLUSTERS = 3, 30, 5
ALPHA = 0.05
EPSILON = 0.15
"""For annotators with some training; 0.2 is proposed for experts and 0.1 for crowds."""


class Distance(StrEnum):
    """How far a label is from those of others: on average, by the root mean square, or equal or not.

    For ordered labels the paper takes the root mean square.
    """

    ABSOLUTE = "absolute"
    RMSE = "rmse"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An annotator in whose place the judge is not tested, and why."""

    annotator: int
    n_items: int
    reason: str


class TooLittle(ValueError):
    """There are too few annotators or items for the test; `left_out` are those who have too few items."""

    def __init__(self, message: str, left_out: Sequence[LeftOut] = ()) -> None:
        super().__init__(message)
        self.left_out = tuple(left_out)


@dataclass(frozen=True, slots=True)
class AgainstAnnotator:
    """The judge in the place of one annotator, on the `n_items` that it, they and somebody else labelled.

    `judge` and `annotator` are the shares of items on which each is at least as near to the others; `p` is that of
    the judge being more than epsilon behind, and `is_won` says whether the test, corrected, rejects it. `error` is
    the standard error of how far the judge is behind.
    """

    annotator: int
    n_items: int
    n_clusters: int
    judge: float
    human: float
    p: float
    is_won: bool
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Replaceability:
    """The outcome: `winning_rate` is the share of annotators against whom the judge wins.

    `advantage` is the mean share of items on which the judge is at least as near to the others, with both ends of
    its interval over clusters, None under 5 of these. `power` is how often a judge that is as near as these
    annotators would win half of the tests, with labels that scatter as these do. Those `left_out` have too few
    items to be tested; their labels count among the others.
    """

    epsilon: float
    against: tuple[AgainstAnnotator, ...]
    winning_rate: float
    advantage: float
    left_out: tuple[LeftOut, ...] = ()
    low: float | None = None
    high: float | None = None
    power: float = 1.0
    distance: Distance = Distance.EXACT

    @property
    def passes(self) -> bool:
        """Whether the judge may take an annotator's place."""
        return self.winning_rate >= 0.5


def replaceability(
    people: Ints,
    judge: Ints,
    *,
    worth: Sequence[float] | None = None,
    clusters: Sequence[int] | None = None,
    epsilon: float = EPSILON,
    distance: Distance = Distance.ABSOLUTE,
) -> Replaceability:
    """Test a judge against each of the annotators.

    Args:
        people: codes of the annotators, shape (items, annotators), -1 for none.
        judge: codes of the judge, shape (items,), -1 for none.
        worth: what the codes stand for; two labels are then as near as their values. Without, equal or not.
        clusters: of each item; items of a cluster share chance. Without, each is its own.
        epsilon: how far the judge may stand behind.
        distance: how labels of different worth are apart.

    Raises:
        TooLittle: under 3 annotators have 30 items, of two clusters or more, that the judge and somebody else
            labelled too.
    """
    from scipy.stats import false_discovery_control

    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is from 0 to 1, not {epsilon}")
    kept = _usable(people, judge)
    codes, judged = people[kept], judge[kept]
    index = cluster_index(clusters, len(people))[kept]
    distance = Distance.EXACT if worth is None else distance
    near = _nearness(codes, judged, worth, distance)
    left_out = _left_out(codes, index)
    there = np.flatnonzero((codes >= 0).any(axis=0)).tolist()
    tested = sorted(set(there) - {person.annotator for person in left_out})
    if len(tested) < MIN_ANNOTATORS:
        raise TooLittle(
            f"{len(tested)} of {len(there)} annotators have {MIN_ITEMS} items, of two clusters or more, that the "
            f"judge and somebody else labelled; the test takes {MIN_ANNOTATORS}",
            left_out,
        )
    compared = [_compared(at, codes, near, distance) for at in tested]
    tests = [_against(*test, index, epsilon) for test in compared]
    won = false_discovery_control([test.p for test in tests], method="by") <= ALPHA
    against = tuple(replace(test, is_won=is_won) for test, is_won in zip(tests, won.tolist(), strict=True))
    low, high = _advantage_ends([(there, judge >= human) for _at, there, human, judge in compared], index)
    return Replaceability(
        epsilon=epsilon,
        against=against,
        winning_rate=sum(test.is_won for test in against) / len(against),
        advantage=float(np.mean([test.judge for test in against])),
        left_out=left_out,
        low=low,
        high=high,
        power=_power(tests, epsilon),
        distance=distance,
    )


def _compared(at: int, codes: Ints, near: Floats, distance: Distance) -> tuple[int, Bools, Floats, Floats]:
    """Items of annotator `at` and others, and how near the annotator and the judge are to the others on each."""
    usable, others = _there(codes, at), np.arange(codes.shape[1]) != at
    means = np.nanmean(near[usable][:, [at, -1]][:, :, others], axis=2)
    if distance is Distance.RMSE:  # to the 12th digit, so that equal ones are equal
        means = -np.sqrt(means, dtype=np.float64).round(12)
    theirs, its = means.T
    return at, usable, theirs, its


def _usable(people: Ints, judge: Ints) -> Bools:
    """Items that the judge and two annotators labelled, shape (items,); raises where they are too few."""
    usable: Bools = (judge >= 0) & ((people >= 0).sum(axis=1) >= 2)
    n_people = int((people[usable] >= 0).any(axis=0).sum())
    if n_people < MIN_ANNOTATORS or usable.sum() < MIN_ITEMS:
        raise TooLittle(
            f"{n_people} annotators and {int(usable.sum())} items that the judge and two of them labelled; "
            f"the test takes {MIN_ANNOTATORS} and {MIN_ITEMS}"
        )
    return usable


def _left_out(codes: Ints, index: Ints) -> tuple[LeftOut, ...]:
    """Annotators whose items are too few for a test of their own, or all of one cluster."""
    too_small = []
    for at in range(codes.shape[1]):
        there = _there(codes, at)
        n_items, n_clusters = int(there.sum()), len(np.unique(index[there]))
        if n_items and (n_items < MIN_ITEMS or n_clusters < 2):
            reason = f"fewer than {MIN_ITEMS} items" if n_items < MIN_ITEMS else "items of one cluster only"
            too_small.append(LeftOut(at, n_items, reason))
    return tuple(too_small)


def _there(codes: Ints, at: int) -> Bools:
    """The items that annotator `at` and somebody else labelled, shape (items,)."""
    return (codes[:, at] >= 0) & ((codes >= 0).sum(axis=1) >= 2)


def _nearness(codes: Ints, judged: Ints, worth: Sequence[float] | None, distance: Distance) -> Floats:
    """How near each rater's label is to each annotator's, shape (items, raters, annotators), NaN for none.

    The annotators come first, the judge last. For the root mean square it is the square of their distance.
    """
    raters = np.column_stack([codes, judged])
    if worth is None:
        near = (raters[:, :, None] == codes[:, None, :]).astype(np.float64)
    else:
        values = np.array(worth, dtype=np.float64)
        apart = np.abs(values[raters][:, :, None] - values[codes][:, None, :]) / (np.ptp(values) or 1.0)
        near = apart**2 if distance is Distance.RMSE else 1 - apart
    return np.where((raters < 0)[:, :, None] | (codes < 0)[:, None, :], np.nan, near)


def _against(at: int, there: Bools, human: Floats, judge: Floats, index: Ints, epsilon: float) -> AgainstAnnotator:
    behind = (human >= judge).astype(np.float64) - (judge >= human).astype(np.float64)
    p, error, n_clusters = _p_value(behind, index[there], epsilon)
    return AgainstAnnotator(
        annotator=at,
        n_items=int(there.sum()),
        n_clusters=n_clusters,
        judge=float((judge >= human).mean()),
        human=float((human >= judge).mean()),
        p=p,
        is_won=False,
        error=error,
    )


def _p_value(behind: Floats, index: Ints, epsilon: float) -> tuple[float, float, int]:
    """One-sided p of the mean being epsilon or more, by clusters, two or more: t with one degree less.

    With it the standard error of the mean, and the number of clusters.
    """
    from scipy.special import stdtr

    _keys, numbers = np.unique(index, return_inverse=True)
    n_clusters = int(numbers.max()) + 1
    mean = behind.mean()
    sums = np.bincount(numbers, weights=behind - mean)
    error = math.sqrt((sums**2).sum() * n_clusters / (n_clusters - 1)) / len(behind)
    if error == 0:
        return (0.0 if mean < epsilon else 1.0), 0.0, n_clusters
    return float(stdtr(n_clusters - 1, (mean - epsilon) / error)), error, n_clusters


def _power(tests: Sequence[AgainstAnnotator], epsilon: float) -> float:
    """How often a judge that is as near as the annotators would win half of the tests: the median over annotators.

    Each test is taken at the threshold that the least of the winning half has to pass.
    """
    from scipy.special import nctdtr, ndtr, stdtrit

    m = len(tests)
    threshold = math.ceil(m / 2) * ALPHA / (m * sum(1 / rank for rank in range(1, m + 1)))
    each = []
    for test in tests:
        if test.error == 0:
            each.append(1.0)
            continue
        df, shift = test.n_clusters - 1, -epsilon / test.error
        limit = float(stdtrit(df, threshold))
        chance = float(nctdtr(df, shift, limit))
        # Far out the noncentral distribution cannot be computed; there the normal one is as good.
        each.append(chance if math.isfinite(chance) else float(ndtr(limit - shift)))
    return float(np.median(each))


def _advantage_ends(compared: Sequence[tuple[Bools, Bools]], index: Ints) -> tuple[float | None, float | None]:
    """Both ends of the interval of the mean share over annotators, linearised over clusters, with Student's t."""
    n_clusters = int(np.unique(index).size)
    if n_clusters < MIN_CLUSTERS:
        return None, None
    places = np.unique(index, return_inverse=True)[1]
    influence = np.zeros(n_clusters)
    shares = []
    for there, is_near in compared:
        share = float(is_near.mean())
        influence = influence + np.bincount(places[there], is_near - share, minlength=n_clusters) / len(is_near)
        shares.append(share)
    variance = n_clusters / (n_clusters - 1) * float((influence**2).sum()) / len(compared) ** 2
    se = math.sqrt(variance)
    if se == 0:
        return None, None
    low, high = t_interval(float(np.mean(shares)), se, n_clusters - 1)
    return max(0.0, low), min(1.0, high)
