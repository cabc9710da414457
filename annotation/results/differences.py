"""Differences between judges, and between judges and people, each on the items that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotation.results.among_people import AmongPeople, among_people
from annotation.results.references import Reference
from annotation.results.table import LabelTable
from benchmarks.scoring.intervals import Estimate
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.stat import Stat

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


def no_difference_to_people(reference: Reference, estimates: Sequence[Estimates]) -> tuple[Difference, ...]:
    """What stands in place of `against_people` where judges meet one person or what was decided."""
    return tuple(
        Difference(judge.name, "people", {name: OTHER_REFERENCE for name in COMPARED if name in stats})
        for judge, stats in zip(reference.table.judges, estimates, strict=True)
    )


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
