"""A mean over writers and subtopics with what each adds to its error; the minutes of people a system is worth.

Writers are a sample as much as subtopics are. How far cells differ that share the writer, the subtopic or neither
gives the variance of each, and from these come the error of the mean and its degrees of freedom.

A system is worth the active minutes after which people's mean first reaches its score. Each session runs from 0 at
the start straight from one of its own scores to the next, and keeps its last one; people's mean is that of
sessions at the marks, straight between them. The system's score is weighted like the sessions, subtopic by
subtopic.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.scoring.formulas import MIN_CLUSTERS, SAME, few, with_student
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    BadShape,
    Floats,
    Ints,
    Resampling,
    divide,
    expanded_tail,
    t_interval,
)

MIN_WRITERS = 5
"""Writers under whom an interval speaks of these writers only."""
METHOD = "variance components of writers and subtopics, Student's t"
PILED_SHARE = 0.25
PILED = "a quarter of the scores or more are 0: the coverage of such intervals is 80–93 %"


@dataclass(frozen=True, slots=True)
class Components:
    """The variances of writers, of subtopics and of the rest, and what follows for the mean of the cells.

    `se` is the standard error of the mean for writers and subtopics like these, `df` its degrees of freedom; both
    are None where nothing varies or where there is too little to tell.
    """

    mean: float
    writers: float
    subtopics: float
    rest: float
    se: float | None
    df: float | None
    n_cells: int
    n_writers: int
    n_subtopics: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A writer's score on a subtopic, and how much that weighs in the mean."""

    writer: Hashable
    subtopic: Hashable
    value: float
    weight: float = 1.0


def components(values: Floats, *, writers: Ints, subtopics: Ints, weights: Floats | None = None) -> Components:
    """Variance components of cells, each a writer's value on a subtopic; all of shape (cells,).

    Where a writer has several values on a subtopic, give their mean. The mean is weighted by `weights`, by default
    all the same; the components are those of the cells.
    """
    n = len(values)
    if not n or writers.shape != values.shape or subtopics.shape != values.shape:
        raise BadShape(f"{n} values of {len(writers)} writers on {len(subtopics)} subtopics")
    n_writers, n_subtopics = len(np.unique(writers)), len(np.unique(subtopics))
    variances = _variances(values, writers, subtopics)
    share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    k = _k(share, writers), _k(share, subtopics), float((share**2).sum())
    v, se, df = sum(map(operator.mul, k, variances)), None, None
    if v > 0 and min(n_writers, n_subtopics) >= 2:
        se, df = math.sqrt(v), max(satterthwaite(v, k, variances, n), min(n_writers, n_subtopics) - 1)
    return Components(float(values @ share), *variances, se, df, n, n_writers, n_subtopics)


def _variances(values: Floats, writers: Ints, subtopics: Ints) -> tuple[float, float, float]:
    """From the mean half squared differences of pairs of cells that share the writer, the subtopic or neither."""
    n = len(values)
    in_all = _pairs(values, np.zeros(n, dtype=np.int64))
    same_w, same_s = _pairs(values, writers), _pairs(values, subtopics)
    of_cell = np.unique(np.stack([writers, subtopics]), axis=1, return_inverse=True)[1].reshape(-1)
    same_cell = _pairs(values, of_cell)
    only_w, only_s = same_w - same_cell, same_s - same_cell
    d_w, d_s, d_0 = (_mean(pairs) for pairs in (only_w, only_s, in_all - same_w - same_s + same_cell))
    if d_0 is None:  # one writer, or one subtopic: nothing tells them from the rest
        return 0.0, 0.0, max(0.0, d_w if d_w is not None else d_s if d_s is not None else 0.0)
    if d_w is None:  # where no two cells share anything, all is rest
        shared = d_0 if d_s is None else d_s
        return 0.0, max(0.0, d_0 - shared), shared
    if d_s is None:
        return max(0.0, d_0 - d_w), 0.0, d_w
    return max(0.0, d_0 - d_w), max(0.0, d_0 - d_s), max(0.0, d_w + d_s - d_0)


