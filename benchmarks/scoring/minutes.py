"""How many active minutes of people a system is worth: when their mean first reaches its score.

Each session runs from 0 at the start straight from one of its own scores to the next, and keeps its last one;
people's mean is that of sessions at the marks, straight between them. The system's score is weighted like the
sessions, subtopic by subtopic.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.scoring.components import MIN_WRITERS, Cell, components_of
from benchmarks.scoring.draws import DEFAULT, Resampling, expanded_tail
from benchmarks.scoring.intervals import SAME
from benchmarks.scoring.students_t import t_quantile
from benchmarks.scoring.sums import BadShape, Floats, divide

MIN_FREE = 7
"""Sessions beyond the first of each subtopic; with fewer, intervals hold the crossing in under 90 of 100."""
METHOD = "first crossing of people's mean; bootstrap over sessions within subtopics"
METHOD_OVER_WRITERS = (
    "first crossing of people's mean; intervals of people minus system over writers and subtopics"
)
TOO_FEW = "too few sessions on the subtopics of the system"


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
    method: str = METHOD
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
    few = Minutes(target, value, None, None, n_sessions=len(of), n_subtopics=len(set(of)), reason=TOO_FEW)
    who = [writers[at] for at in shared] if writers else list(range(len(of)))
    if writers and len(set(who)) >= MIN_WRITERS and len(set(of)) > 1:
        return replace(few, **_ends_over_writers(joints, times, who, of, targets, resampling.level))
    n_free = _free(of)
    if n_free < MIN_FREE:
        return few
    crossings = np.sort(_crossings(_means(joints, _weights(of, resampling)), times, target))
    tail = expanded_tail(n_free + 1, resampling.level)
    ends = [
        crossings[min(len(crossings) - 1, max(0, round(share * (len(crossings) - 1))))]
        for share in (tail, 1 - tail)
    ]
    return replace(
        few, low=float(ends[0]), high=float(ends[1]), reason="", n_writers=len(set(who)) if writers else None
    )


def _ends_over_writers(
    values: Floats,
    times: Floats,
    writers: Sequence[Hashable],
    subtopics: Sequence[Hashable],
    targets: Mapping[Any, float],
    level: float,
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
        components = components_of(cells)
        half = (
            0.0
            if components.se is None or components.df is None
            else t_quantile(components.df, level) * components.se
        )
        ends.append((components.mean - half, components.mean + half))
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
    alone = [group[0] for group in groups.values() if len(group) == 1]
    return [group for group in groups.values() if len(group) > 1] + ([alone] if alone else [])


def _free(of: Sequence[Hashable]) -> int:
    return sum(len(group) - 1 for group in _strata(of))


def _weights(of: Sequence[Hashable], resampling: Resampling) -> Floats:
    """How much each session counts in each resample, shape (resamples, sessions).

    Of n sessions of a subtopic n − 1 are drawn and count n / (n − 1) each (Rao and Wu, 1988): drawing n would
    halve the variance of two.
    """
    rng = np.random.default_rng(resampling.seed)
    weights = np.zeros((resampling.n_resamples, len(of)))
    for group in _strata(of):
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
