"""Verification of key points: what two judgments together say, whose labels agree, and what is kept.

Task 1 asks whether a point is in the text (grounded), task 2 whether it is key. After a no in task 1, task 2 is
missing, whatever was stored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchmarks.scoring.agreement import Measure, by_subset, randolph_kappa
from benchmarks.scoring.intervals import DEFAULT, BadShape, Resampling, rate
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat


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


@dataclass(frozen=True, slots=True)
class Label:
    """What one person said of one key point; None is not answered. `key_point` is as stored, not masked."""

    grounded: str | None = None
    key_point: str | None = None

    def answer(self, task: Task) -> str | None:
        """The category of a task, None where there is none: task 2 counts only after a yes."""
        if task is Task.GROUNDED:
            return self.grounded
        after_yes = self.key_point if self.grounded == "yes" else None
        if task is Task.KEY_POINT:
            return after_yes
        if self.grounded is None or (self.grounded == "yes" and after_yes is None):
            return None
        return "keep" if after_yes == "agree" else "drop"


@dataclass(frozen=True, slots=True)
class Sheet:
    """Labels of key points: for each a mapping of annotator to label; `clusters` has the question of each."""

    rows: tuple[Mapping[str, Label], ...]
    annotators: tuple[str, ...]
    clusters: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.clusters):
            raise BadShape(f"{len(self.rows)} key points in {len(self.clusters)} questions")

    def ratings(self, task: Task) -> Ratings:
        """The table of one task, masked."""
        rows = [{who: label.answer(task) for who, label in row.items()} for row in self.rows]
        return Ratings.from_rows(rows, categories=CATEGORIES[task], raters=self.annotators, clusters=self.clusters)

    def only(self, positions: Iterable[int]) -> Sheet:
        """Some of the key points, by position from 0."""
        kept = list(positions)
        return Sheet(tuple(self.rows[at] for at in kept), self.annotators, tuple(self.clusters[at] for at in kept))


class Rule(StrEnum):
    """How chosen annotators who disagree decide."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"


class Outcome(StrEnum):
    """What becomes of a key point. Tied ones are dropped, unresolved ones wait for an adjudication."""

    KEPT = "kept"
    DROPPED = "dropped"
    TIED = "tied"
    UNRESOLVED = "unresolved"
    UNLABELLED = "unlabelled"


def decide(answers: Sequence[str | None], rule: Rule, *, adjudicated: bool | None = None) -> Outcome:
    """The outcome of the keep / drop answers of the chosen annotators; those who said nothing do not count.

    `adjudicated` decides under its rule alone. A point that one person labelled is decided by that person.
    """
    if rule is Rule.ADJUDICATED and adjudicated is not None:
        return Outcome.KEPT if adjudicated else Outcome.DROPPED
    given = [answer == "keep" for answer in answers if answer is not None]
    if not given:
        return Outcome.UNLABELLED
    if all(given):
        return Outcome.KEPT
    if not any(given):
        return Outcome.DROPPED
    if rule is Rule.ADJUDICATED:
        return Outcome.UNRESOLVED
    if rule is Rule.UNANIMOUS:
        return Outcome.DROPPED
    if 2 * sum(given) == len(given):
        return Outcome.TIED
    return Outcome.KEPT if 2 * sum(given) > len(given) else Outcome.DROPPED


@dataclass(frozen=True, slots=True)
class Retention:
    """What a choice of annotators and a rule keep; `outcomes` run parallel to the key points of the sheet.

    `share` is kept / decided, where tied points are decided (dropped) and unresolved ones are not.
    """

    outcomes: tuple[Outcome, ...]
    share: Stat

    def count(self, outcome: Outcome) -> int:
        """How many key points came out so."""
        return self.outcomes.count(outcome)


