"""Judges beside people on the same items: the judge table with the human ceiling, and differences of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from annotation.figures.table import LabelTable, Rater
from benchmarks.scoring.agreement import percent_agreement, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, People, Resampling, people_of, shared_draws
from benchmarks.scoring.expected import PEARSON, moment_sums
from benchmarks.scoring.intervals import SHARE, Batch, Estimate, Figure
from benchmarks.scoring.linking import CHANCE, LINKING, Column
from benchmarks.scoring.pairs import add_pair, confusion_of, estimates_of, pair_figures, stats_of
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import Score

MEAN, MAJORITY, ADJUDICATED = "mean", "majority", "adjudicated"
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
COMPARED = ("pearson", "exact_agreement", "covered.kappa", "linking")
"""Figures whose differences between judges are shown."""
NOTHING_COMMON = Stat.undefined("no labelled item in common", method="paired difference")
MAX_IN_CEILING = 12
"""People who are compared with each other; more pairs would take long and change little."""


class UnknownReference(ValueError):
    """Nobody of this name labelled anything here, or nothing was adjudicated."""


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
class Difference:
    """One judge minus another on the items that both judged, drawn in pairs."""

    first: str
    second: str
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class Consistency:
    """How often a judge says the same when asked again."""

    judge: str
    n_repeats: int
    percent: Stat
    randolph: Stat


def consistency(table: LabelTable, repeated: Mapping[str, Ratings]) -> tuple[Consistency, ...]:
    """Agreement of each judge with itself over repeats, for those that were asked more than once."""
    names = {judge.key: judge.name for judge in table.judges}
    with shared_draws():
        return tuple(
            Consistency(
                names[key],
                len(ratings.raters),
                percent_agreement(ratings, resampling=DEFAULT),
                randolph_kappa(ratings, resampling=DEFAULT),
            )
            for key, ratings in repeated.items()
        )


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The judge table against one reference; `ceiling`, the people among themselves, is None under two on an item.

    Against a majority each person stands before the majority of the others (`is_against_rest`). A judge that knew
    the truth would correlate more with people than they do with each other: `highest` is what it could reach, the
    square root of their correlation, None where that is not computed. The reference covers `n_reference` of
    `n_items` labelled items; judges are compared on these only.
    """

    reference: str
    reference_note: str
    ceiling: JudgeRow | None
    rows: tuple[JudgeRow, ...]
    differences: tuple[Difference, ...]
    n_clusters: int
    cluster_unit: str
    n_ties: int
    n_reference: int
    n_items: int
    highest: Stat | None = None

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
    with shared_draws():
        ceiling, highest = _ceiling(table, figures, resampling, by_majority=reference == MAJORITY)
        rows, estimates = [], []
        for index, judge in enumerate(table.judges):
            row, found = _row(table, judge, index, humans, figures, resampling, people)
            rows.append(row)
            estimates.append(found)
        differences = (
            _differences(table, humans, figures, estimates, resampling, people) if with_differences else ()
        )
    return JudgeReport(
        reference=reference,
        reference_note=note,
        ceiling=ceiling,
        rows=tuple(rows),
        differences=differences,
        n_clusters=table.n_clusters,
        cluster_unit=table.cluster_unit,
        n_ties=n_ties,
        n_reference=int(_any_human(humans).sum()),
        n_items=len(table.codes),
        highest=highest,
    )


def reference_columns(table: LabelTable, reference: str) -> tuple[list[Column], str, int]:
    """The human columns that judges are compared with, what they are in words, and the ties left out."""
    columns = table.columns_of_people()
    if reference == MEAN:
        note = "the only annotator" if len(columns) == 1 else f"each of {len(columns)} annotators, then their mean"
        return columns, note, 0
    if reference == MAJORITY:
        chosen, n_ties = _majority(table, range(table.n_people))
        return [chosen], f"the label most annotators gave; {n_ties} ties left out", n_ties
    if reference == ADJUDICATED:
        return [_adjudicated(table)], _adjudicated_note(table), 0
    for person, one in zip(table.people, columns, strict=True):
        if reference in {person.name, person.pseudonym, person.key}:
            return [one], f"annotator {person.name}", 0
    known = ", ".join([MEAN, MAJORITY, ADJUDICATED, *(person.name for person in table.people)])
    raise UnknownReference(f"There is no reference “{reference}” here; use one of: {known}.")