def _pairs(values: Floats, groups: Ints) -> Floats:
    """The sum of half squared differences of pairs within groups, and how many pairs, shape (2,)."""
    _names, of = np.unique(groups, return_inverse=True)
    n = np.bincount(of).astype(np.float64)
    means = np.bincount(of, values) / n
    squares = np.bincount(of, (values - means[of]) ** 2)
    return np.array([(n * squares).sum() / 2, (n * (n - 1)).sum() / 2])


def _mean(pairs: Floats) -> float | None:
    return float(pairs[0] / pairs[1]) if pairs[1] > 0.5 else None


def _k(share: Floats, groups: Ints) -> float:
    """Σ of squared shares of the mean that each writer, or subtopic, has."""
    of = np.unique(groups, return_inverse=True)[1]
    return float((np.bincount(of, share) ** 2).sum())


def satterthwaite(v: float, k: tuple[float, float, float], variances: tuple[float, float, float], n: int) -> float:
    """Degrees of freedom of v, the sum over writers, subtopics and the rest of k times the variance; n cells."""
    (k_w, k_s, k_e), (var_w, var_s, var_e) = k, variances
    a, b = 1 / k_w, 1 / k_s
    g_e = k_e * var_e
    g_w, g_s = k_w * var_w + g_e, k_s * var_s + g_e
    if var_w > 0 and var_s > 0:
        below = g_w**2 / (a - 1) + g_s**2 / (b - 1) + g_e**2 / ((a - 1) * (b - 1))
    elif var_w > 0:
        below = g_w**2 / (a - 1)
    elif var_s > 0:
        below = g_s**2 / (b - 1)
    else:
        return n - 1.0
    return v**2 / below


def mean_over_writers(cells: Sequence[Cell]) -> Stat:
    """The weighted mean of cells with an interval for writers and subtopics like these.

    None under 5 writers: there an interval can only be about these writers.
    """
    if not cells:
        return Stat.undefined("nothing to average", method=METHOD)
    made = components_of(cells)
    stat = Stat(made.mean, n_items=made.n_cells, n_clusters=made.n_subtopics, method=METHOD)
    if made.n_writers < MIN_WRITERS:
        return replace(stat, interval_reason=f"no interval over writers under {MIN_WRITERS} of them")
    if reason := few(made.n_subtopics):
        return replace(stat, interval_reason=reason)
    if made.se is None or made.df is None or made.se < SAME:
        return replace(stat, interval_reason="the same in every cell")
    return with_student(stat, made.se, made.df, caution=_caution(cells))


def over_writers(stat: Stat, cells: Sequence[Cell], *, bounds: tuple[float, float] | None = None) -> Stat:
    """A figure, the weighted mean of cells, with an interval for writers like these.

    Under 5 writers it keeps the one that it has and is marked as about these writers only.
    """
    n = len({cell.writer for cell in cells})
    if stat.value is None or not n:
        return stat
    if n < MIN_WRITERS:
        return about_these(stat, n)
    made = components_of(cells)
    if made.n_subtopics < MIN_CLUSTERS or made.se is None or made.df is None or made.se < SAME:
        return stat
    return with_student(
        stat,
        made.se,
        made.df,
        bounds=bounds or (-math.inf, math.inf),
        method=f"{stat.method.removesuffix(', cluster bootstrap')}, {METHOD}",
        seed=None,
        n_resamples=None,
        interval_reason="",
        caution=_caution(cells),
    )


def _caution(cells: Sequence[Cell]) -> str:
    """A caution where scores pile up at 0, of which Student's t knows nothing."""
    n_zero = sum(cell.value == 0 for cell in cells)
    return PILED if n_zero >= PILED_SHARE * len(cells) else ""


def about_these(stat: Stat, n: int, noun: str = "writers") -> Stat:
    """A figure whose interval is about these people only, which its method says."""
    if stat.low is None:
        return replace(stat, only_these=n)
    return replace(stat, only_these=n, method=f"{stat.method}; of these {n} {noun} only")


