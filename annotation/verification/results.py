"""How far people agree on key points, and machines beside them: figures of each task, and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.models import Study
from annotation.results.judges import JudgeReport, judge_report
from annotation.results.people import Agreement, agreement, as_json
from annotation.results.study import study_or_gone
from annotation.results.table import LabelTable, Rater
from annotation.studies.overview import TOO_FAST_MS
from annotation.verification.labels import (
    ALL,
    CODES,
    CONTROL,
    Look,
    PointTable,
    StratumRow,
    collect,
    facts_of,
    key_points_of,
    said_by_judges,
    strata_of,
)
from benchmarks.engine.tasks.key_points import newest_scores
from benchmarks.models import Judge, KeyPointVerdict
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.agreement import percent_agreement, randolph_kappa
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import CATEGORIES, DROP, KEEP, Task, task_codes
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import DEFAULT, Floats, Ints, shared_draws

AUTODS = "autods"
FIGURES = {
    "percent": "exact_agreement",
    "randolph": "randolph_kappa",
    "cohen": "cohen_kappa",
    "alpha_ordinal": "alpha_ordinal",
}
"""Figures of a machine by the names that those of people have, and by those of the judge table."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A judge, or a score at a threshold; by task `codes` of shape (n,), -1 for none, and `n_invalid`."""

    rater: Rater
    codes: Mapping[Task, Ints]
    n_invalid: Mapping[Task, int]


def machines(study: Study, table: PointTable, *, threshold: float) -> tuple[Machine, ...]:
    """Every judge with verdicts on key points of a study's table, then every source of scores; three queries."""
    if not table.n_items:
        return ()
    judges = {judge.pk: judge for judge in Judge.objects.counted()}
    return (*_judges(study, table, judges), *_scored(study, table, judges, threshold))


def _judges(study: Study, table: PointTable, judges: Mapping[int, Judge]) -> list[Machine]:
    place = {point: at for at, point in enumerate(table.points or table.items)}
    stored: dict[int, dict[str, Ints]] = {}
    invalid: dict[int, dict[str, int]] = {}
    nothing = np.full(table.n_items, MISSING, dtype=np.int64)
    rows = said_by_judges(study).order_by("judge__name", "judge__version", "pk")
    for judge, point, judgment, answer in rows:
        if point not in place:
            continue
        codes = stored.setdefault(judge, {name: nothing.copy() for name in KeyPointVerdict.Judgment.values})
        counts = invalid.setdefault(judge, dict.fromkeys(KeyPointVerdict.Judgment.values, 0))
        if answer in CODES[judgment]:
            codes[judgment][place[point]] = CODES[judgment][answer]
        else:
            counts[judgment] += 1
    return [
        Machine(
            Rater(str(judges[judge].uid), str(judges[judge]), str(judges[judge]), kind=judges[judge].kind),
            {task: task_codes(codes[Task.GROUNDED], codes[Task.KEY_POINT], task) for task in Task},
            {task: sum(invalid[judge].values()) if task is Task.KEEP else invalid[judge][task] for task in Task},
        )
        for judge, codes in stored.items()
    ]


def _scored(study: Study, table: PointTable, judges: Mapping[int, Judge], threshold: float) -> list[Machine]:
    """Scores of each judge, then those of the key points themselves where no judge gave the same."""
    named = {str(judges[pk]): scores for pk, scores in judge_scores(study, table).items()}
    scored = [
        _at_threshold(f"AutoDS by {name} ≥ {threshold:g}", f"{AUTODS}-{name}", scores, threshold)
        for name, scores in sorted(named.items())
    ]
    is_other = not any(np.array_equal(table.autods, scores, equal_nan=True) for scores in named.values())
    if np.isfinite(table.autods).any() and is_other:
        scored.append(_at_threshold(f"AutoDS ≥ {threshold:g}", AUTODS, table.autods, threshold))
    return scored


def judge_scores(study: Study, table: PointTable) -> dict[int, Floats]:
    """{judge pk: newest AutoDS scores of the table's points, shape (n,), NaN for none}; one query."""
    by_judge = {}
    for judge, scores in newest_scores(key_points_of(study)).items():
        values = [scores.get(point) for point in table.points]
        of_judge = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if np.isfinite(of_judge).any():
            by_judge[judge] = of_judge
    return by_judge


def _at_threshold(name: str, key: str, scores: Floats, threshold: float) -> Machine:
    codes = np.where(np.isfinite(scores), np.where(scores >= threshold, KEEP, DROP), MISSING).astype(np.int64)
    return Machine(Rater(key, name, name, kind=AUTODS), {Task.KEEP: codes}, {Task.KEEP: 0})