def _adjudicated(table: LabelTable) -> Column:
    """What researchers decided, where they did."""
    if table.gold_codes is None or table.gold_links is None or not (table.gold_codes >= 0).any():
        raise UnknownReference("Nothing is adjudicated among these labels yet.")
    return Column(table.gold_codes, table.gold_links, table.gold_links.astype(bool))


def _adjudicated_note(table: LabelTable) -> str:
    n = 0 if table.gold_codes is None else int((table.gold_codes >= 0).sum())
    return f"the adjudicated label, which {n} of {len(table.codes)} items have"


def _majority(table: LabelTable, people: Sequence[int]) -> tuple[Column, int]:
    """The label that most of some people gave each item, and the lines that most of these linked; and the ties."""
    codes, links = table.codes[:, people], table.links[:, people]
    counts = np.stack([(codes == code).sum(axis=1) for code in range(len(table.categories))], axis=1)
    best = counts.max(axis=1)
    tied = (counts == best[:, None]).sum(axis=1) > 1
    chosen = np.where((best > 0) & ~tied, counts.argmax(axis=1), -1)
    masks = np.zeros(len(codes), dtype=object)
    for item in np.flatnonzero(chosen >= 0):
        given = [
            mask for code, mask in zip(codes[item], links[item], strict=True) if code == chosen[item] and mask
        ]
        if given:
            masks[item] = max(given, key=given.count)
    return Column(chosen, masks, masks.astype(bool)), int((tied & (best > 0)).sum())


def _row(
    table: LabelTable,
    judge: Rater,
    index: int,
    humans: Sequence[Column],
    figures: Mapping[str, Figure],
    resampling: Resampling | None,
    people: People | None,
) -> tuple[JudgeRow, dict[str, Estimate]]:
    batch = Batch(table.n_clusters, resampling)
    items, own = table.pair_items(), table.column_of_judge(index)
    pairs = [add_pair(batch, items, human, own, rules=(*LINKING, CHANCE)) for human in humans]
    found = estimates_of(batch, pairs, figures, people=people)
    found |= _on_expected(batch, table, humans, index, own, people)
    n_insights = int(((own.codes != MISSING) & _any_human(humans)).sum())
    row = JudgeRow(
        name=judge.name,
        key=judge.key,
        kind=judge.kind,
        stats=stats_of(batch, pairs, found),
        hits={name: one.counts for name, one in found.items() if one.counts is not None},
        n_insights=n_insights,
        n_invalid=table.n_invalid[index],
        confusion=confusion_of(batch, pairs, table.categories),
        cost=_cost(judge, n_insights),
        score=table.score_of(index),
        is_fitted_here=table.is_fitted_here(judge),
        colour=index,
    )
    return row, found


