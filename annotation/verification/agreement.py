"""How far people agree on key points: all figures of each task, as a worker computes them, and as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.results.judges import JudgeReport
from annotation.results.people import Agreement, agreement, as_json
from annotation.results.study import study_or_gone
from annotation.results.table import Rater
from annotation.studies.overview import TOO_FAST_MS
from annotation.verification.labels import PointTable, collect, data_version, key_points_of
from annotation.verification.machines import (
    Machine,
    machine_report,
    machines,
    machines_version,
    report_json,
)
from annotation.verification.pairs import StratumRow, strata_of
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.agreement import percent_agreement, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import CATEGORIES, Task
from benchmarks.scoring.stat import Stat, stat_json

UNNAMED = "–"


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Agreement inside one category or domain of questions."""

    name: str
    percent: Stat
    randolph: Stat


@dataclass(frozen=True, slots=True)
class PersonRow:
    """The answers of one annotator to a task and their speed: labels with count and share, seconds an item."""

    name: str
    n: int
    shares: tuple[tuple[str, int, float | None], ...]
    median_s: float | None
    n_fast: int
    n_timed: int


@dataclass(frozen=True, slots=True)
class TaskAgreement:
    """Everything about one task."""

    task: Task
    people: Agreement
    by_category: tuple[GroupRow, ...]
    by_domain: tuple[GroupRow, ...]
    persons: tuple[PersonRow, ...]
    machines: JudgeReport | None


FAST_S = TOO_FAST_MS / 1000
"""What the overview of a study calls too fast, in seconds of active time."""
CONTROL, ALL = "control", "all"


@dataclass(frozen=True, slots=True)
class Look:
    """Which items and people of a study count: the options of the stored figures.

    `scope` is the control group or all items, empty for the control group where there is one; `threshold` is where
    AutoDS scores begin to keep. With `is_public` people appear under their pseudonyms.
    """

    study: int
    threshold: float
    scope: str = ""
    people: tuple[str, ...] = ()
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class KeyPointFigures:
    """All tasks under one look: which items, which people by key and name; `strata` of pairs of a haystack."""

    scope: str
    has_control: bool
    n_items: int
    n_control: int
    n_questions: int
    people: tuple[tuple[str, str], ...]
    threshold: float
    tasks: tuple[TaskAgreement, ...]
    strata: tuple[StratumRow, ...] = ()


def _facts(look: Look) -> object:
    study = study_or_gone(look.study)
    return data_version(study), machines_version(key_points_of(study))


def _figures(look: Look) -> KeyPointFigures:
    study = study_or_gone(look.study)
    table = collect(study).anonymous() if look.is_public else collect(study)
    has_control, everybody = bool(table.is_control.any()), table.people
    scope = look.scope if look.scope in {CONTROL, ALL} else CONTROL if has_control else ALL
    chosen = table.control() if scope == CONTROL else table
    if look.people:
        chosen = chosen.with_people(look.people)
    beside = machines(study, chosen, threshold=look.threshold) if everybody else ()
    return KeyPointFigures(
        scope=scope,
        has_control=has_control,
        n_items=chosen.n_items,
        n_control=int(table.is_control.sum()),
        n_questions=chosen.n_questions,
        people=tuple((person.key, person.name) for person in everybody),
        threshold=look.threshold,
        tasks=tuple(task_agreement(chosen, task, beside=beside) for task in Task) if everybody else (),
        strata=strata_of(study, table.with_people(look.people) if look.people else table),
    )


KEY_POINTS = register(
    Computation(
        "key-point-agreement", options=Look, figures=KeyPointFigures, compute=_figures, facts=_facts, revision=2
    )
)


def task_agreement(
    table: PointTable,
    task: Task,
    *,
    beside: Sequence[Machine] = (),
    resampling: Resampling = DEFAULT,
) -> TaskAgreement:
    """All figures of a task, with the machines `beside` people."""
    with shared_draws():
        return TaskAgreement(
            task=task,
            by_category=_by(table, task, table.categories, resampling),
            by_domain=_by(table, task, table.domains, resampling),
            persons=tuple(_person(table, task, at, person) for at, person in enumerate(table.people)),
            people=agreement(table.label_table(task), resampling=resampling),
            machines=machine_report(table, task, beside, resampling=resampling),
        )


def _by(table: PointTable, task: Task, groups: Sequence[str], resampling: Resampling) -> tuple[GroupRow, ...]:
    if not any(groups):
        return ()
    ratings, names = table.ratings(task), np.array(groups, dtype=object)
    rows = []
    for name in sorted(set(groups), key=lambda group: (not group, group)):
        group = ratings.items(names == name)
        rows.append(
            GroupRow(
                name or UNNAMED,
                percent_agreement(group, resampling=resampling),
                randolph_kappa(group, resampling=resampling),
            )
        )
    return tuple(rows)


def _person(table: PointTable, task: Task, column: int, person: Rater) -> PersonRow:
    codes = table.codes(task)[:, column]
    n = int((codes != MISSING).sum())
    counts = [(label, int((codes == code).sum())) for code, label in enumerate(CATEGORIES[task])]
    seconds = table.seconds[:, column]
    timed = seconds[np.isfinite(seconds) & (seconds > 0)]
    return PersonRow(
        name=person.name,
        n=n,
        shares=tuple((label, count, count / n if n else None) for label, count in counts),
        median_s=float(np.median(timed)) if len(timed) else None,
        n_fast=int((timed < FAST_S).sum()),
        n_timed=len(timed),
    )


def figures_json(figures: KeyPointFigures) -> dict[str, Any]:
    """All figures as plain values."""
    return {
        "scope": figures.scope,
        "autods_threshold": figures.threshold,
        "n_key_points": figures.n_items,
        **({"pairs": [pairs_json(row) for row in figures.strata]} if figures.strata else {}),
        "tasks": {task.task.value: task_json(task) for task in figures.tasks},
    }


def pairs_json(row: StratumRow) -> dict[str, Any]:
    """A stratum of pairs as plain values."""
    return {
        "stratum": row.name,
        "n_pairs": row.n_pairs,
        "n_drawn": row.n_drawn,
        "n_tied": row.n_tied,
        "n_expected": row.n_expected,
        **stat_json({"wrong": row.wrong}),
    }


def task_json(agreement: TaskAgreement) -> dict[str, Any]:
    """As every agreement report, with the groups of questions and the people beside it."""
    return {
        "task": agreement.task.value,
        **as_json(agreement.people),
        "by": {
            "category": _groups_json(agreement.by_category),
            "domain": _groups_json(agreement.by_domain),
        },
        "per_annotator": [
            {
                "annotator": row.name,
                "n": row.n,
                "labels": {label: count for label, count, _share in row.shares},
                "median_seconds": row.median_s,
                "n_timed": row.n_timed,
                f"n_under_{FAST_S:.0f}_s": row.n_fast,
            }
            for row in agreement.persons
        ],
        "machines": report_json(agreement.machines),
    }


def _groups_json(rows: Sequence[GroupRow]) -> dict[str, Mapping[str, Any]]:
    return {
        row.name: {
            **stat_json({"percent": row.percent, "randolph": row.randolph}),
            "n_items": row.percent.n_items,
        }
        for row in rows
    }
