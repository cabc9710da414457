"""The AutoDS score of a key point (Long²RAG A.2): how far a model prefers yes to no; what a threshold costs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.means import rate
from benchmarks.scoring.stat import Stat, mean_of_stats
from benchmarks.scoring.sums import BadShape, Bools

N_BINS = 20


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 1, or bounds where one of the two answers was not listed, or a reason why neither."""

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""

    def passes(self, threshold: float) -> bool | None:
        """Whether the score is at least the threshold; None where the bounds do not tell."""
        if self.low is None or self.high is None:
            return None
        if self.low >= threshold:
            return True
        return False if self.high < threshold else None


def score(yes: Sequence[float], no: Sequence[float], *, least_listed: float | None = None) -> Score:
    """e^yes / (e^yes + e^no) from log-probabilities of the first token, summed over spellings of each answer.

    `least_listed` is the smallest log-probability that the server listed: an answer that is not listed is at
    most as likely. It bounds the score where one side is missing; where both are, there is none.
    """
    if not yes and not no:
        return Score(None, None, None, "neither yes nor no was among the listed tokens")
    if yes and no:
        value = _share(_log_sum(yes) - _log_sum(no))
        return Score(value, value, value)
    known = math.exp(_log_sum(yes or no))
    other = max(0.0, 1 - known)
    if least_listed is not None:
        other = min(other, math.exp(least_listed))
    share = known / (known + other) if known else 0.0
    if yes:
        return Score(None, share, 1.0, "no was not among the listed tokens")
    return Score(None, 0.0, 1 - share, "yes was not among the listed tokens")


def _log_sum(logs: Sequence[float]) -> float:
    """log Σ e^x without underflow."""
    most = max(logs)
    return most + math.log(math.fsum(math.exp(log_value - most) for log_value in logs))


def _share(difference: float) -> float:
    """e^yes / (e^yes + e^no) from yes − no, without overflow."""
    ratio = math.exp(-abs(difference))
    return 1 / (1 + ratio) if difference >= 0 else ratio / (1 + ratio)


@dataclass(frozen=True, slots=True)
class Bin:
    """How many scores are from `low` up to `high`, which only the last bin includes."""

    low: float
    high: float
    count: int


def histogram(scores: Sequence[float]) -> tuple[Bin, ...]:
    """Bins of equal width from 0 to 1."""
    counts = [0] * N_BINS
    for value in scores:
        counts[min(int(value * N_BINS), N_BINS - 1)] += 1
    return tuple(Bin(at / N_BINS, (at + 1) / N_BINS, count) for at, count in enumerate(counts))


def cumulative(scores: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """(score, share of scores at most that high) for each score that occurs, ascending."""
    ordered = sorted(scores)
    last = {value: number for number, value in enumerate(ordered, 1)}
    return tuple((value, number / len(ordered)) for value, number in last.items())


@dataclass(frozen=True, slots=True)
class ThresholdFigures:
    """What passing scores of at least `threshold` does, with one person's labels as the truth.

    `retention`: share of all scored points that pass. `false_positive_rate`: share of the points that are not
    key which pass. `false_discovery_rate`: share of those that pass which are not key (the paper's wording of
    its 8.7 %). `false_omission_rate`: share of those filtered out which are key. `n_unlabelled` points have a
    score and no label; they count for retention only.
    """

    threshold: float
    retention: Stat
    false_positive_rate: Stat
    false_discovery_rate: Stat
    false_omission_rate: Stat
    n_unlabelled: int


_NOTHING_AMONG = {
    "retention": "no scores",
    "false_positive_rate": "every labelled point is key",
    "false_discovery_rate": "no labelled point passes",
    "false_omission_rate": "every labelled point passes",
}
RATES = tuple(_NOTHING_AMONG)


def at_threshold(
    scores: Sequence[float],
    is_key: Sequence[bool | None],
    *,
    threshold: float,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
) -> ThresholdFigures:
    """Figures at one threshold; all arguments run in parallel over points, `is_key` None where unlabelled."""
    if len(scores) != len(is_key) or (clusters is not None and len(clusters) != len(scores)):
        raise BadShape(f"{len(scores)} scores, {len(is_key)} labels")
    key, other = (np.array([label is wanted for label in is_key], dtype=bool) for wanted in (True, False))
    stats = {}
    for name, (hits, among) in rate_parts(np.array(scores) >= threshold, key, other).items():
        method = name.replace("_", " ")
        if not among.any():
            stats[name] = Stat.undefined(_NOTHING_AMONG[name], method=method)
            continue
        keys = None if clusters is None else [clusters[at] for at in np.flatnonzero(among).tolist()]
        stats[name] = rate(hits[among], clusters=keys, resampling=resampling, method=method)
    return ThresholdFigures(threshold=threshold, n_unlabelled=int((~(key | other)).sum()), **stats)


def rate_parts(passes: Bools, key: Bools, other: Bools) -> dict[str, tuple[Bools, Bools]]:
    """Of each of `RATES` the hits and what they are among, all of shape (points,).

    `key` and `other` are the points that a person calls key and not key.
    """
    labelled = key | other
    return {
        "retention": (passes, np.ones(len(passes), dtype=bool)),
        "false_positive_rate": (passes & other, other),
        "false_discovery_rate": (passes & other, passes & labelled),
        "false_omission_rate": (~passes & key, ~passes & labelled),
    }


def mean_of(figures: Sequence[ThresholdFigures]) -> dict[str, Stat]:
    """Each rate averaged over the people who have it (same threshold), without an interval."""
    result = {}
    for name in RATES:
        stats = [getattr(figure, name) for figure in figures]
        method = f"{name.replace('_', ' ')}, mean of {sum(stat.is_defined for stat in stats)} people"
        mean = mean_of_stats(stats, method=method, reason="undefined for everyone", n_items=max)
        reason = "no interval for a mean over people" if mean.is_defined else ""
        result[name] = replace(mean, interval_reason=reason)
    return result