def _ceiling(
    table: LabelTable, figures: Mapping[str, Figure], resampling: Resampling | None, *, by_majority: bool
) -> tuple[JudgeRow | None, Stat | None]:
    """People against each other by the judges' formulas, and the highest correlation that a judge can have.

    Each pair both ways round, then the mean; where judges meet a majority of three people or more, each person
    against the majority of the others, so that both stand before the same kind of reference.
    """
    batch = Batch(table.n_clusters, resampling)
    items, columns = table.pair_items(), table.columns_of_people()[:MAX_IN_CEILING]
    against_rest = by_majority and len(columns) > 2
    if against_rest:
        everyone = range(len(columns))
        who: list[tuple[int, ...]] = [(own,) for own in everyone]
        sides = [(_majority(table, [at for at in everyone if at != own])[0], columns[own]) for own in everyone]
    else:
        sides = [pair for one, other in combinations(columns, 2) for pair in ((one, other), (other, one))]
        who = [pair for pair in combinations(range(len(columns)), 2) for _both_ways in range(2)]
    added = [add_pair(batch, items, first, second, rules=LINKING) for first, second in sides]
    kept = [at for at, blocks in enumerate(added) if blocks.n_items]
    if not kept:
        return None, None
    pairs = [added[at] for at in kept]
    people = people_of([who[at] for at in kept], len(columns), resampling)
    found = estimates_of(batch, pairs, figures, people=people)
    each_twice = 1 if against_rest else 2
    counts = (table.codes[:, : table.n_people] != MISSING).sum(axis=1)
    row = JudgeRow(
        name="people",
        key=AGAINST_REST if against_rest else AMONG_THEMSELVES,
        kind="person",
        stats=stats_of(batch, pairs, found),
        hits={
            name: (one.counts[0] // each_twice, one.counts[1] // each_twice)
            for name, one in found.items()
            if one.counts is not None
        },
        n_insights=int((counts >= 2).sum()),
        n_invalid=0,
        confusion=confusion_of(batch, pairs[::each_twice], table.categories),
        cost=Stat.undefined("paid time of labelling is not part of these labels"),
    )
    if against_rest:
        return row, None
    return row, _square_root(found["pearson"]).stat(n_items=row.stats["pearson"].n_items)


def _square_root(correlation: Estimate) -> Estimate:
    """The square root of a correlation, 0 where it is negative."""
    return Estimate(
        method="square root of people's correlation with each other",
        reason=correlation.reason,
        value=float(np.sqrt(np.clip(correlation.value, 0, None))),
        draw=lambda: np.sqrt(np.clip(correlation.values, 0, None)),
        n_clusters=correlation.n_clusters,
        resampling=correlation.resampling,
        bounds=SHARE,
        n_people=correlation.n_people,
    )


def _cost(judge: Rater, n_insights: int) -> Stat:
    if judge.cost is None:
        return Stat.undefined(judge.cost_reason or "unknown", n_items=n_insights, method=judge.cost_method)
    return Stat(judge.cost, n_items=n_insights, method=judge.cost_method)


def _any_human(humans: Sequence[Column]) -> Any:
    return np.any([human.codes != MISSING for human in humans], axis=0)


def _differences(
    table: LabelTable,
    humans: Sequence[Column],
    figures: Mapping[str, Figure],
    estimates: Sequence[Mapping[str, Estimate]],
    resampling: Resampling | None,
    people: People | None,
) -> tuple[Difference, ...]:
    """Every two judges on common items; where both judged the same ones, the estimates made before are used."""
    judged = [table.column_of_judge(index).codes != MISSING for index in range(len(table.judges))]
    anybody = _any_human(humans)
    found = []
    for a, b in combinations(range(len(table.judges)), 2):
        common = judged[a] & judged[b]
        n_items = int((common & anybody).sum())
        names = table.judges[a].name, table.judges[b].name
        if not n_items:
            shown = [name for name in COMPARED if name in estimates[a]]
            found.append(Difference(*names, dict.fromkeys(shown, NOTHING_COMMON)))
            continue
        first, second = estimates[a], estimates[b]
        if (judged[a] != judged[b]).any():
            first, second = (
                _on_common(table, humans, figures, index, common, resampling, people) for index in (a, b)
            )
        stats = {name: first[name].minus(second[name]).stat(n_items=n_items) for name in COMPARED if name in first}
        found.append(Difference(*names, stats))
    return tuple(found)


def _on_common(
    table: LabelTable,
    humans: Sequence[Column],
    figures: Mapping[str, Figure],
    index: int,
    common: Any,
    resampling: Resampling | None,
    people: People | None,
) -> dict[str, Estimate]:
    batch = Batch(table.n_clusters, resampling)
    items, own = table.pair_items(), table.column_of_judge(index)
    part = replace(own, codes=np.where(common, own.codes, MISSING))
    pairs = [add_pair(batch, items, human, part, rules=("linking",)) for human in humans]
    found = estimates_of(batch, pairs, figures, names=COMPARED, people=people)
    return found | _on_expected(batch, table, humans, index, part, people)


def _on_expected(
    batch: Batch,
    table: LabelTable,
    humans: Sequence[Column],
    index: int,
    own: Column,
    people: People | None,
) -> dict[str, Estimate]:
    """Pearson on what a judge expects of the items it has in `own`, where that is asked for and it says it."""
    if table.score_of(index) is Score.LABEL:
        return {}
    judged = np.where(own.codes == MISSING, np.nan, table.worth_of_judge(index))
    blocks = [
        batch.add(moment_sums(table.worth_of(human.codes), judged, table.clusters, table.n_clusters))
        for human in humans
    ]
    return {"pearson": batch.estimate(PEARSON, blocks, people=people)}


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
