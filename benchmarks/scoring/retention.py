"""Verification of key points: what two judgments together say, whose labels agree, and what is kept.

Task 1 asks whether a point is in the text (grounded), task 2 whether it is key. After a no in task 1, task 2 is
missing, whatever was stored.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchmarks.scoring.agreement import Measure, by_subset, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.means import rate
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Ints


class Task(StrEnum):
    """What agreement is computed on."""

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
    keep: Ints = np.where(grounded == NO, DROP, after_yes)
    return keep


class Rule(StrEnum):
    """How chosen annotators who disagree decide."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"


class Outcome(StrEnum):
    """What becomes of a key point.

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
    """What becomes of each key point.

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


def retention(
    is_kept: Bools, is_decided: Bools, clusters: Sequence[Hashable], *, resampling: Resampling = DEFAULT
) -> Stat:
    """Share kept of the key points decided, all of shape (points,); the interval resamples questions.

    Tied points are decided (dropped), unresolved ones are not.
    """
    method = "kept of the key points decided"
    if not is_decided.any():
        return Stat.undefined("no key point is decided", method=method)
    keys = [clusters[at] for at in np.flatnonzero(is_decided).tolist()]
    return rate(is_kept[is_decided], clusters=keys, resampling=resampling, method=method)


@dataclass(frozen=True, slots=True)
class RankedSubset:
    """A set of annotators: its figure where subsets were ranked, and on the questions held out."""

    annotators: tuple[str, ...]
    ranked_on: Stat
    held_out: Stat


def halves(clusters: Sequence[Hashable], *, seed: int) -> tuple[list[int], list[int]]:
    """Positions of items in two halves that split no question, drawn by seed; the first has the odd one."""
    names = list(dict.fromkeys(clusters))
    order = np.random.default_rng(seed).permutation(len(names))
    first = {names[at] for at in order[: (len(names) + 1) // 2]}
    inside = [position for position, cluster in enumerate(clusters) if cluster in first]
    return inside, [position for position, cluster in enumerate(clusters) if cluster not in first]


def ranked_subsets(
    ratings: Ratings, *, seed: int, reporting: Measure = randolph_kappa
) -> tuple[RankedSubset, ...]:
    """Every set of two or more annotators, best first on one half of the questions, reported on the other.

    Ranking and reporting on the same items would flatter the winner. Sets without a figure come last; of equal
    ones the larger set comes first. `reporting` may be a kappa with an interval, which costs more.
    """
    parts = []
    for positions in halves(ratings.clusters or range(len(ratings.codes)), seed=seed):
        mask = np.zeros(len(ratings.codes), dtype=bool)
        mask[positions] = True
        parts.append(ratings.items(mask))
    inside, outside = by_subset(randolph_kappa, parts[0]), by_subset(reporting, parts[1])
    subsets = [RankedSubset(who, inside[who], outside[who]) for who in inside]

    def order(subset: RankedSubset) -> tuple[bool, float, int, tuple[str, ...]]:
        value = subset.ranked_on.value
        return (value is None, 0.0 if value is None else -value, -len(subset.annotators), subset.annotators)

    return tuple(sorted(subsets, key=order))
