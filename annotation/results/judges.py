"""Judges beside people on the same items: the judge table with the human ceiling, and differences of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.results.among_people import AmongPeople, among_people
from annotation.results.differences import Difference, against_people, between_judges, no_difference_to_people
from annotation.results.references import MAJORITY, MEAN, Reference, reference_columns
from annotation.results.table import LabelTable, Rater
from benchmarks.scoring.draws import DEFAULT, Resampling, people_of, shared_draws
from benchmarks.scoring.formulas import SHARE
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.linking import LINKING
from benchmarks.scoring.pairs import Blocks, confusion_of, pair_figures, stats_of
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import Score

AMONG_THEMSELVES, AGAINST_REST = "people", "people-against-rest"
"""Keys of the people's row."""
FIGURES = (
    "pearson",
    "exact_agreement",
    "cohen_kappa",
    "linear_kappa",
    "quadratic_kappa",
    "randolph_kappa",
    "alpha_ordinal",
)
COVERED = ("covered.accuracy", "covered.kappa", "covered.tpr", "covered.tnr")


@dataclass(frozen=True, slots=True)
class Consistency:
    """How often a judge says the same when asked again."""

    judge: str
    n_repeats: int
    percent: Stat
    randolph: Stat


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge, or the people themselves. `confusion[human][judge]` counts labels; `cost` in the price's unit.

    `score` says what its correlation is of: its labels, or the coverage it expects. A row that `is_fitted_here`
    was fitted on labels of these haystacks, which are no test of it.
    `colour` is the judge's place among all, so that it looks the same however rows are chosen and sorted.
    """

    name: str
    key: str
    kind: str
    stats: Mapping[str, Stat]
    hits: Mapping[str, tuple[int, int]]
    n_insights: int
    n_invalid: int
    confusion: Mapping[str, Mapping[str, int]]
    cost: Stat
    score: Score = Score.LABEL
    is_fitted_here: bool = False
    colour: int = 0

    def stat(self, name: str) -> Stat | None:
        """A figure by name, None where this row has none."""
        return self.stats.get(name)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The judge table against one reference; `ceiling`, the people among themselves, is None under two on an item.

    Against a majority each person stands before the majority of the others (`is_against_rest`). A judge that knew
    the truth would correlate more with people than they do with each other: `highest` is the square root of their
    correlation, which it would have if they are equally reliable, None where that is not computed. The reference
    covers `n_reference` of `n_items` labelled items; judges are compared on these only.
    """

    reference: str
    reference_note: str
    ceiling: JudgeRow | None
    rows: tuple[JudgeRow, ...]
    differences: tuple[Difference, ...]
    against_people: tuple[Difference, ...]
    n_clusters: int
    cluster_unit: str
    n_ties: int
    n_reference: int
    n_items: int
    highest: Stat | None = None

    @property
    def all_differences(self) -> tuple[Difference, ...]:
        """Judges minus people, then judges minus each other."""
        return self.against_people + self.differences

    @property
    def is_against_rest(self) -> bool:
        """Whether the people's row is each person against the majority of the others."""
        return self.ceiling is not None and self.ceiling.key == AGAINST_REST


def judge_report(
    table: LabelTable,
    *,
    reference: str = MEAN,
    resampling: Resampling | None = DEFAULT,
    with_differences: bool = True,
) -> JudgeReport:
    """Compare every judge with the reference.

    It is the `mean` over people, the `majority` label, what was `adjudicated`, or one person's name.

    Without `resampling` no figure has an interval, and all of them take milliseconds.
    """
    resampling = table.resampled(resampling)
    humans, note, n_ties = reference_columns(table, reference)
    each = [(at,) for at in range(table.n_people)]
    people = people_of(each, table.n_people, resampling) if reference == MEAN else None
    figures = pair_figures(table.worth, has_covered=table.has_covered)
    against = Reference(table, humans, figures, resampling, people)
    by_majority = reference == MAJORITY
    to_people: tuple[Difference, ...] = ()
    differences: tuple[Difference, ...] = ()
    with shared_draws():
        among = among_people(table, figures, resampling, by_majority=by_majority)
        ceiling, highest = _ceiling(table, among) if among else (None, None)
        made = [against.estimates(index) for index in range(len(table.judges))]
        rows = tuple(_row(against, index, *row) for index, row in enumerate(made))
        if with_differences:
            estimates = [estimates for *_, estimates in made]
            differences = between_judges(against, estimates)
            if among and reference in {MEAN, MAJORITY}:
                to_people = against_people(against, estimates, among, by_majority=by_majority)
            elif among:
                to_people = no_difference_to_people(against, estimates)
    return JudgeReport(
        reference=reference,
        reference_note=note,
        ceiling=ceiling,
        rows=rows,
        differences=differences,
        against_people=to_people,
        n_clusters=table.n_clusters,
        cluster_unit=table.cluster_unit,
        n_ties=n_ties,
        n_reference=int(against.covered.sum()),
        n_items=len(table.codes),
        highest=highest,
    )


