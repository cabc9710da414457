"""Systems, and people, side by side on one task: figures of each, and differences of two (Tables 2, 3 and 5).

An entry is a system with its retriever, or people. Its scored summaries are added up within subtopics, which are
what intervals resample: summaries of one subtopic share its insights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.intervals import SHARE, Batch, Estimate, Figure
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, Average, SummaryScore, sums, undefined_reason
from benchmarks.scoring.sums import Floats, ratio

WORDS = "words_per_bullet"
FIGURES = (*MEASURES, WORDS)
NO_BULLET = "no summary has a bullet"
NOTHING_COMMON = "no subtopic in common"


@dataclass(frozen=True, slots=True)
class Scored:
    """One summary of an entry: its subtopic, its scores, and its mean words per bullet (None without a bullet).

    `place` names the subtopic by what it is; draws take subtopics in this order.
    """

    entry: str
    subtopic: int
    score: SummaryScore
    words_per_bullet: float | None
    place: str = ""


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
        for one in scored:
            self.of.setdefault(one.entry, []).append(one)
        self._n_without_gold = {
            entry: sum(one.score.n_without_gold for one in rows) for entry, rows in self.of.items()
        }
        found = sorted({(one.place, one.subtopic) for rows in self.of.values() for one in rows})
        self._at = {subtopic: at for at, (_place, subtopic) in enumerate(found)}
        added_up = {entry: self._added_up(rows) for entry, rows in self.of.items()}
        self._sums = {entry: added for entry, (added, _n) in added_up.items()}
        self._n_having = {entry: n for entry, (_added, n) in added_up.items()}

    def rows(self) -> list[Row]:
        """Every entry with its figures; those of the same subtopics share a batch of these."""
        with shared_draws():
            batches: dict[bytes, Batch] = {}
            prepared = {entry: self._blocks(batches, entry) for entry in self._sums}
            return [
                self._row(
                    entry, {name: batch.estimate(self._figure(entry, name), [at]) for name, at in blocks.items()}
                )
                for entry, (batch, blocks) in prepared.items()
            ]

    def _blocks(self, batches: dict[bytes, Batch], entry: str) -> tuple[Batch, dict[str, int]]:
        """An entry's sums by figure in a batch of its own subtopics, whatever else is on the board."""
        own = np.isin(list(self._at), [one.subtopic for one in self.of[entry]])
        batch = batches.setdefault(own.tobytes(), Batch(int(own.sum()), self.resampling))
        return batch, {name: batch.add(self._sums[entry][own][:, _columns(name)]) for name in FIGURES}

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
            prepared = [self._sides(batches, first, second, names) for first, second in pairs]
            return [{name: side.stat() for name, side in sides.items()} for sides in prepared]

    def _sides(
        self, batches: dict[bytes, Batch], first: str, second: str, names: Sequence[str]
    ) -> dict[str, _Difference]:
        """What two entries have on common subtopics, by figure; those with the same ones share a batch."""
        one, other = self._sums[first], self._sums[second]
        found = {}
        for name in names:
            ours, theirs = one[:, _columns(name)], other[:, _columns(name)]
            common = (ours[:, 1] > 0) & (theirs[:, 1] > 0)
            of = FIGURES.index(name)
            n_ours, n_theirs = (self._n_having[entry][common, of, None] for entry in (first, second))
            batch = batches.setdefault(common.tobytes(), Batch(int(common.sum()), self.resampling))
            found[name] = _Difference(
                batch,
                (self._figure(first, name), batch.add(ours[common] / n_ours)),
                (self._figure(second, name), batch.add(theirs[common] / n_theirs)),
                n_items=round(float(ours[common][:, 1].sum())),
            )
        return found

    def largest_distance(self, base: str, others: Sequence[str]) -> Stat:
        """The largest distance of the others' joint score from that of `base`, on each resample anew."""
        name, method = "joint", "largest distance from the random order"
        present = [other for other in others if other in self._sums]
        if base not in self._sums:
            return Stat.undefined("no score in random order", method=method)
        if not present:
            return Stat.undefined("no score in an ordered run", method=method)
        batch = Batch(len(self._at), self.resampling)
        columns = _columns(name)
        sides = [
            batch.estimate(self._figure(entry, name), [batch.add(self._sums[entry][:, columns])])
            for entry in (base, *present)
        ]
        estimate = Estimate(
            method=method,
            reason="no score in random order, or in none of the ordered runs",
            value=max(abs(other.value - sides[0].value) for other in sides[1:]),
            draw=lambda: np.abs(np.stack([other.values - sides[0].values for other in sides[1:]])).max(axis=0),
            n_clusters=min(side.n_clusters for side in sides),
            resampling=self.resampling,
        )
        return estimate.stat(n_items=round(float(self._sums[base][:, columns][:, 1].sum())))

    def _row(self, entry: str, estimates: Mapping[str, Estimate]) -> Row:
        rows, totals = self.of[entry], self._sums[entry].sum(axis=0)
        counts = {name: round(float(totals[_columns(name)][1])) for name in FIGURES}
        stats = {name: estimate.stat(n_items=counts[name]) for name, estimate in estimates.items()}
        return Row(
            entry=entry,
            stats=stats,
            n_summaries=len(rows),
            n_insights=sum(len(one.score.insights) for one in rows),
            n_missing=sum(one.score.n_missing for one in rows),
            subtopics=frozenset(one.subtopic for one in rows),
        )

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
        of = np.array([self._at[one.subtopic] for one in rows])
        for at, name in enumerate(FIGURES):
            values, counts = self._each(rows, name)
            np.add.at(totals[:, 2 * at], of, values)
            np.add.at(totals[:, 2 * at + 1], of, counts)
            np.add.at(n_having[:, at], of, np.array(counts) > 0)
        return totals, n_having

    def _each(self, rows: Sequence[Scored], name: str) -> tuple[list[float], list[int]]:
        if name != WORDS:
            return sums([one.score for one in rows], name, self.average)
        words = [one.words_per_bullet for one in rows]
        return [each or 0.0 for each in words], [int(each is not None) for each in words]


