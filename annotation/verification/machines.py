"""What machines say of the key points that people verified: model judges, and AutoDS scores at a threshold.

A judge answers both judgments. A score only says keep (at least the threshold) or drop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Study
from annotation.results.judges import JudgeReport, JudgeRow, judge_report
from annotation.results.table import LabelTable, Rater
from annotation.verification.labels import PointTable, key_points_of
from benchmarks.engine.tasks.key_points import newest_scores
from benchmarks.models import AutodsScore, Judge, KeyPointVerdict
from benchmarks.scoring.draws import Resampling
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import CATEGORIES, DROP, KEEP, Task, task_codes
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import Floats, Ints

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
    """Every judge with verdicts on key points of a study's table, then every source of scores; three queries.

    Labels made elsewhere are on no key points of this site, so they have none.
    """
    if not table.points:
        return ()
    judges = {judge.pk: judge for judge in Judge.objects.counted()}
    return (*_judges(study, table, judges), *_scored(study, table, judges, threshold))


def _verdicts_on(points: QuerySet[Any, Any]) -> Any:
    return KeyPointVerdict.objects.counted().filter(key_point__in=points, repeat=0)


def _judges(study: Study, table: PointTable, judges: Mapping[int, Judge]) -> list[Machine]:
    place = {point: at for at, point in enumerate(table.points)}
    stored: dict[int, dict[str, Ints]] = {}
    invalid: dict[int, dict[str, int]] = {}
    rows = _verdicts_on(key_points_of(study)).order_by("judge__name", "judge__version", "pk")
    for judge, point, judgment, answer in rows.values_list("judge_id", "key_point_id", "judgment", "answer"):
        if point not in place:
            continue
        codes = stored.setdefault(judge, {name: _nothing(table) for name in KeyPointVerdict.Judgment.values})
        counts = invalid.setdefault(judge, dict.fromkeys(KeyPointVerdict.Judgment.values, 0))
        if answer:
            codes[judgment][place[point]] = CATEGORIES[Task(judgment)].index(answer)
        else:
            counts[judgment] += 1
    return [
        Machine(
            _rater(judges[judge]),
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


def _nothing(table: PointTable) -> Ints:
    return np.full(table.n_items, MISSING, dtype=np.int64)


def _rater(judge: Judge) -> Rater:
    return Rater(str(judge.uid), str(judge), str(judge), kind=judge.kind)


def machine_report(
    table: PointTable, task: Task, known: Iterable[Machine], *, resampling: Resampling
) -> JudgeReport | None:
    """Machines against people by the formulas of the judge table; None where none answered what people did.

    All are on the items that two people answered, as people among themselves are; where there are none, on all.
    """
    able = [machine for machine in known if task in machine.codes]
    labels = _beside(table.label_table(task, only_rated=False), task, able)
    n_ratings = (labels.codes[:, : labels.n_people] != MISSING).sum(axis=1)
    labels = labels.only(n_ratings >= min(2, n_ratings.max(initial=1)))
    if not labels.judges_with_verdicts or not len(labels.codes):
        return None
    return judge_report(labels, resampling=resampling, with_differences=False)


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


def stats_of(row: JudgeRow) -> dict[str, Stat]:
    """The figures of a machine, or of people, under the names that the agreement of people has."""
    return {name: row.stats[figure] for name, figure in FIGURES.items()}


def report_json(report: JudgeReport | None) -> list[dict[str, Any]]:
    """A row for each machine, after that of people among themselves."""
    if report is None:
        return []
    rows = (*((report.ceiling,) if report.ceiling else ()), *report.rows)
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "n": row.n_insights,
            "n_invalid": row.n_invalid,
            **stat_json(stats_of(row)),
            "confusion": row.confusion,
        }
        for row in rows
    ]


def machines_version(points: QuerySet[Any, Any]) -> str:
    """Changes with all that `machines` reads of key points: judges that count, verdicts, scores. Three queries."""
    judges = list(Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "kind"))
    scores = AutodsScore.objects.counted().filter(key_point__in=points)
    facts = {"n": Count("pk"), "last": Max("pk"), "total": Sum("pk")}
    answers = [rows.order_by().aggregate(**facts) for rows in (_verdicts_on(points), scores)]
    return hashlib.sha256(repr((judges, answers)).encode()).hexdigest()[:12]
