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

from benchmarks.recall.figures import Judged, Table, order_of, overall
from benchmarks.recall.plain import row_json
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.keypoints import best_and_second, recall
from benchmarks.scoring.ranking import RankAgreement, rank_agreement
from benchmarks.scoring.stat import Stat, stat_json

PARTS = ("category", "domain", "document_length", "response_length")
"""What the responses of a system are divided by."""
ALL = ""


def common_questions(rows: Sequence[Judged]) -> frozenset[Hashable]:
    """Questions on which every system has recall by every judge, among those that are there."""
    wanted = {(row.system, row.judge) for row in rows if row.answer.n_key_points}
    there: dict[Hashable, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row.answer.n_key_points:
            there[row.answer.question].add((row.system, row.judge))
    return frozenset(question for question, found in there.items() if found == wanted)


def judged_questions(rows: Sequence[Judged]) -> frozenset[Hashable]:
    """Questions on which any system has recall."""
    return frozenset(row.answer.question for row in rows if row.answer.n_key_points)


@dataclass(frozen=True, slots=True)
class Compared:
    """The responses that systems are compared on, of `n_judged` questions that any of them answered."""

    table: Table
    only_common: bool
    n_questions: int
    n_judged: int


def compared(table: Table, *, only_common: bool) -> Compared:
    """Leave out questions that a system shown has not answered, or that a judge shown has not judged."""
    judged = judged_questions(table.rows)
    kept = common_questions(table.rows) if only_common else judged
    return Compared(table.on(kept), only_common, len(kept), len(judged))


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a table of systems; `rank` is 1 for the best of its column, 2 for the second, else 0."""

    stat: Stat | None
    rank: int


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Recall of each system in each group of a part; `columns` are the groups, then all of them together."""

    part: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns without the last."""
        return self.columns[:-1]


def cross_table(rows: Sequence[Judged], part: str, *, resampling: Resampling = DEFAULT) -> CrossTable:
    """Recall of systems (macro) in every group of a part, best and second marked in every column.

    Where `part` is "judge" there is no column of all, as figures of several judges are never mixed.
    """
    members: dict[str, dict[str, list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        members[row.group(part)][row.system].append(row)
        if part != "judge":
            members[ALL][row.system].append(row)
    names = sorted(members, key=lambda name: (name == ALL, order_of(name, part) if name else (0, "")))
    with shared_draws():
        columns = {
            name: {
                system: recall([row.answer for row in own], resampling=resampling)
                for system, own in members[name].items()
            }
            for name in names
        }
    marks = {name: best_and_second(column) for name, column in columns.items()}

    def cell(system: str, name: str) -> Cell:
        best, second = marks[name]
        rank = 1 if system in best else 2 if system in second else 0
        return Cell(columns[name].get(system), rank if len(columns[name]) > 1 else 0)

    systems = sorted({row.system for row in rows})
    return CrossTable(
        part, tuple(names), tuple((system, tuple(cell(system, name) for name in names)) for system in systems)
    )


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
    found = rank_agreement(*values, systems=systems, resampling=resampling)
    return JudgePair(first, second, len(questions), found)


def _answered(pairs: Collection[tuple[Any, str]], at_least: int) -> list[Any]:
    """Questions that at least so many systems answered."""
    counts: dict[Any, int] = defaultdict(int)
    for question, _system in pairs:
        counts[question] += 1
    return sorted(question for question, n in counts.items() if n >= at_least)


# As plain values


def as_json(table: Table, *, only_common: bool) -> dict[str, Any]:
    """Rows for each system and judge in every part, and how alike judges rank the systems.

    `n_questions` and `n_judged_questions` are by judge: how many count, of those that any system answered.
    """
    by_judge = {name: compared(table.of_judge(name), only_common=only_common) for name in table.judges}
    rows = [row for found in by_judge.values() for row in found.table.rows]
    with shared_draws():
        parts = {part: _rows(rows, part) for part in PARTS}
        whole = _rows(rows, "judge")
        judged_by_all = compared(table, only_common=only_common)
        shared = _rows(judged_by_all.table.rows, "judge")
    return {
        "only_common": only_common,
        "n_questions": {name: found.n_questions for name, found in by_judge.items()},
        "n_judged_questions": {name: found.n_judged for name, found in by_judge.items()},
        "all": whole,
        **parts,
        "judge": shared,
        "ranking": [pair_json(one) for one in judge_pairs(table, only_common=only_common)],
    }


def _rows(rows: Sequence[Judged], part: str) -> list[dict[str, Any]]:
    members: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for row in rows:
        members[row.system, row.judge, row.group(part)].append(row)
    keys = sorted(members, key=lambda key: (key[0], key[1], order_of(key[2], part)))
    return [row_json(overall(members[key]), system=key[0], name=key[2], judge=key[1]) for key in keys]


def pair_json(pair: JudgePair) -> dict[str, Any]:
    """Two judges as plain values: correlations, the systems' means by each, and pairs of systems they swap."""
    found = pair.found
    return {
        "first": pair.first,
        "second": pair.second,
        "n_systems": len(found.means),
        "n_questions": pair.n_questions,
        **stat_json({"kendall": found.kendall, "spearman": found.spearman}),
        "means": {
            system: {pair.first: one, pair.second: other, "n": n}
            for system, (one, other, n) in found.means.items()
        },
        "swapped": [list(systems) for systems in found.swapped],
    }