def _columns(name: str) -> slice:
    """Where a figure's numerator and denominator stand in the sums."""
    at = 2 * FIGURES.index(name)
    return slice(at, at + 2)


@dataclass(frozen=True, slots=True)
class _Difference:
    """A figure of two entries, each with its block of a batch of their common subtopics."""

    batch: Batch
    first: tuple[Figure, int]
    second: tuple[Figure, int]
    n_items: int

    def stat(self) -> Stat:
        if not self.batch.n_clusters:
            return Stat.undefined(NOTHING_COMMON, method="paired difference")
        one, other = (self.batch.estimate(figure, [block]) for figure, block in (self.first, self.second))
        return one.minus(other).stat(n_items=self.n_items)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Joint of one system with its documents at the top, at the bottom and in random order (Table 3)."""

    random: Stat
    top: Stat
    bottom: Stat
    sensitivity: Stat
    n_summaries: int


def sensitivity(
    orders: Mapping[str, Sequence[Scored]], *, average: Average, resampling: Resampling | None = DEFAULT
) -> Sensitivity:
    """The largest distance of an ordered run's joint score from that in random order.

    `orders` holds the summaries of "random", "top" and "bottom", as far as there are any. All figures are on the
    subtopics that every one of these orders has, so that they differ by the order alone. The distance is taken on
    each resample anew, so that its interval, like itself, is never below 0.
    """
    subtopics = [{one.subtopic for one in rows} for rows in orders.values() if rows]
    common = set.intersection(*subtopics) if subtopics else set()
    orders = {order: [one for one in rows if one.subtopic in common] for order, rows in orders.items()}
    board = Leaderboard(
        (
            Scored(order, one.subtopic, one.score, one.words_per_bullet, one.place)
            for order, rows in orders.items()
            for one in rows
        ),
        average=average,
        resampling=resampling,
    )
    found = {row.entry: row.stats["joint"] for row in board.rows()}
    missing = Stat.undefined("no summary in this order on a subtopic that all orders have")
    n = sum(len(rows) for rows in orders.values())
    sides = {order: found.get(order, missing) for order in ("random", "top", "bottom")}
    return Sensitivity(**sides, sensitivity=board.largest_distance("random", ("top", "bottom")), n_summaries=n)
