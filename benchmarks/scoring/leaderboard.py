"""Systems, and people, side by side on one task: figures of each, and differences of two (Tables 2, 3 and 5).

An entry is a system with its retriever, or people. Its scored summaries are added up within subtopics, which are
what intervals resample: summaries of one subtopic share its insights.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.components import Cell, about_these, over_writers
from benchmarks.scoring.formulas import SHARE, Figure, Shares
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.ranking import RankInterval, RankIntervals, rank_intervals
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, Average, SummaryScore, sums, undefined_reason
from benchmarks.scoring.sums import DEFAULT, Bools, Floats, Resampling, ratio, shared_draws

WORDS = "words_per_bullet"
FIGURES = (*MEASURES, WORDS)
NO_BULLET = "no summary has a bullet"
NOTHING_COMMON = "no subtopic in common"


@dataclass(frozen=True, slots=True)
class Scored:
    """One summary of an entry: its subtopic, its scores, and its mean words per bullet (None without a bullet).

    `place` names the subtopic by what it is; draws take subtopics in this order. `writer` is who wrote it, None
    for systems.
    """

    entry: str
    subtopic: int
    score: SummaryScore
    words_per_bullet: float | None
    place: str = ""
    writer: Hashable = None


@dataclass(frozen=True, slots=True)
class Row:
    """An entry's figures by name (shares from 0 to 1; words), and what they are of.

    `n_missing` insights have no usable verdict and are in no figure.
    """

    entry: str
    stats: Mapping[str, Stat]
    n_summaries: int
    n_insights: int
    n_missing: int
    subtopics: frozenset[int]


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of two entries on the subtopics that both have, a subtopic counting as one summary of each."""

    first: Stat
    second: Stat
    difference: Stat