def components_of(cells: Sequence[Cell]) -> Components:
    """Cells of the same writer and subtopic are one, their mean."""
    groups: dict[tuple[Hashable, Hashable], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.writer, cell.subtopic), []).append(cell)
    weights = np.array([sum(cell.weight for cell in group) for group in groups.values()])
    values = np.array([sum(cell.value * cell.weight for cell in group) for group in groups.values()]) / weights
    writers, subtopics = (_numbered([key[at] for key in groups]) for at in (0, 1))
    return components(values, writers=writers, subtopics=subtopics, weights=weights)


def _numbered(keys: Sequence[Hashable]) -> Ints:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


MIN_FREE = 7
"""Sessions beyond the first of each subtopic; with fewer, intervals hold the crossing in under 90 of 100."""
FIRST_CROSSING = "first crossing of people's mean; bootstrap over sessions within subtopics"
METHOD_OVER_WRITERS = (
    "first crossing of people's mean; intervals of people minus system over writers and subtopics"
)
TOO_FEW_SESSIONS = "too few sessions on the subtopics of the system"


@dataclass(frozen=True, slots=True)
class Minutes:
    """The first minute at which people's mean reaches a score, and its interval.

    `value` and both ends are minutes of active time, or infinite where people do not reach the score before their
    time is up. `reason` says why there is no interval. `n_writers` is set where the interval is about these
    writers only.
    """

    target: float
    value: float
    low: float | None
    high: float | None
    n_sessions: int
    n_subtopics: int
    method: str = FIRST_CROSSING
    reason: str = ""
    n_writers: int | None = None


def minutes_worth(
    values: Floats,
    *,
    marks: Sequence[float],
    subtopics: Sequence[Hashable],
    targets: Mapping[Any, float],
    writers: Sequence[Hashable] = (),
    resampling: Resampling = DEFAULT,
) -> Minutes | None:
    """When the mean of sessions reaches a system's score; None where they share no subtopic.

    Args:
        values: scores of sessions at the marks, shape (sessions, marks); NaN where there is none is drawn through,
            and sessions without any are left out.
        marks: minutes of active time, ascending.
        subtopics: of each session.
        targets: the system's score on each of its subtopics.
        writers: of each session; from 5 on they are a sample like the subtopics, else the interval is about these.
        resampling: seed and number of the resamples.
    """
    if values.shape != (len(subtopics), len(marks)):
        raise BadShape(f"{values.shape} values of {len(subtopics)} sessions at {len(marks)} marks")
    has_any = [bool(np.isfinite(row).any()) for row in values]
    shared = [at for at, subtopic in enumerate(subtopics) if subtopic in targets and has_any[at]]
    if not shared:
        return None
    shared.sort(key=lambda at: (targets[subtopics[at]], *np.nan_to_num(values[at], nan=-1.0).tolist()))
    joints, of = values[shared], [subtopics[at] for at in shared]
    if not np.isfinite(joints).all():
        joints = np.array([drawn_through(dict(zip(marks, row, strict=True)), marks) for row in joints])
    target = float(np.mean([targets[subtopic] for subtopic in of]))
    times = np.array([0.0, *marks])
    weights = np.ones((1, len(of)))
    value = float(_crossings(_means(joints, weights), times, target)[0])
    few = Minutes(target, value, None, None, n_sessions=len(of), n_subtopics=len(set(of)), reason=TOO_FEW_SESSIONS)
    who = [writers[at] for at in shared] if writers else list(range(len(of)))
    if writers and len(set(who)) >= MIN_WRITERS and len(set(of)) > 1:
        return replace(few, **_ends_over_writers(joints, times, who, of, targets))
    strata = _strata(of)
    n_free = len(of) - len(strata)
    if n_free < MIN_FREE:
        return few
    crossings = np.sort(_crossings(_means(joints, _weights(strata, len(of), resampling)), times, target))
    tail = expanded_tail(n_free + 1)
    low, high = (float(crossings[round(share * (len(crossings) - 1))]) for share in (tail, 1 - tail))
    return replace(few, low=low, high=high, reason="", n_writers=len(set(who)) if writers else None)


