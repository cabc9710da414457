"""Judges beside people on the same items: what they are compared with, the ceiling, the table, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from annotation.results.table import LabelTable, Rater
from benchmarks.scoring.comparison import PEARSON, moment_sums
from benchmarks.scoring.formulas import SHARE, Figure
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.pairs import (
    CHANCE,
    LINKING,
    Blocks,
    Column,
    add_pair,
    confusion_of,
    estimates_of,
    pair_figures,
    stats_of,
)
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import Score
from benchmarks.scoring.sums import DEFAULT, People, Resampling, people_of, shared_draws

MEAN, MAJORITY, ADJUDICATED = "mean", "majority", "adjudicated"


class UnknownReference(ValueError):
    """Nobody of this name labelled anything here, or nothing was adjudicated."""


def reference_columns(table: LabelTable, reference: str) -> tuple[list[Column], str, int]:
    """The human columns that judges are compared with, what they are in words, and the ties left out."""
    columns = table.columns_of_people()
    if reference == MEAN:
        note = "the only annotator" if len(columns) == 1 else f"each of {len(columns)} annotators, then their mean"
        return columns, note, 0
    if reference == MAJORITY:
        chosen, n_ties = majority(table, range(table.n_people))
        return [chosen], f"the label most annotators gave; {n_ties} ties left out", n_ties
    if reference == ADJUDICATED:
        if table.gold_codes is None or table.gold_links is None or not (table.gold_codes >= 0).any():
            raise UnknownReference("Nothing is adjudicated among these labels yet.")
        decided = Column(table.gold_codes, table.gold_links, table.gold_links.astype(bool))
        n = int((decided.codes >= 0).sum())
        return [decided], f"the adjudicated label, which {n} of {len(table.codes)} items have", 0
    for person, column in zip(table.people, columns, strict=True):
        if reference in {person.name, person.pseudonym, person.key}:
            return [column], f"annotator {person.name}", 0
    known = ", ".join([MEAN, MAJORITY, ADJUDICATED, *(person.name for person in table.people)])
    raise UnknownReference(f"There is no reference “{reference}” here; use one of: {known}.")


def majority(table: LabelTable, people: Sequence[int]) -> tuple[Column, int]:
    """The label that most of some people gave each item, and the lines that most of these linked; and the ties."""
    codes, links = table.codes[:, people], table.links[:, people]
    counts = np.stack([(codes == code).sum(axis=1) for code in range(len(table.categories))], axis=1)
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1) > 1
    chosen = np.where((best > 0) & ~tied, counts.argmax(axis=1), -1)
    masks = np.zeros(len(codes), dtype=object)
    for item in np.flatnonzero(chosen >= 0):
        coverages = [
            mask for code, mask in zip(codes[item], links[item], strict=True) if code == chosen[item] and mask
        ]
        if coverages:
            masks[item] = max(coverages, key=coverages.count)
    return Column(chosen, masks, masks.astype(bool)), int((tied & (best > 0)).sum())


@dataclass(frozen=True)
class Reference:
    """The human columns of a table that judges are compared with, and how."""

    table: LabelTable
    humans: Sequence[Column]
    figures: Mapping[str, Figure]
    resampling: Resampling | None
    people: People | None

    @property
    def covered(self) -> Any:
        """Items that it has a label for, shape (items,)."""
        return np.any([human.codes != MISSING for human in self.humans], axis=0)

    def estimates(self, index: int) -> tuple[Batch, list[Blocks], dict[str, Estimate]]:
        """All figures of a judge, with what they were made of."""
        verdicts = self.table.column_of_judge(index)
        batch, pairs = self._pairs(verdicts, rules=(*LINKING, CHANCE))
        estimates = estimates_of(batch, pairs, self.figures, people=self.people)
        return batch, pairs, estimates | self._on_expected(batch, index, verdicts)

    def on_items(self, index: int, of_items: Any, names: Sequence[str]) -> dict[str, Estimate]:
        part = only_items(self.table.column_of_judge(index), of_items)
        batch, pairs = self._pairs(part, rules=("linking",))
        estimates = estimates_of(batch, pairs, self.figures, names=names, people=self.people)
        return estimates | self._on_expected(batch, index, part)

    def _pairs(self, column: Column, rules: Sequence[str]) -> tuple[Batch, list[Blocks]]:
        batch, items = Batch(self.table.n_clusters, self.resampling), self.table.pair_items()
        return batch, [add_pair(batch, items, human, column, rules=rules) for human in self.humans]

    def _on_expected(self, batch: Batch, index: int, verdicts: Column) -> dict[str, Estimate]:
        """Pearson on what a judge expects of the items it has in `own`, where that is asked for and it says it."""
        table = self.table
        if table.score_of(index) is Score.LABEL:
            return {}
        judged = np.where(verdicts.codes == MISSING, np.nan, table.worth_of_judge(index))
        blocks = [
            batch.add(moment_sums(table.worth_of(human.codes), judged, table.clusters, table.n_clusters))
            for human in self.humans
        ]
        return {"pearson": batch.estimate(PEARSON, blocks, people=self.people)}


def only_items(column: Column, of_items: Any) -> Column:
    """The same column without its labels of other items."""
    return replace(column, codes=np.where(of_items, column.codes, MISSING))


MAX_IN_CEILING = 12
"""People who are compared with each other; more pairs would take long and change little."""


@dataclass(frozen=True, slots=True)
class AmongPeople:
    """People against each other: what was compared, and the estimates."""

    batch: Batch
    pairs: list[Blocks]
    found: dict[str, Estimate]
    is_against_rest: bool


def among_people(
    table: LabelTable,
    figures: Mapping[str, Figure],
    resampling: Resampling | None,
    *,
    by_majority: bool,
    of_items: Any = None,
    names: Sequence[str] | None = None,
) -> AmongPeople | None:
    """People against each other by the judges' formulas; None where no item has two labels.

    Each pair both ways round, then the mean; where judges meet a majority of three people or more, each person
    against the majority of the others, so that both stand before the same kind of reference. With a mask
    `of_items`, on these only; with `names`, only these figures.
    """
    batch = Batch(table.n_clusters, resampling)
    items, columns = table.pair_items(), table.columns_of_people()[:MAX_IN_CEILING]
    against_rest = by_majority and len(columns) > 2
    if against_rest:
        everyone = range(len(columns))
        who: list[tuple[int, ...]] = [(person,) for person in everyone]
        sides = [
            (majority(table, [at for at in everyone if at != person])[0], columns[person]) for person in everyone
        ]
    else:
        sides = [pair for first, other in combinations(columns, 2) for pair in ((first, other), (other, first))]
        who = [pair for pair in combinations(range(len(columns)), 2) for _both_ways in range(2)]
    if of_items is not None:
        sides = [(first, only_items(second, of_items)) for first, second in sides]
    added = [add_pair(batch, items, first, second, rules=LINKING) for first, second in sides]
    kept = [at for at, blocks in enumerate(added) if blocks.n_items]
    if not kept:
        return None
    pairs = [added[at] for at in kept]
    people = people_of([who[at] for at in kept], len(columns), resampling)
    estimates = estimates_of(batch, pairs, figures, names=names, people=people)
    return AmongPeople(batch, pairs, estimates, against_rest)


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
                to_people = tuple(
                    Difference(judge.name, "people", {name: OTHER_REFERENCE for name in COMPARED if name in stats})
                    for judge, stats in zip(against.table.judges, estimates, strict=True)
                )
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
    # The square root of a correlation, 0 where it is negative.
    correlation = among.found["pearson"]
    without = correlation.left_out
    highest = Estimate(
        figure=Figure(
            "square root of people's correlation with each other", np.sqrt, correlation.figure.reason, SHARE
        ),
        value=float(np.sqrt(np.clip(correlation.value, 0, None))),
        draw=lambda: np.sqrt(np.clip(correlation.values, 0, None)),
        n_clusters=correlation.n_clusters,
        resampling=correlation.resampling,
        n_people=correlation.n_people,
        left_out=None if without is None else lambda: without().mapped(lambda r: np.sqrt(np.clip(r, 0, None))),
    ).stat(n_items=row.stats["pearson"].n_items)
    return row, None if among.is_against_rest else highest


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


COMPARED = ("pearson", "exact_agreement", "covered.kappa", "linking")
"""Figures whose differences are shown."""
NOTHING_COMMON = Stat.undefined("no labelled item in common", method="paired difference")
OTHER_REFERENCE = Stat.undefined(
    "people are compared with each other, judges with another reference", method="paired difference"
)

Estimates = Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Difference:
    """One judge minus another, or minus people, on the items that both have, drawn in pairs."""

    first: str
    second: str
    stats: Mapping[str, Stat]


def between_judges(reference: Reference, estimates: Sequence[Estimates]) -> tuple[Difference, ...]:
    """Every two judges on common items; where both judged the same, the estimates made before are used."""
    table, covered = reference.table, reference.covered
    judged = [_judged(table, index) for index in range(len(table.judges))]
    differences = []
    for a, b in combinations(range(len(table.judges)), 2):
        common = judged[a] & judged[b]
        first, second = estimates[a], estimates[b]
        if (judged[a] != judged[b]).any():
            first, second = (reference.on_items(index, common, COMPARED) for index in (a, b))
        stats = _minus(first, second, n_items=int((common & covered).sum()))
        differences.append(Difference(table.judges[a].name, table.judges[b].name, stats))
    return tuple(differences)


def against_people(
    reference: Reference, estimates: Sequence[Estimates], among: AmongPeople, *, by_majority: bool
) -> tuple[Difference, ...]:
    """Each judge minus the people's row, both on the items that the judge and two people labelled.

    Where these are all that one of them has, its estimates made before are used.
    """
    table, covered = reference.table, reference.covered
    twice = table.is_labelled_twice
    differences = []
    for index, judge in enumerate(table.judges):
        judged = _judged(table, index)
        common = twice & judged
        estimates_of_judge, theirs = estimates[index], among.found
        if (common != judged & covered).any():
            estimates_of_judge = reference.on_items(index, common, COMPARED)
        if (common != twice).any():
            part = among_people(
                table,
                reference.figures,
                reference.resampling,
                by_majority=by_majority,
                of_items=common,
                names=COMPARED,
            )
            theirs = part.found if part else {}
        stats = _minus(estimates_of_judge, theirs, n_items=int((common & covered).sum()))
        differences.append(Difference(judge.name, "people", stats))
    return tuple(differences)


def _judged(table: LabelTable, index: int) -> Any:
    """Items that a judge has a label of, shape (items,)."""
    return table.column_of_judge(index).codes != MISSING


def _minus(first: Estimates, second: Estimates, *, n_items: int) -> dict[str, Stat]:
    return {
        name: first[name].minus(second[name]).stat(n_items=n_items)
        if n_items and name in second
        else NOTHING_COMMON
        for name in COMPARED
        if name in first
    }