class Leaderboard:
    """Scored summaries of many entries, added up once; each row and difference draws its own subtopics."""

    def __init__(
        self, scored: Iterable[Scored], *, average: Average, resampling: Resampling | None = DEFAULT
    ) -> None:
        """Add up each entry's summaries within subtopics.

        Without `resampling` no figure has an interval.
        """
        self.average, self.resampling = average, resampling
        self.of: dict[str, list[Scored]] = {}
        for text in scored:
            self.of.setdefault(text.entry, []).append(text)
        self._n_without_gold = {
            entry: sum(text.score.n_without_gold for text in rows) for entry, rows in self.of.items()
        }
        subtopics = sorted({(text.place, text.subtopic) for rows in self.of.values() for text in rows})
        self._at = {subtopic: at for at, (_place, subtopic) in enumerate(subtopics)}
        added_up = {entry: self._added_up(rows) for entry, rows in self.of.items()}
        self._sums = {entry: added for entry, (added, _n) in added_up.items()}
        self._n_having = {entry: n for entry, (_added, n) in added_up.items()}
        self._counts = {entry: _insights_of(rows, self._at) for entry, rows in self.of.items()}

    def rows(self) -> list[Row]:
        """Every entry with its figures; those of the same subtopics share a batch of these."""
        with shared_draws():
            batches: dict[bytes, Batch] = {}
            prepared = {entry: self._blocks(batches, entry) for entry in self._sums}
            return [
                self._row(
                    entry,
                    {
                        name: batch.estimate(
                            self._figure(entry, name), [at], shares=self._shares(entry, name, batch, at)
                        )
                        for name, at in blocks.items()
                    },
                )
                for entry, (batch, blocks) in prepared.items()
            ]

    def _blocks(self, batches: dict[bytes, Batch], entry: str) -> tuple[Batch, dict[str, int]]:
        """An entry's sums by figure in a batch of its own subtopics, whatever else is on the board."""
        is_there = np.isin(list(self._at), [text.subtopic for text in self.of[entry]])
        batch = batches.setdefault(is_there.tobytes(), Batch(int(is_there.sum()), self.resampling))
        return batch, {name: batch.add(self._sums[entry][is_there][:, _columns(name)]) for name in FIGURES}

    def _shares(self, entry: str, name: str, batch: Batch, block: int) -> Shares | None:
        """What a score is made of: its insights, and how many of these are above 0, or below 1."""
        is_there = np.isin(list(self._at), [text.subtopic for text in self.of[entry]])
        return self._shares_of(entry, name, is_there, batch.blocks[block])

    def _shares_of(self, entry: str, name: str, kept: Bools, sums: Floats) -> Shares | None:
        """What a score is made of on some subtopics, a mask, with these sums; None of words."""
        if name == WORDS:
            return None
        counts = self._counts[entry][kept, MEASURES.index(name)]
        rarer = counts[:, 1 + int(counts[:, 1:].sum(axis=0).argmin())]
        return Shares(sums[:, 0], sums[:, 1], counts[:, 0], n_rare=float(rarer.sum()), has_rare=rarer > 0)

    def by_subtopic(self, entry: str, name: str) -> dict[int, float]:
        """A figure of an entry for each subtopic that has one."""
        added = self._sums[entry][:, _columns(name)]
        return {
            subtopic: float(added[at, 0] / added[at, 1]) for subtopic, at in self._at.items() if added[at, 1] > 0
        }

    def differences(
        self, pairs: Iterable[tuple[str, str]], names: Sequence[str] = MEASURES
    ) -> list[dict[str, Stat]]:
        """The first entry minus the second for each pair, on the subtopics that both have; by figure.

        A subtopic counts as one summary on each side, the mean one of those that have the figure: else it would
        weigh more for people the more of them wrote on it.
        """
        with shared_draws():
            batches: dict[bytes, Batch] = {}
            listed = list(pairs)
            prepared = [self._sides(batches, first, second, names) for first, second in listed]
            figures = [{name: side.stat() for name, side in sides.items()} for sides in prepared]
        return [
            {name: self._over_writers(stat, first, second, name) for name, stat in stats.items()}
            for (first, second), stats in zip(listed, figures, strict=True)
        ]

    def _over_writers(self, stat: Stat, first: str, second: str, name: str) -> Stat:
        """A difference with writers as a sample where one side is people."""
        is_written = self._is_written(first), self._is_written(second)
        if self.resampling is None or stat.value is None or not any(is_written):
            return stat
        if all(is_written):
            return about_these(stat, len({text.writer for entry in (first, second) for text in self.of[entry]}))
        people, system = (first, second) if is_written[0] else (second, first)
        return over_writers(stat, self._less(people, system, name), level=self.resampling.level)

    def compared(
        self, pairs: Iterable[tuple[str, str]], names: Sequence[str] = MEASURES
    ) -> list[dict[str, Compared]]:
        """The difference of each pair, likewise, with the two figures whose difference it is."""
        with shared_draws():
            batches: dict[bytes, Batch] = {}
            listed = list(pairs)
            prepared = [self._sides(batches, first, second, names) for first, second in listed]
            figures = [{name: side.compared() for name, side in sides.items()} for sides in prepared]
        return [
            {name: self._of_people(both, first, second, name) for name, both in sides.items()}
            for (first, second), sides in zip(listed, figures, strict=True)
        ]

    def _of_people(self, both: Compared, first: str, second: str, name: str) -> Compared:
        """A comparison in which a side of people, and the difference, have writers as a sample."""
        return Compared(
            self._side_over_writers(both.first, first, second, name),
            self._side_over_writers(both.second, second, first, name),
            self._over_writers(both.difference, first, second, name),
        )

    def _side_over_writers(self, stat: Stat, entry: str, other: str, name: str) -> Stat:
        """A figure of people on the subtopics that both have, each of which counts as one text."""
        if self.resampling is None or stat.value is None or not self._is_written(entry):
            return stat
        of = FIGURES.index(name)
        common = (self.sums_of(entry, name)[:, 1] > 0) & (self.sums_of(other, name)[:, 1] > 0)
        cells = [
            Cell(cell.writer, at, cell.value, cell.weight / self._n_having[entry][at, of])
            for at, cell in self._cells(entry, name)
            if common[at]
        ]
        return over_writers(stat, cells, bounds=SHARE, level=self.resampling.level)

    def _sides(
        self, batches: dict[bytes, Batch], first: str, second: str, names: Sequence[str]
    ) -> dict[str, _Difference]:
        """What two entries have on common subtopics, by figure; those with the same ones share a batch."""
        ours_all, theirs_all = self._sums[first], self._sums[second]
        differences = {}
        for name in names:
            ours, theirs = ours_all[:, _columns(name)], theirs_all[:, _columns(name)]
            common = (ours[:, 1] > 0) & (theirs[:, 1] > 0)
            of = FIGURES.index(name)
            n_ours, n_theirs = (self._n_having[entry][common, of, None] for entry in (first, second))
            batch = batches.setdefault(common.tobytes(), Batch(int(common.sum()), self.resampling))
            differences[name] = _Difference(
                batch,
                self._side(batch, first, name, common, ours[common] / n_ours),
                self._side(batch, second, name, common, theirs[common] / n_theirs),
                n_items=round(float(ours[common][:, 1].sum())),
            )
        return differences

    def _side(self, batch: Batch, entry: str, name: str, common: Bools, sums_there: Floats) -> _Side:
        """A figure of an entry on common subtopics, a mask, where it has these sums."""
        shares = self._shares_of(entry, name, common, sums_there)
        return _Side(self._figure(entry, name), batch.add(sums_there), shares)

    def rank_intervals(
        self, entries: Iterable[str], name: str = "joint"
    ) -> dict[str, tuple[RankInterval, RankIntervals]]:
        """Where each entry stands among those with the figure on the same subtopics, and the comparison of these.

        Ranks are those of the figure itself: a subtopic weighs as in it, linearised.
        """
        groups: dict[bytes, list[str]] = {}
        for entry in entries:
            has = self._sums[entry][:, _columns(name)][:, 1] > 0
            if has.any():
                groups.setdefault(has.tobytes(), []).append(entry)
        placed = {}
        for group in groups.values():
            together = rank_intervals(np.stack([self._linear(entry, name) for entry in group]))
            placed.update({entry: (rank, together) for entry, rank in zip(group, together.systems, strict=True)})
        return placed

    def _linear(self, entry: str, name: str) -> Floats:
        """A value for each subtopic with the figure: their mean is the figure, their scatter its error."""
        sums = self.sums_of(entry, name)
        above, below = sums[sums[:, 1] > 0].T
        value = above.sum() / below.sum()
        linear: Floats = value + (above - value * below) / below.mean()
        return linear

    def sums_of(self, entry: str, name: str) -> Floats:
        """Numerator and denominator of an entry's figure by subtopic, shape (subtopics, 2)."""
        return self._sums[entry][:, _columns(name)]

    def _row(self, entry: str, estimates: Mapping[str, Estimate]) -> Row:
        rows, totals = self.of[entry], self._sums[entry].sum(axis=0)
        counts = {name: round(float(totals[_columns(name)][1])) for name in FIGURES}
        stats = {name: estimate.stat(n_items=counts[name]) for name, estimate in estimates.items()}
        if self.resampling is not None and self._is_written(entry):
            for name, stat in stats.items():
                bounds = None if name == WORDS else SHARE
                cells = [cell for _at, cell in self._cells(entry, name)]
                stats[name] = over_writers(stat, cells, bounds=bounds, level=self.resampling.level)
        return Row(
            entry=entry,
            stats=stats,
            n_summaries=len(rows),
            n_insights=sum(len(text.score.insights) for text in rows),
            n_missing=sum(text.score.n_missing for text in rows),
            subtopics=frozenset(text.subtopic for text in rows),
        )

    def _is_written(self, entry: str) -> bool:
        return any(text.writer is not None for text in self.of[entry])

    def _cells(self, entry: str, name: str) -> list[tuple[int, Cell]]:
        """What each text of people scores, weighted as in the figure, with the place of its subtopic."""
        rows = self.of[entry]
        return [
            (self._at[text.subtopic], Cell(text.writer, text.subtopic, value / n, n))
            for text, value, n in zip(rows, *self._each(rows, name), strict=True)
            if n
        ]

    def _less(self, people: str, system: str, name: str) -> list[Cell]:
        """What each text of people scores minus the system's on its subtopic; a subtopic weighs as one text.

        Where the two sides have other weights, as of covered insights, the system's score is taken with its own,
        so that the mean is the difference of the two figures.
        """
        of = FIGURES.index(name)
        sides = [self.sums_of(entry, name) for entry in (people, system)]
        common = (sides[0][:, 1] > 0) & (sides[1][:, 1] > 0)
        weights = []
        for entry, side in zip((people, system), sides, strict=True):
            each = np.divide(side[:, 1], self._n_having[entry][:, of], out=np.zeros(len(side)), where=common)
            weights.append(each / each.sum())
        ours, theirs = weights
        scores = np.divide(sides[1][:, 0], sides[1][:, 1], out=np.zeros(len(common)), where=common)
        scores = np.divide(scores * theirs, ours, out=np.zeros(len(common)), where=common)
        totals = sides[0][:, 1]
        return [
            Cell(cell.writer, at, cell.value - scores[at], cell.weight * ours[at] / totals[at])
            for at, cell in self._cells(people, name)
            if common[at]
        ]

    def _figure(self, entry: str, name: str) -> Figure:
        if name == WORDS:
            return Figure("mean", ratio, NO_BULLET)
        reason = undefined_reason(name, n_without_gold=self._n_without_gold[entry])
        return Figure("mean", ratio, reason, SHARE)

    def _added_up(self, rows: Sequence[Scored]) -> tuple[Floats, Floats]:
        """Numerator and denominator of each figure by subtopic, shape (subtopics, 2 × figures).

        With them the number of summaries that have the figure, shape (subtopics, figures).
        """
        totals = np.zeros((len(self._at), 2 * len(FIGURES)))
        n_having = np.zeros((len(self._at), len(FIGURES)))
        of = np.array([self._at[text.subtopic] for text in rows])
        for at, name in enumerate(FIGURES):
            values, counts = self._each(rows, name)
            np.add.at(totals[:, 2 * at], of, values)
            np.add.at(totals[:, 2 * at + 1], of, counts)
            np.add.at(n_having[:, at], of, np.array(counts) > 0)
        return totals, n_having

    def _each(self, rows: Sequence[Scored], name: str) -> tuple[list[float], list[int]]:
        if name != WORDS:
            return sums([text.score for text in rows], name, self.average)
        words = [text.words_per_bullet for text in rows]
        return [each or 0.0 for each in words], [int(each is not None) for each in words]


