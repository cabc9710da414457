"""Systems, and people, side by side: figures of each, differences of two (Tables 2, 3 and 5), orders of documents.

An entry is a system with its retriever, or people. Its scored summaries are added up within subtopics, which are
what intervals resample: summaries of one subtopic share its insights.

What the order of documents does to a joint score (Table 3) are signed differences and a test: a maximum of
distances is above 0 by chance alone, so it has a p-value in place of an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeVar

import numpy as np

from benchmarks.scoring.components import Cell, about_these, over_writers
from benchmarks.scoring.formulas import COEFFICIENT, SAME, SHARE, Figure, Shares, few, with_student
from benchmarks.scoring.intervals import Batch, Estimate
from benchmarks.scoring.ranking import RankInterval, RankIntervals, rank_intervals
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, Average, SummaryScore, sums, undefined_reason
from benchmarks.scoring.sums import DEFAULT, Bools, Floats, Resampling, ratio, shared_draws

WORDS = "words_per_bullet"
FIGURES = (*MEASURES, WORDS)
NO_BULLET = "no summary has a bullet"
NOTHING_COMMON = "no subtopic in common"
Made = TypeVar("Made")


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
        subtopics = sorted({(text.place, text.subtopic) for rows in self.of.values() for text in rows})
        self._at = {subtopic: at for at, (_place, subtopic) in enumerate(subtopics)}
        self._sums = {entry: self._added_up(rows) for entry, rows in self.of.items()}
        self._counts = {entry: self._insights_of(rows) for entry, rows in self.of.items()}
        self._n_without_gold = {
            entry: sum(text.score.n_without_gold for text in rows) for entry, rows in self.of.items()
        }
        self._written = {entry for entry, rows in self.of.items() if any(text.writer is not None for text in rows)}

    def rows(self) -> list[Row]:
        """Every entry with its figures; those of the same subtopics share a batch of these."""
        estimates: dict[str, dict[str, Estimate]] = {}
        batches: dict[bytes, Batch] = {}
        for entry, rows in self.of.items():
            is_there = np.isin(list(self._at), [text.subtopic for text in rows])
            estimates[entry] = {name: self._estimate(batches, entry, name, is_there) for name in FIGURES}
        with shared_draws():
            return [self._row(entry, by_name) for entry, by_name in estimates.items()]

    def _estimate(
        self, batches: dict[bytes, Batch], entry: str, name: str, kept: Bools, *, as_one: bool = False
    ) -> Estimate:
        """A figure of an entry on some subtopics, a mask; those on the same share a batch, whatever else is there.

        `as_one` counts each subtopic as one summary.
        """
        of = FIGURES.index(name)
        sums, n_having = np.split(self._sums[entry][kept, of], [2], axis=1)
        if as_one:
            sums = sums / n_having
        figure, shares = Figure("mean", ratio, NO_BULLET), None
        if name != WORDS:
            reason = undefined_reason(name, n_without_gold=self._n_without_gold[entry])
            figure = Figure("mean", ratio, reason, SHARE)
            counts = self._counts[entry][kept, of]
            rarer = counts[:, 1 + int(counts[:, 1:].sum(axis=0).argmin())]
            shares = Shares(sums[:, 0], sums[:, 1], counts[:, 0], n_rare=float(rarer.sum()), has_rare=rarer > 0)
        batch = batches.setdefault(kept.tobytes(), Batch(int(kept.sum()), self.resampling))
        return batch.estimate(figure, [batch.add(sums)], shares=shares)

    def _row(self, entry: str, estimates: Mapping[str, Estimate]) -> Row:
        rows = self.of[entry]
        stats = {
            name: estimate.stat(n_items=round(float(self.sums_of(entry, name)[:, 1].sum())))
            for name, estimate in estimates.items()
        }
        if self.resampling is not None and entry in self._written:
            for name, stat in stats.items():
                bounds = None if name == WORDS else SHARE
                cells = [cell for _at, cell in self._cells(entry, name)]
                stats[name] = over_writers(stat, cells, bounds=bounds)
        return Row(
            entry=entry,
            stats=stats,
            n_summaries=len(rows),
            n_insights=sum(len(text.score.insights) for text in rows),
            n_missing=sum(text.score.n_missing for text in rows),
            subtopics=frozenset(text.subtopic for text in rows),
        )

    def by_subtopic(self, entry: str, name: str) -> dict[int, float]:
        added = self.sums_of(entry, name)
        return {
            subtopic: float(added[at, 0] / added[at, 1]) for subtopic, at in self._at.items() if added[at, 1] > 0
        }

    def sums_of(self, entry: str, name: str) -> Floats:
        """Numerator and denominator of an entry's figure by subtopic, shape (subtopics, 2)."""
        return self._sums[entry][:, FIGURES.index(name), :2]

    def differences(
        self, pairs: Iterable[tuple[str, str]], names: Sequence[str] = MEASURES
    ) -> list[dict[str, Stat]]:
        """The first entry minus the second for each pair, on the subtopics that both have; by figure.

        A subtopic counts as one summary on each side, the mean one of those that have the figure: else it would
        weigh more for people the more of them wrote on it.
        """
        return self._of_pairs(pairs, names, self._difference)

    def compared(
        self, pairs: Iterable[tuple[str, str]], names: Sequence[str] = MEASURES
    ) -> list[dict[str, Compared]]:
        """The difference of each pair, likewise, with the two figures whose difference it is."""
        return self._of_pairs(pairs, names, self._compared)

    def _of_pairs(
        self,
        pairs: Iterable[tuple[str, str]],
        names: Sequence[str],
        made: Callable[[tuple[str, str], str, Sequence[Estimate], int], Made],
    ) -> list[dict[str, Made]]:
        """Apply `made` to a pair and figure, the estimates of both sides, and the first one's items."""
        batches: dict[bytes, Batch] = {}
        prepared = []
        for pair in pairs:
            sides = {}
            for name in names:
                common = self._common(pair, name)
                estimates = [self._estimate(batches, entry, name, common, as_one=True) for entry in pair]
                sides[name] = estimates, round(float(self.sums_of(pair[0], name)[common, 1].sum()))
            prepared.append((pair, sides))
        with shared_draws():
            return [{name: made(pair, name, *both) for name, both in sides.items()} for pair, sides in prepared]

    def _common(self, pair: tuple[str, str], name: str) -> Bools:
        first, second = (self.sums_of(entry, name)[:, 1] > 0 for entry in pair)
        return np.logical_and(first, second)

    def _difference(self, pair: tuple[str, str], name: str, sides: Sequence[Estimate], n: int) -> Stat:
        """A difference, with writers as a sample where one side is people."""
        if not n:
            return Stat.undefined(NOTHING_COMMON, method="paired difference")
        stat = sides[0].minus(sides[1]).stat(n_items=n)
        written = self._written & set(pair)
        if self.resampling is None or stat.value is None or not written:
            return stat
        if pair[0] in written and pair[1] in written:
            return about_these(stat, len({text.writer for entry in pair for text in self.of[entry]}))
        people, system = pair if pair[0] in written else pair[::-1]
        return over_writers(stat, self._less(people, system, name))

    def _compared(self, pair: tuple[str, str], name: str, sides: Sequence[Estimate], n: int) -> Compared:
        """A comparison in which a side of people, and the difference, have writers as a sample."""
        difference = self._difference(pair, name, sides, n)
        if not n:
            return Compared(Stat.undefined(NOTHING_COMMON), Stat.undefined(NOTHING_COMMON), difference)
        stats, common, of = [side.stat(n_items=n) for side in sides], self._common(pair, name), FIGURES.index(name)
        for side, entry in enumerate(pair):
            if self.resampling is not None and entry in self._written:
                cells = [
                    replace(cell, weight=cell.weight / self._sums[entry][at, of, 2])
                    for at, cell in self._cells(entry, name)
                    if common[at]
                ]
                stats[side] = over_writers(stats[side], cells, bounds=SHARE)
        return Compared(stats[0], stats[1], difference)

    def rank_intervals(
        self, entries: Iterable[str], name: str = "joint"
    ) -> dict[str, tuple[RankInterval, RankIntervals]]:
        """Where each entry stands among those with the figure on the same subtopics, and the comparison of these.

        Ranks are those of the figure itself: a subtopic weighs as in it, linearised. Then the mean over subtopics
        is the figure, and the scatter its error.
        """
        groups: dict[bytes, dict[str, Floats]] = {}
        for entry in entries:
            sums = self.sums_of(entry, name)
            has = sums[:, 1] > 0
            if has.any():
                above, below = sums[has].T
                value = above.sum() / below.sum()
                linear = value + (above - value * below) / below.mean()
                groups.setdefault(has.tobytes(), {})[entry] = linear
        placed = {}
        for group in groups.values():
            together = rank_intervals(np.stack(list(group.values())))
            placed.update({entry: (rank, together) for entry, rank in zip(group, together.systems, strict=True)})
        return placed

    def _cells(self, entry: str, name: str) -> list[tuple[int, Cell]]:
        """Scores of each text of people, weighted as in the figure, with the place of its subtopic."""
        rows = self.of[entry]
        return [
            (self._at[text.subtopic], Cell(text.writer, text.subtopic, value / n, n))
            for text, value, n in zip(rows, *self._each(rows, name), strict=True)
            if n
        ]

    def _less(self, people: str, system: str, name: str) -> list[Cell]:
        """Scores of each text of people minus the system's on its subtopic; a subtopic weighs as one text.

        Where the two sides have other weights, as of covered insights, the system's score is taken with its own,
        so that the mean is the difference of the two figures.
        """
        common, of = self._common((people, system), name), FIGURES.index(name)
        weights = []
        for entry in (people, system):
            _above, below, n_having = self._sums[entry][:, of].T
            each = np.divide(below, n_having, out=np.zeros(len(common)), where=common)
            weights.append(each / each.sum())
        ours, theirs = weights
        above, below = self.sums_of(system, name).T
        scores = np.divide(above, below, out=np.zeros(len(common)), where=common)
        scores = np.divide(scores * theirs, ours, out=np.zeros(len(common)), where=common)
        totals = self.sums_of(people, name)[:, 1]
        return [
            Cell(cell.writer, at, cell.value - scores[at], cell.weight * ours[at] / totals[at])
            for at, cell in self._cells(people, name)
            if common[at]
        ]

    def _added_up(self, rows: Sequence[Scored]) -> Floats:
        """Numerator and denominator of each figure by subtopic, and how many summaries have it.

        Shape (subtopics, figures, 3).
        """
        totals = np.zeros((len(self._at), len(FIGURES), 3))
        of = np.array([self._at[text.subtopic] for text in rows])
        for at, name in enumerate(FIGURES):
            values, counts = self._each(rows, name)
            np.add.at(totals[:, at], of, np.column_stack([values, counts, np.array(counts) > 0]))
        return totals

    def _each(self, rows: Sequence[Scored], name: str) -> tuple[list[float], list[int]]:
        if name != WORDS:
            return sums([text.score for text in rows], name, self.average)
        words = [text.words_per_bullet for text in rows]
        return [each or 0.0 for each in words], [int(each is not None) for each in words]

    def _insights_of(self, rows: Sequence[Scored]) -> Floats:
        """How many insights have each score in a summary on average, how many above 0, how many below 1.

        Shape (subtopics, measures, 3).
        """
        counts, n_summaries = np.zeros((len(self._at), len(MEASURES), 3)), np.zeros(len(self._at))
        for text in rows:
            at = self._at[text.subtopic]
            n_summaries[at] += 1
            for place, name in enumerate(MEASURES):
                values = np.array(text.score.values[name])
                counts[at, place] += (len(values), (values > 0).sum(), (values < 1).sum())
        counts /= np.maximum(n_summaries, 1)[:, None, None]
        return counts