def _row(
    against: Reference, index: int, batch: Batch, pairs: Sequence[Blocks], estimates: Mapping[str, Estimate]
) -> JudgeRow:
    """A judge with its figures."""
    table, judge = against.table, against.table.judges[index]
    n_insights = int(((table.column_of_judge(index).codes != MISSING) & against.covered).sum())
    return JudgeRow(
        name=judge.name,
        key=judge.key,
        kind=judge.kind,
        stats=stats_of(batch, pairs, estimates),
        hits={name: estimate.counts for name, estimate in estimates.items() if estimate.counts is not None},
        n_insights=n_insights,
        n_invalid=table.n_invalid[index],
        confusion=confusion_of(batch, pairs, table.categories),
        cost=_cost(judge, n_insights),
        score=table.score_of(index),
        is_fitted_here=table.is_fitted_here(judge),
        colour=index,
    )


def _ceiling(table: LabelTable, among: AmongPeople) -> tuple[JudgeRow, Stat | None]:
    """The people's row, and the highest correlation that a judge can have."""
    each_twice = 1 if among.is_against_rest else 2
    row = JudgeRow(
        name="people",
        key=AGAINST_REST if among.is_against_rest else AMONG_THEMSELVES,
        kind="person",
        stats=stats_of(among.batch, among.pairs, among.found),
        hits={
            name: (estimate.counts[0] // each_twice, estimate.counts[1] // each_twice)
            for name, estimate in among.found.items()
            if estimate.counts is not None
        },
        n_insights=int(table.is_labelled_twice.sum()),
        n_invalid=0,
        confusion=confusion_of(among.batch, among.pairs[::each_twice], table.categories),
        cost=Stat.undefined("paid time of labelling is not part of these labels"),
    )
    highest = _square_root(among.found["pearson"]).stat(n_items=row.stats["pearson"].n_items)
    return row, None if among.is_against_rest else highest


def _square_root(correlation: Estimate) -> Estimate:
    """The square root of a correlation, 0 where it is negative."""
    without = correlation.left_out
    return Estimate(
        method="square root of people's correlation with each other",
        reason=correlation.reason,
        value=float(np.sqrt(np.clip(correlation.value, 0, None))),
        draw=lambda: np.sqrt(np.clip(correlation.values, 0, None)),
        n_clusters=correlation.n_clusters,
        resampling=correlation.resampling,
        bounds=SHARE,
        n_people=correlation.n_people,
        left_out=None if without is None else lambda: without().mapped(lambda r: np.sqrt(np.clip(r, 0, None))),
    )


def _cost(judge: Rater, n_insights: int) -> Stat:
    if judge.cost is None:
        return Stat.undefined(judge.cost_reason or "unknown", n_items=n_insights, method=judge.cost_method)
    return Stat(judge.cost, n_items=n_insights, method=judge.cost_method)


def as_json(report: JudgeReport) -> list[dict[str, Any]]:
    """One object per judge, as `manage.py report judges` prints them."""
    covers = {"reference_items": report.n_reference, "labelled_items": report.n_items, "ties": report.n_ties}
    return [row_json(row, reference=report.reference) | covers for row in report.rows]


def row_json(row: JudgeRow, *, reference: str) -> dict[str, Any]:
    """One judge as plain values; linking with hits and n, covered as an object of its own."""
    stats = dict(row.stats) | {"cost": row.cost}
    plain = stat_json(stats)
    linking = {
        rule: {"hits": row.hits[rule][0], "n": row.hits[rule][1], "value": plain.pop(rule)}
        for rule in LINKING
        if rule in row.hits
    }
    covered = {name.removeprefix("covered."): plain.pop(name) for name in COVERED if name in plain}
    return {
        "judge": row.name,
        "kind": row.kind,
        "reference": reference,
        "score": row.score.value,
        "fitted_here": row.is_fitted_here,
        **plain,
        **linking,
        "covered": covered,
        "n_insights": row.n_insights,
        "n_invalid": row.n_invalid,
        "confusion": row.confusion,
    }