def machine_report(table: PointTable, task: Task, known: Iterable[Machine]) -> JudgeReport | None:
    """Machines against people by the formulas of the judge table; None where none answered what people did.

    All are on the items that two people answered, as people among themselves are; where there are none, on all.
    """
    able = [machine for machine in known if task in machine.codes]
    labels = _beside(table.label_table(task, only_rated=False), task, able)
    n_ratings = (labels.codes[:, : labels.n_people] != MISSING).sum(axis=1)
    labels = labels.only(n_ratings >= min(2, n_ratings.max(initial=1)))
    if not labels.judges_with_verdicts or not len(labels.codes):
        return None
    return judge_report(labels, with_differences=False)


def _beside(labels: LabelTable, task: Task, able: Sequence[Machine]) -> LabelTable:
    columns = np.stack([machine.codes[task] for machine in able], axis=1) if able else labels.codes[:, :0]
    codes = np.hstack([labels.codes, columns])
    return replace(
        labels,
        judges=tuple(machine.rater for machine in able),
        codes=codes,
        links=np.zeros(codes.shape, dtype=object),
        is_single=np.zeros(codes.shape, dtype=bool),
        n_invalid=tuple(machine.n_invalid[task] for machine in able),
    )


def report_json(report: JudgeReport | None) -> list[dict[str, Any]]:
    """A row for each machine, after that of people among themselves; figures have the names of people's."""
    if report is None:
        return []
    rows = (*((report.ceiling,) if report.ceiling else ()), *report.rows)
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "n": row.n_insights,
            "n_invalid": row.n_invalid,
            **stat_json({name: row.stats[figure] for name, figure in FIGURES.items()}),
            "confusion": row.confusion,
        }
        for row in rows
    ]


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
    task: Task
    people: Agreement
    by_category: tuple[GroupRow, ...]
    by_domain: tuple[GroupRow, ...]
    persons: tuple[PersonRow, ...]
    machines: JudgeReport | None


FAST_S = TOO_FAST_MS / 1000
"""What the overview of a study calls too fast, in seconds of active time."""


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


def _figures(look: Look) -> KeyPointFigures:
    study = study_or_gone(look.study)
    table = collect(study).anonymous() if look.is_public else collect(study)
    has_control, everybody = bool(table.is_control.any()), table.people
    scope = look.scope if look.scope in {CONTROL, ALL} else CONTROL if has_control else ALL
    chosen = table.control() if scope == CONTROL else table
    if look.people:
        chosen = chosen.with_people(look.people)
    strata = strata_of(study, table.with_people(look.people) if look.people else table)
    beside = machines(study, chosen, threshold=look.threshold) if everybody else ()
    return KeyPointFigures(
        scope=scope,
        has_control=has_control,
        strata=strata,
        n_items=chosen.n_items,
        n_control=int(table.is_control.sum()),
        n_questions=chosen.n_questions,
        people=tuple((person.key, person.name) for person in everybody),
        threshold=look.threshold,
        tasks=tuple(task_agreement(chosen, task, beside=beside) for task in Task) if everybody else (),
    )


KEY_POINTS = register(
    Computation(
        "key-point-agreement", options=Look, figures=KeyPointFigures, compute=_figures, facts=facts_of, revision=2
    )
)


def task_agreement(table: PointTable, task: Task, *, beside: Sequence[Machine] = ()) -> TaskAgreement:
    """All figures of a task, with the machines `beside` people."""
    with shared_draws():
        return TaskAgreement(
            task=task,
            by_category=_by(table, task, table.categories),
            by_domain=_by(table, task, table.domains),
            persons=tuple(_person(table, task, at, person) for at, person in enumerate(table.people)),
            people=agreement(table.label_table(task)),
            machines=machine_report(table, task, beside),
        )


def _by(table: PointTable, task: Task, groups: Sequence[str]) -> tuple[GroupRow, ...]:
    if not any(groups):
        return ()
    ratings, names = table.ratings(task), np.array(groups, dtype=object)
    rows = []
    for name in sorted(set(groups), key=lambda group: (not group, group)):
        group = ratings.items(names == name)
        rows.append(
            GroupRow(
                name or "–",
                percent_agreement(group, resampling=DEFAULT),
                randolph_kappa(group, resampling=DEFAULT),
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
    pairs = [
        {
            "stratum": row.name,
            **{name: getattr(row, name) for name in ("n_pairs", "n_drawn", "n_tied", "n_expected")},
            **stat_json({"wrong": row.wrong}),
        }
        for row in figures.strata
    ]
    return {
        "scope": figures.scope,
        "autods_threshold": figures.threshold,
        "n_key_points": figures.n_items,
        **({"pairs": pairs} if pairs else {}),
        "tasks": {task.task.value: task_json(task) for task in figures.tasks},
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