def _insights_of(rows: Sequence[Scored], at: Mapping[int, int]) -> Floats:
    """How many insights have each score in a summary on average, how many above 0, how many below 1.

    Shape (subtopics, measures, 3).
    """
    counts, n_summaries = np.zeros((len(at), len(MEASURES), 3)), np.zeros(len(at))
    for text in rows:
        n_summaries[at[text.subtopic]] += 1
        for place, name in enumerate(MEASURES):
            values = text.score.values[name]
            beyond = sum(value > 0 for value in values), sum(value < 1 for value in values)
            counts[at[text.subtopic], place] += (len(values), *beyond)
    counts /= np.maximum(n_summaries, 1)[:, None, None]
    return counts


def _columns(name: str) -> slice:
    """Where a figure's numerator and denominator stand in the sums."""
    at = 2 * FIGURES.index(name)
    return slice(at, at + 2)


@dataclass(frozen=True, slots=True)
class _Side:
    """A figure of an entry, its block of a batch, and what it is made of."""

    figure: Figure
    block: int
    shares: Shares | None


@dataclass(frozen=True, slots=True)
class _Difference:
    """A figure of two entries, each with its block of a batch of their common subtopics."""

    batch: Batch
    first: _Side
    second: _Side
    n_items: int

    def stat(self) -> Stat:
        if not self.batch.n_clusters:
            return Stat.undefined(NOTHING_COMMON, method="paired difference")
        first, second = self._estimates()
        return first.minus(second).stat(n_items=self.n_items)

    def compared(self) -> Compared:
        if not self.batch.n_clusters:
            return Compared(Stat.undefined(NOTHING_COMMON), Stat.undefined(NOTHING_COMMON), self.stat())
        first, second = self._estimates()
        return Compared(first.stat(n_items=self.n_items), second.stat(n_items=self.n_items), self.stat())

    def _estimates(self) -> tuple[Estimate, Estimate]:
        first, second = (
            self.batch.estimate(side.figure, [side.block], shares=side.shares)
            for side in (self.first, self.second)
        )
        return first, second
