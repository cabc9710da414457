"""Systems side by side: each in every part of the questions by one judge, and by several judges.

A system that skipped hard questions would look good beside one that answered all, so by default only questions
count that all systems shown have answered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.recall.figures import Group, Judged, Table, by_system
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.ranking import RankAgreement, rank_agreement

PARTS = ("category", "domain", "document_length", "response_length")
"""What the responses of a system are divided by."""


def common_questions(rows: Sequence[Judged]) -> frozenset[Hashable]:
    """Questions on which every system has recall by every judge, among those that are there."""
    wanted = {(row.system, row.judge) for row in rows if row.answer.n_key_points}
    there: dict[Hashable, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row.answer.n_key_points:
            there[row.answer.question].add((row.system, row.judge))
    return frozenset(question for question, answered in there.items() if answered == wanted)


def judged_questions(rows: Sequence[Judged]) -> frozenset[Hashable]:
    """Questions on which any system has recall."""
    return frozenset(row.answer.question for row in rows if row.answer.n_key_points)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many questions systems are compared on, of `n_judged` that any of them answered."""

    only_common: bool
    n_questions: int
    n_judged: int


@dataclass(frozen=True, slots=True)
class Compared:
    """The responses that systems are compared on."""

    table: Table
    counted: Counted


def compared(table: Table, *, only_common: bool) -> Compared:
    """Leave out questions that a system shown has not answered, or that a judge shown has not judged."""
    judged = judged_questions(table.rows)
    kept = common_questions(table.rows) if only_common else judged
    return Compared(table.on(kept), Counted(only_common, len(kept), len(judged)))


@dataclass(frozen=True, slots=True)
class JudgePair:
    """How alike two judges rank systems, on the questions that both judged."""

    first: str
    second: str
    n_questions: int
    found: RankAgreement


def judge_pairs(table: Table, *, only_common: bool, resampling: Resampling = DEFAULT) -> tuple[JudgePair, ...]:
    """Every two judges on the systems that both judged, with `only_common` on what all of these answered."""
    recalls: dict[str, dict[tuple[Any, str], float]] = defaultdict(dict)
    for row in table.rows:
        if (value := row.answer.recall) is not None:
            recalls[row.judge][row.answer.question, row.system] = value
    with shared_draws():
        return tuple(
            _pair(first, second, recalls, only_common=only_common, resampling=resampling)
            for first, second in combinations([name for name in table.judges if name in recalls], 2)
        )


def _pair(
    first: str,
    second: str,
    recalls: Mapping[str, Mapping[tuple[Any, str], float]],
    *,
    only_common: bool,
    resampling: Resampling,
) -> JudgePair:
    both = recalls[first].keys() & recalls[second].keys()
    systems = sorted({system for _, system in both})
    questions = _answered(both, len(systems) if only_common else 1)
    values = [
        np.array(
            [[recalls[judge].get((question, system), np.nan) for system in systems] for question in questions]
        ).reshape(len(questions), len(systems))
        for judge in (first, second)
    ]
    agreement = rank_agreement(*values, systems=systems, resampling=resampling)
    return JudgePair(first, second, len(questions), agreement)


def _answered(pairs: Collection[tuple[Any, str]], at_least: int) -> list[Any]:
    """Questions that at least so many systems answered."""
    counts: dict[Any, int] = defaultdict(int)
    for question, _system in pairs:
        counts[question] += 1
    return sorted(question for question, n in counts.items() if n >= at_least)


@dataclass(frozen=True, slots=True)
class Systems:
    """Systems by each judge on the questions that are `counted` for it: whole, and in every part of the responses.

    `shared` are those that all judges judged, on the questions that are `shared_counted`.
    """

    counted: Mapping[str, Counted]
    whole: tuple[Group, ...]
    parts: Mapping[str, tuple[Group, ...]]
    shared: tuple[Group, ...]
    shared_counted: Counted
    ranking: tuple[JudgePair, ...]

    def of(self, judge: str) -> Systems:
        """What one judge says."""

        def common(groups: Sequence[Group]) -> tuple[Group, ...]:
            return tuple(group for group in groups if group.judge == judge)

        return Systems(
            counted={name: counted for name, counted in self.counted.items() if name == judge},
            whole=common(self.whole),
            parts={part: common(groups) for part, groups in self.parts.items()},
            shared=common(self.whole),
            shared_counted=self.counted.get(judge, Counted(self.shared_counted.only_common, 0, 0)),
            ranking=(),
        )


def systems_of(table: Table, *, only_common: bool) -> Systems:
    """All systems of a table."""
    by_judge = {name: compared(table.of_judge(name), only_common=only_common) for name in table.judges}
    rows = [row for figures in by_judge.values() for row in figures.table.rows]
    shared = compared(table, only_common=only_common)
    with shared_draws():
        return Systems(
            counted={name: figures.counted for name, figures in by_judge.items()},
            whole=by_system(rows, "judge"),
            parts={part: by_system(rows, part) for part in PARTS},
            shared=by_system(shared.table.rows, "judge"),
            shared_counted=shared.counted,
            ranking=judge_pairs(table, only_common=only_common),
        )
