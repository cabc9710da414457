"""What judges are compared with: each person, the majority label, the adjudicated one, or one person's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.results.table import LabelTable
from benchmarks.scoring.comparison import PEARSON, moment_sums
from benchmarks.scoring.draws import People, Resampling
from benchmarks.scoring.formulas import Figure
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.linking import CHANCE, LINKING, Column
from benchmarks.scoring.pairs import Blocks, add_pair, estimates_of
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.summhay import Score

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
        decided = _adjudicated(table)
        n = int((decided.codes >= 0).sum())
        return [decided], f"the adjudicated label, which {n} of {len(table.codes)} items have", 0
    for person, column in zip(table.people, columns, strict=True):
        if reference in {person.name, person.pseudonym, person.key}:
            return [column], f"annotator {person.name}", 0
    known = ", ".join([MEAN, MAJORITY, ADJUDICATED, *(person.name for person in table.people)])
    raise UnknownReference(f"There is no reference “{reference}” here; use one of: {known}.")


def _adjudicated(table: LabelTable) -> Column:
    """What researchers decided, where they did."""
    if table.gold_codes is None or table.gold_links is None or not (table.gold_codes >= 0).any():
        raise UnknownReference("Nothing is adjudicated among these labels yet.")
    return Column(table.gold_codes, table.gold_links, table.gold_links.astype(bool))


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
        """Some figures of a judge on some items only."""
        part = only_items(self.table.column_of_judge(index), of_items)
        batch, pairs = self._pairs(part, rules=("linking",))
        estimates = estimates_of(batch, pairs, self.figures, names=names, people=self.people)
        return estimates | self._on_expected(batch, index, part)

    def _pairs(self, column: Column, rules: Sequence[str]) -> tuple[Batch, list[Blocks]]:
        """Each human column beside a judge's."""
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