def _ends_over_writers(
    values: Floats,
    times: Floats,
    writers: Sequence[Hashable],
    subtopics: Sequence[Hashable],
    targets: Mapping[Any, float],
) -> dict[str, Any]:
    """From where people may have reached the system to where they have, by the intervals of people minus system.

    The interval at each mark is that of writers and subtopics as samples; its ends run straight between marks.
    """
    ends = []
    for column in np.hstack([np.zeros((len(values), 1)), values]).T:
        cells = [
            Cell(writer, subtopic, score - targets[subtopic])
            for writer, subtopic, score in zip(writers, subtopics, column.tolist(), strict=True)
        ]
        made = components_of(cells)
        ends.append(t_interval(made.mean, made.se or 0.0, made.df or 1.0))
    lower, upper = np.array(ends).T
    low = float(_crossings(upper[None], times, 0.0)[0])
    # Where the lower end stays above 0: the first time from which it is never below again.
    below = np.flatnonzero(lower < -SAME)
    high = float(times[0])
    if len(below):
        last = int(below[-1])
        high = np.inf if last == len(lower) - 1 else float(_crossings(lower[None, last:], times[last:], 0.0)[0])
    return {"low": low, "high": high, "reason": "", "method": METHOD_OVER_WRITERS}


def drawn_through(scores: Mapping[float, float | None], times: Sequence[float]) -> Floats:
    """A session at some times: from 0 at time 0 straight through its own scores by time, then its last one.

    Undefined scores (None or NaN) are passed over; without any other all is NaN.
    """
    known = [(at, score) for at, score in sorted(scores.items()) if score is not None and np.isfinite(score)]
    if not known:
        return np.full(len(times), np.nan)
    own_times, own_scores = zip(*((0.0, 0.0), *known), strict=True)
    return np.asarray(np.interp(times, own_times, own_scores), dtype=np.float64)


def _strata(of: Sequence[Hashable]) -> list[list[int]]:
    """Sessions by subtopic; those that are alone in theirs are taken together."""
    groups: dict[Hashable, list[int]] = {}
    for at, subtopic in enumerate(of):
        groups.setdefault(subtopic, []).append(at)
    alone = [at for group in groups.values() if len(group) == 1 for at in group]
    return [group for group in groups.values() if len(group) > 1] + ([alone] if alone else [])


def _weights(strata: Sequence[list[int]], n_sessions: int, resampling: Resampling) -> Floats:
    """How much each session counts in each resample, shape (resamples, sessions).

    Of n sessions of a subtopic n − 1 are drawn and count n / (n − 1) each (Rao and Wu, 1988): drawing n would
    halve the variance of two.
    """
    rng = np.random.default_rng(resampling.seed)
    weights = np.zeros((resampling.n_resamples, n_sessions))
    for group in strata:
        n = len(group)
        if n == 1:
            weights[:, group[0]] = 1.0
            continue
        drawn = rng.multinomial(n - 1, np.full(n, 1 / n), size=resampling.n_resamples)
        weights[:, group] = drawn * (n / (n - 1))
    return weights


def _means(values: Floats, weights: Floats) -> Floats:
    """Mean curves, from 0 at minute 0: shape (resamples, marks + 1)."""
    means = divide(weights @ values, weights @ np.ones_like(values))
    return np.hstack([np.zeros((len(means), 1)), means])


def _crossings(curves: Floats, times: Floats, target: float) -> Floats:
    """The first time at which each curve is at the target or above, infinite where it never is."""
    above = curves >= target - 1e-12
    first = above.argmax(axis=1)
    rows = np.arange(len(curves))
    before = np.maximum(first - 1, 0)
    rise = curves[rows, first] - curves[rows, before]
    share = np.divide(target - curves[rows, before], rise, out=np.zeros(len(curves)), where=rise > 0)
    crossed = times[before] + share * (times[first] - times[before])
    return np.where(above.any(axis=1), np.where(first == 0, times[0], crossed), np.inf)