def retention(
    sheet: Sheet,
    *,
    chosen: Sequence[str],
    rule: Rule = Rule.UNANIMOUS,
    adjudicated: Mapping[int, bool] | None = None,
    resampling: Resampling = DEFAULT,
) -> Retention:
    """Decide every key point; `adjudicated` has decisions by position. The interval resamples questions."""
    decisions = adjudicated or {}
    outcomes = tuple(
        decide(
            [row[who].answer(Task.KEEP) for who in chosen if who in row], rule, adjudicated=decisions.get(position)
        )
        for position, row in enumerate(sheet.rows)
    )
    waiting = (Outcome.UNRESOLVED, Outcome.UNLABELLED)
    decided = [
        (outcome is Outcome.KEPT, cluster)
        for outcome, cluster in zip(outcomes, sheet.clusters, strict=True)
        if outcome not in waiting
    ]
    if not decided:
        return Retention(outcomes, Stat.undefined("no key point is decided", method="retention"))
    share = rate(
        [kept for kept, _ in decided],
        clusters=[cluster for _, cluster in decided],
        resampling=resampling,
        method="retention",
    )
    return Retention(outcomes, share)


def retention_by(
    sheet: Sheet,
    groups: Sequence[str],
    *,
    chosen: Sequence[str],
    rule: Rule = Rule.UNANIMOUS,
    adjudicated: Mapping[int, bool] | None = None,
    resampling: Resampling = DEFAULT,
) -> dict[str, Retention]:
    """`retention` of each group of key points (their category or domain), in order of appearance."""
    members: dict[str, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    decisions = adjudicated or {}
    return {
        group: retention(
            sheet.only(positions),
            chosen=chosen,
            rule=rule,
            adjudicated={at: decisions[old] for at, old in enumerate(positions) if old in decisions},
            resampling=resampling,
        )
        for group, positions in members.items()
    }


def retention_by_annotator(sheet: Sheet, *, resampling: Resampling = DEFAULT) -> dict[str, Retention]:
    """What each annotator alone would keep of what they labelled."""
    return {who: retention(sheet, chosen=[who], resampling=resampling) for who in sheet.annotators}


@dataclass(frozen=True, slots=True)
class RankedSubset:
    """A set of annotators: its figure where subsets were ranked, and on the questions held out."""

    annotators: tuple[str, ...]
    ranked_on: Stat
    held_out: Stat


def halves(clusters: Sequence[Hashable], *, seed: int) -> tuple[list[int], list[int]]:
    """Positions of items in two halves of whole questions, drawn by seed; the first has the odd one."""
    names = list(dict.fromkeys(clusters))
    order = np.random.default_rng(seed).permutation(len(names))
    first = {names[at] for at in order[: (len(names) + 1) // 2]}
    inside = [position for position, cluster in enumerate(clusters) if cluster in first]
    return inside, [position for position, cluster in enumerate(clusters) if cluster not in first]


def rank_subsets(
    sheet: Sheet, task: Task, *, seed: int, measure: Measure = randolph_kappa
) -> tuple[RankedSubset, ...]:
    """`ranked_subsets` of a task."""
    return ranked_subsets(sheet.ratings(task), seed=seed, measure=measure)


def ranked_subsets(
    ratings: Ratings, *, seed: int, measure: Measure = randolph_kappa, reporting: Measure | None = None
) -> tuple[RankedSubset, ...]:
    """Every set of two or more annotators, best first on one half of the questions, reported on the other.

    Ranking and reporting on the same items would flatter the winner. Sets without a figure come last; of equal
    ones the larger set comes first. `reporting` is `measure` by default; one with an interval costs more.
    """
    parts = []
    for positions in halves(ratings.clusters or range(len(ratings.codes)), seed=seed):
        mask = np.zeros(len(ratings.codes), dtype=bool)
        mask[positions] = True
        parts.append(ratings.items(mask))
    inside, outside = by_subset(measure, parts[0]), by_subset(reporting or measure, parts[1])
    found = [RankedSubset(who, inside[who], outside[who]) for who in inside]

    def place(one: RankedSubset) -> tuple[bool, float, int, tuple[str, ...]]:
        value = one.ranked_on.value
        return (value is None, 0.0 if value is None else -value, -len(one.annotators), one.annotators)

    return tuple(sorted(found, key=place))
