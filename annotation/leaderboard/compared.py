"""Rows of the leaderboard insight by insight: one alone, or two on the subtopics that both have, with totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.leaderboard.board import LEADERBOARD, Look, View, texts_of
from annotation.models import Study
from annotation.writing.finals import AVERAGES
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.leaderboard import Leaderboard
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, SummaryScore


@dataclass(frozen=True, slots=True)
class InsightRow:
    """What two entries score on an insight, by its primary key (means over their texts, None where undefined)."""

    insight: int
    first: dict[str, float | None]
    second: dict[str, float | None]

    @property
    def difference(self) -> float | None:
        """Joint of the first minus that of the second."""
        joint, other = self.first["joint"], self.second["joint"]
        return None if joint is None or other is None else joint - other


@dataclass(frozen=True, slots=True)
class PairLook:
    """Options of the stored comparison of two entries, by their keys; without a second the first alone."""

    board: Look
    first: str
    second: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two entries insight by insight, the largest difference first, and in total on the subtopics that both have.

    `alone` are the figures of each entry with all its texts, as the leaderboard has them. Of one entry alone
    `second` and `difference` are empty, and the worst insights come first.
    """

    rows: tuple[InsightRow, ...]
    n_subtopics: int
    first: dict[str, Stat]
    second: dict[str, Stat]
    difference: dict[str, Stat]
    alone: dict[str, dict[str, Stat]]


def by_insight(view: View, first: str, second: str, *, studies: QuerySet[Study]) -> Compared:
    """Compare two entries on the insights that both have scores on, or list those of one."""
    names = [first, *([second] if second else [])]
    scored = [text for text in texts_of(view, studies).scored if text.entry in names]
    on = [{text.subtopic for text in scored if text.entry == name} for name in names]
    common = set.intersection(*on)
    values = [
        _by_insight([text.score for text in scored if text.entry == name and text.subtopic in common])
        for name in names
    ]
    shared = sorted(set.intersection(*map(set, values)), key=int)
    empty: dict[str, float | None] = dict.fromkeys(MEASURES)
    rows = [InsightRow(int(key), values[0][key], values[-1][key] if second else empty) for key in shared]
    computed = Leaderboard(scored, average=AVERAGES[view.average])
    alone = {row.entry: {name: row.stats[name] for name in MEASURES} for row in computed.rows()}
    if second:
        rows.sort(key=lambda row: (-abs(row.difference or 0.0), row.insight))
        [sides] = computed.compared([(first, second)]) if all(on) else [{}]
        stats = [{name: getattr(side, part) for name, side in sides.items()} for part in PARTS]
    else:
        rows.sort(key=lambda row: (row.first["joint"] or 0.0, row.insight))
        stats = [alone[first], {}, {}]
    ours, theirs, difference = stats
    return Compared(tuple(rows), len(common), ours, theirs, difference, alone)


PARTS = ("first", "second", "difference")


def _by_insight(scores: Sequence[SummaryScore]) -> dict[str, dict[str, float | None]]:
    sums: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        for insight in score.insights:
            row = sums.setdefault(insight.key, {name: [] for name in MEASURES})
            for name in MEASURES:
                if (value := insight.measure(name)) is not None:
                    row[name].append(value)
    return {
        key: {name: sum(values) / len(values) if values else None for name, values in row.items()}
        for key, row in sums.items()
    }


def _compared(look: PairLook) -> Compared:
    studies = Study.objects.filter(pk__in=look.board.studies)
    return by_insight(look.board.view, look.first, look.second, studies=studies)


COMPARED = register(
    Computation(
        "compared-entries",
        options=PairLook,
        figures=Compared,
        compute=_compared,
        facts=lambda look: LEADERBOARD.version(look.board),  # which pages have looked up already
        revision=3,
    )
)
