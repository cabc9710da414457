"""Verification of key points: what two judgments together say, whose labels agree, what is kept; AutoDS scores.

Task 1 asks whether a point is in the text (grounded), task 2 whether it is key. After a no in task 1, task 2 is
missing, whatever was stored. The AutoDS score (Long²RAG A.2) is how far a model prefers yes to no.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from benchmarks.scoring.agreement import by_subset, randolph_kappa
from benchmarks.scoring.intervals import rate
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat, mean_of_stats
from benchmarks.scoring.sums import DEFAULT, BadShape, Bools, Ints


class Task(StrEnum):
    """Judgments that agreement is computed on."""

    GROUNDED = "grounded"
    KEY_POINT = "key_point"
    KEEP = "keep"


CATEGORIES = {
    Task.GROUNDED: ("yes", "no"),
    Task.KEY_POINT: ("agree", "neutral", "disagree"),
    Task.KEEP: ("keep", "drop"),
}
YES, NO = 0, 1
AGREE = 0
KEEP, DROP = 0, 1
"""Positions in `CATEGORIES`."""


def task_codes(grounded: Ints, key_point: Ints, task: Task) -> Ints:
    """Answers to a task as positions in its categories, -1 for none, from the stored answers to both questions.

    All three arrays have one shape. The second answer is missing after a no to the first, whatever was stored.
    """
    if task is Task.GROUNDED:
        return grounded
    after: Ints = np.where(grounded == NO, MISSING, key_point)
    if task is Task.KEY_POINT:
        return after
    after_yes = np.where((after == MISSING) | (grounded != YES), MISSING, np.where(after == AGREE, KEEP, DROP))
    return np.where(grounded == NO, DROP, after_yes)


class Rule(StrEnum):
    """How chosen annotators who disagree decide."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"


class Outcome(StrEnum):
    """Fate of a key point.

    Tied ones are dropped, unresolved ones wait for an adjudication; a filtered one would be kept, but its AutoDS
    score is under the threshold.
    """

    KEPT = "kept"
    DROPPED = "dropped"
    TIED = "tied"
    UNRESOLVED = "unresolved"
    UNLABELLED = "unlabelled"
    FILTERED = "filtered"


def decide(answers: Sequence[str | None], rule: Rule, *, adjudicated: bool | None = None) -> Outcome:
    """The outcome of the keep / drop answers of the chosen annotators; those who did not answer do not count.

    `adjudicated` decides under its rule alone. A point that one person labelled is decided by that person.
    """
    if rule is Rule.ADJUDICATED and adjudicated is not None:
        return Outcome.KEPT if adjudicated else Outcome.DROPPED
    kept = [answer == "keep" for answer in answers if answer is not None]
    if not kept:
        return Outcome.UNLABELLED
    if all(kept):
        return Outcome.KEPT
    if not any(kept):
        return Outcome.DROPPED
    if rule is Rule.ADJUDICATED:
        return Outcome.UNRESOLVED
    if rule is Rule.UNANIMOUS:
        return Outcome.DROPPED
    if 2 * sum(kept) == len(kept):
        return Outcome.TIED
    return Outcome.KEPT if 2 * sum(kept) > len(kept) else Outcome.DROPPED


UNDECIDED = (Outcome.UNRESOLVED, Outcome.UNLABELLED)


def outcomes(
    keep: Ints, rule: Rule, *, adjudicated: Sequence[bool | None] | None = None, is_filtered: Bools | None = None
) -> tuple[Outcome, ...]:
    """Decide on each key point.

    `keep`, shape (points, chosen annotators), holds `KEEP`, `DROP` or -1. `adjudicated` and `is_filtered` run
    parallel to the points: the decision if there is one, and whether a score leaves the point out.
    """
    known: dict[tuple[tuple[int, ...], bool | None], Outcome] = {}
    outcomes = []
    for row, decision in zip(keep.tolist(), adjudicated or [None] * len(keep), strict=True):
        key = (tuple(row), decision)
        if key not in known:
            answers = [None if code == MISSING else CATEGORIES[Task.KEEP][code] for code in row]
            known[key] = decide(answers, rule, adjudicated=decision)
        outcomes.append(known[key])
    if is_filtered is None:
        return tuple(outcomes)
    return tuple(
        Outcome.FILTERED if under and outcome is Outcome.KEPT else outcome
        for outcome, under in zip(outcomes, is_filtered.tolist(), strict=True)
    )