RANDOM, OTHERS = "random", ("top", "bottom")
EXACT = 9_999
"""Ways to permute the orders up to which all are counted; else so many are drawn."""
LARGER_DISTANCE = "larger distance from the random order"
ORDER_DIFFERENCE = "paired difference over subtopics, linearised, Student's t"
NO_INTERVAL = "no interval: the larger of two distances is above 0 even by chance"
NO_RANDOM, NO_OTHER = "no score in random order", "no score in an ordered run"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Joint of one system with its documents at the top, at the bottom and in random order.

    The differences are from the random order; `sensitivity` is the larger of their distances from 0. `p` is how
    often it is as large where the orders are permuted within subtopics; None without both sides of a difference.
    """

    random: Stat
    top: Stat
    bottom: Stat
    top_minus_random: Stat
    bottom_minus_random: Stat
    sensitivity: Stat
    p: float | None
    n_summaries: int


def sensitivity(
    orders: Mapping[str, Sequence[Scored]], *, average: Average, resampling: Resampling | None = DEFAULT
) -> Sensitivity:
    """Compare the joint scores of the orders "random", "top" and "bottom", as far as there are any.

    All figures are on the subtopics that every one of these orders has, so that they differ by the order alone.
    """
    subtopics = [{row.subtopic for row in rows} for rows in orders.values() if rows]
    common = set.intersection(*subtopics) if subtopics else set()
    kept = {order: [row for row in rows if row.subtopic in common] for order, rows in orders.items()}
    board = Leaderboard(
        (replace(row, entry=order) for order, rows in kept.items() for row in rows),
        average=average,
        resampling=resampling,
    )
    joints = {row.entry: row.stats["joint"] for row in board.rows()}
    missing = Stat.undefined("no summary in this order on a subtopic that all orders have")
    defined = [order for order in (RANDOM, *OTHERS) if joints.get(order, missing).is_defined]
    sums = {order: board.sums_of(order, "joint") for order in defined}
    differences = {order: order_difference(sums, order, resampling=resampling) for order in OTHERS}
    sides = {order: joints.get(order, missing) for order in (RANDOM, *OTHERS)}
    larger = Stat.undefined(NO_OTHER if RANDOM in sums else NO_RANDOM, method=LARGER_DISTANCE)
    distances = [abs(stat.value) for stat in differences.values() if stat.value is not None]
    if distances:
        n, reason = sides[RANDOM].n_items, NO_INTERVAL if resampling else ""
        larger = Stat(
            max(distances), n_items=n, n_clusters=len(common), method=LARGER_DISTANCE, interval_reason=reason
        )
    return Sensitivity(
        **sides,
        **{f"{order}_minus_random": stat for order, stat in differences.items()},
        sensitivity=larger,
        p=permutation_p(sums, seed=resampling.seed) if distances and resampling else None,
        n_summaries=sum(len(rows) for rows in kept.values()),
    )


def order_difference(sums: Mapping[str, Floats], order: str, *, resampling: Resampling | None = DEFAULT) -> Stat:
    """The score in an order minus that in random order.

    `sums` hold for each order the numerators and denominators of its score, shape (subtopics, 2), the same
    subtopics in the same rows. The difference of the two ratios of totals is linearised; its interval is
    Student's over subtopics.
    """
    if RANDOM not in sums or order not in sums:
        return Stat.undefined(NO_OTHER if RANDOM in sums else NO_RANDOM, method=ORDER_DIFFERENCE)
    sides = [sums[name] for name in (order, RANDOM)]
    scores = [float(side[:, 0].sum() / side[:, 1].sum()) for side in sides]
    n, n_items = len(sides[1]), round(float(sides[1][:, 1].sum()))
    stat = Stat(scores[0] - scores[1], n_items=n_items, n_clusters=n, method=ORDER_DIFFERENCE)
    if resampling is None:
        return stat
    if reason := few(n, n_items):
        return replace(stat, interval_reason=reason)
    first, second = (
        (side[:, 0] - score * side[:, 1]) / side[:, 1].sum() for side, score in zip(sides, scores, strict=True)
    )
    se = float(np.sqrt(n / (n - 1) * ((first - second) ** 2).sum()))
    return with_student(stat, se, n - 1, bounds=COEFFICIENT, same="the same in every subtopic")


def permutation_p(sums: Mapping[str, Floats], *, seed: int = DEFAULT.seed) -> float:
    """How often the largest distance from the random order is as large as here when orders mean nothing.

    Of each subtopic the orders are permuted, all ways where these are few, else by lot: (1 + hits) / (1 + draws).
    `sums` are those of `order_difference`, of the random order and another one at least.
    """
    names = [RANDOM, *(order for order in OTHERS if order in sums)]
    cells = np.stack([sums[name] for name in names], axis=1)
    cells = cells[np.lexsort(cells.reshape(len(cells), -1).T[::-1])]
    ways = np.array(list(permutations(range(len(names)))))
    observed = float(_largest(cells.sum(axis=0)[None])[0])
    n_all = len(ways) ** len(cells)
    if n_all <= EXACT:
        totals = np.zeros((1, *cells.shape[1:]))
        for cell in cells:
            totals = (totals[:, None] + cell[ways][None]).reshape(-1, *cells.shape[1:])
        return float((_largest(totals) >= observed - SAME).mean())
    rng = np.random.default_rng(seed)
    totals = np.zeros((EXACT, *cells.shape[1:]))
    for cell in cells:
        totals += cell[ways][rng.integers(0, len(ways), EXACT)]
    return float((1 + (_largest(totals) >= observed - SAME).sum()) / (1 + EXACT))


def _largest(totals: Floats) -> Floats:
    """The largest distance from the first order, for totals of shape (permutations, orders, 2)."""
    scores = np.divide(totals[..., 0], totals[..., 1], out=np.zeros(totals.shape[:2]), where=totals[..., 1] > 0)
    return np.abs(scores[:, 1:] - scores[:, :1]).max(axis=1)