def retention(is_kept: Bools, is_decided: Bools, clusters: Sequence[Hashable]) -> Stat:
    """Share kept of the key points decided, all of shape (points,); the interval resamples questions.

    Tied points are decided (dropped), unresolved ones are not.
    """
    method = "kept of the key points decided"
    if not is_decided.any():
        return Stat.undefined("no key point is decided", method=method)
    keys = [clusters[at] for at in np.flatnonzero(is_decided).tolist()]
    return rate(is_kept[is_decided], clusters=keys, method=method)


@dataclass(frozen=True, slots=True)
class RankedSubset:
    """A set of annotators: its figure where subsets were ranked, and on the questions held out."""

    annotators: tuple[str, ...]
    ranked_on: Stat
    held_out: Stat


REPORTED = partial(randolph_kappa, resampling=DEFAULT)


def halves(clusters: Sequence[Hashable], *, seed: int) -> tuple[list[int], list[int]]:
    """Positions of items in two halves that split no question, drawn by seed; the first has the odd one."""
    names = list(dict.fromkeys(clusters))
    order = np.random.default_rng(seed).permutation(len(names))
    first = {names[at] for at in order[: (len(names) + 1) // 2]}
    inside = [position for position, cluster in enumerate(clusters) if cluster in first]
    return inside, [position for position, cluster in enumerate(clusters) if cluster not in first]


def ranked_subsets(ratings: Ratings, *, seed: int) -> tuple[RankedSubset, ...]:
    """Every set of two or more annotators, best first on one half of the questions, reported on the other.

    Ranking and reporting on the same items would flatter the winner. Sets without a figure come last; of equal
    ones the larger set comes first.
    """
    parts = []
    for positions in halves(ratings.clusters or range(len(ratings.codes)), seed=seed):
        mask = np.zeros(len(ratings.codes), dtype=bool)
        mask[positions] = True
        parts.append(ratings.items(mask))
    inside, outside = by_subset(randolph_kappa, parts[0]), by_subset(REPORTED, parts[1])
    subsets = [RankedSubset(who, inside[who], outside[who]) for who in inside]

    def order(subset: RankedSubset) -> tuple[bool, float, int, tuple[str, ...]]:
        value = subset.ranked_on.value
        return (value is None, 0.0 if value is None else -value, -len(subset.annotators), subset.annotators)

    return tuple(sorted(subsets, key=order))


N_BINS = 20


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 1, or bounds where one of the two answers was not listed, or a reason why neither."""

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""


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


def histogram(scores: Sequence[float]) -> list[dict[str, float]]:
    """How many scores are from `low` up to `high`, in bins of equal width; only the last includes its end."""
    counts = [0] * N_BINS
    for value in scores:
        counts[min(int(value * N_BINS), N_BINS - 1)] += 1
    return [{"low": at / N_BINS, "high": (at + 1) / N_BINS, "count": count} for at, count in enumerate(counts)]


def cumulative(scores: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """(score, share of scores at most that high) for each score that occurs, ascending."""
    ordered = sorted(scores)
    last = {value: number for number, value in enumerate(ordered, 1)}
    return tuple((value, number / len(ordered)) for value, number in last.items())


@dataclass(frozen=True, slots=True)
class ThresholdFigures:
    """Effects of passing scores of at least `threshold`, with one person's labels as the truth.

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
    clusters: Sequence[Hashable],
) -> ThresholdFigures:
    """Figures at one threshold; all arguments run in parallel over points, `is_key` None where unlabelled."""
    if not len(scores) == len(is_key) == len(clusters):
        raise BadShape(f"{len(scores)} scores, {len(is_key)} labels")
    key, other = (np.array([label is wanted for label in is_key], dtype=bool) for wanted in (True, False))
    stats = {}
    for name, (hits, among) in rate_parts(np.array(scores) >= threshold, key, other).items():
        method = name.replace("_", " ")
        if not among.any():
            stats[name] = Stat.undefined(_NOTHING_AMONG[name], method=method)
            continue
        keys = [clusters[at] for at in np.flatnonzero(among).tolist()]
        stats[name] = rate(hits[among], clusters=keys, method=method)
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
