"""Set the offline judge's thresholds and odds from human labels, and say how it does on topics left out.

The weights of the score are not fitted: they make no difference that labels of a study could show. Plain data in
and out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from benchmarks.judges.base import Background, SummaryToJudge
from benchmarks.judges.lexical import LexicalConfig, Match
from benchmarks.judges.lexical_expected import ExpectedConfig
from benchmarks.judges.lexical_odds import Odds, fit_odds
from benchmarks.scoring.comparison import Comparison, ExpectedFigures, compare, expected_figures
from benchmarks.scoring.pairs import Compared
from benchmarks.scoring.summhay import Coverage, Verdict, worth

MIN_LABELS = 60
"""Labelled insights that a fold must have left to fit on."""
MIN_OF_A_LABEL = 10
"""Insights of each of none, partial and full among them."""
MIN_SUBTOPICS = 3
GRID = 50
SMOOTHING = 4.0
"""Standard deviation, in steps of the grid, of the neighbourhood that a pair of thresholds is valued by."""

ROUNDING = 1e-9

Config = LexicalConfig | ExpectedConfig

_WORTH = worth()


class TooFewLabels(ValueError):
    """There are too few labels, overall or of one kind, to set thresholds by."""


class NothingHeldOut(ValueError):
    """All labels are of one topic with too few subtopics, so nothing can be left out to validate on."""


class HeldOutBy(StrEnum):
    """Left out in turn: whole topics, or subtopics where all labels are of one topic."""

    TOPIC = "topic"
    SUBTOPIC = "subtopic"


@dataclass(frozen=True)
class HumanLabel:
    """A person's label of one insight: coverage, and the 1-based lines linked (may be none)."""

    insight_key: str
    coverage: Coverage
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class LabelledSummary:
    """A summary with a person's labels; insights without a label are passed over.

    `topic` is the haystack. Summaries of one topic share their `background`.
    """

    summary: SummaryToJudge
    labels: tuple[HumanLabel, ...]
    topic: str
    subtopic: str
    background: Background


@dataclass(frozen=True)
class Fold:
    """A fit without one group, how many labelled insights the group has, and the figures on these."""

    left_out: str
    config: Config
    n_insights: int
    expected: ExpectedFigures


@dataclass(frozen=True)
class FitResult:
    """A fit on all labels, beside figures of verdicts that were never fitted on their own group.

    `held_out` and `expected` judge every insight as fitted in the fold that left its group out; `before` is the
    configuration that one started from, on the same insights. A judge fitted here is not validated by its
    figures on the same labels.
    """

    config: Config
    held_out_by: HeldOutBy
    folds: tuple[Fold, ...]
    held_out: Comparison
    expected: ExpectedFigures
    before: Comparison
    n_summaries: int
    n_insights: int

    def description(self) -> str:
        """For the screen: what was fitted on, and the held-out figures."""
        figures = ", ".join(
            f"{name} {stat.value:.2f}" if stat.value is not None else f"{name} undefined"
            for name, stat in (
                ("Pearson", self.held_out.stats["pearson"]),
                ("Pearson of expected coverage", self.expected.pearson),
                ("same label", self.held_out.stats["exact_agreement"]),
                ("same bullet", self.held_out.stats["linking_authors"]),
            )
        )
        caution = " All are of one topic, so this says little of others."
        return (
            f"Fitted on {self.n_insights} labels of {self.n_summaries} summaries. "
            f"With each {self.held_out_by} left out in turn: {figures}."
            f"{caution if self.held_out_by is HeldOutBy.SUBTOPIC else ''}"
        )


@dataclass(frozen=True)
class _Row:
    match: Match
    label: HumanLabel
    topic: str
    group: str
    summary: str
    subtopic: str
    n_lines: int


def fit(
    labelled: Sequence[LabelledSummary], start: Config, *, silver: Sequence[LabelledSummary] = ()
) -> FitResult:
    """Fit thresholds and odds on all labels, and validate with one topic left out at a time.

    If all labels are of one topic, its subtopics are left out in turn, and the result says so. Intervals
    resample subtopics. Of version 2 the odds alone are fitted, each topic counting the same, and
    a topic of `silver` labels, by a model and not by people, as one more: in every fold, and in no figure.

    Raises:
        TooFewLabels: under 60 labelled insights, or under 10 of a kind, are left to fit on in some fold.
        NothingHeldOut: one topic with under 3 subtopics.
    """
    held_out_by = _unit(labelled)
    rows, more = _rows(labelled, start, held_out_by), _rows(silver, start, held_out_by)
    configs = {
        group: _fitted_on([row for row in rows if row.group != group], more, start, f"without {group}")
        for group in sorted({row.group for row in rows})
    }
    topics = tuple(sorted({each.topic for each in (*labelled, *silver)}))
    config = replace(_fitted_on(rows, more, start, "overall"), fitted_on=topics)
    folds = []
    for group, held_out in configs.items():
        inside = [row for row in rows if row.group == group]
        folds.append(Fold(group, held_out, len(inside), _expected(inside, configs)))
    return FitResult(
        config=config,
        held_out_by=held_out_by,
        folds=tuple(folds),
        held_out=compare([_compared(row, configs[row.group]) for row in rows]),
        expected=_expected(rows, configs),
        before=compare([_compared(row, start) for row in rows]),
        n_summaries=len({row.summary for row in rows}),
        n_insights=len(rows),
    )


def thresholds(scores: Sequence[float], labels: Sequence[Coverage]) -> tuple[float, float]:
    """A pair of thresholds on `scores` whose verdicts correlate with `labels` about as well as any, and safely.

    Pearson's r of 0, ½, 1 is computed for all pairs of 50 quantiles of the scores. The single best pair is
    mostly luck and worse on another topic, so of all within one standard error of it, (1 − r²)/√n, the pair
    whose neighbours do best is taken.
    """
    from scipy.ndimage import gaussian_filter

    points = np.asarray(scores, dtype=float)
    grid = np.quantile(points, np.linspace(0.02, 0.98, GRID), method="higher")
    values = _correlations(points, np.array([_WORTH[label] for label in labels]), grid)
    upper = np.triu(np.ones_like(values, dtype=bool))
    best = values[upper].max()
    # Mirrored, so that a pair near the diagonal has neighbours on both sides.
    smooth = gaussian_filter(np.where(upper, values, values.T), SMOOTHING, mode="nearest")
    good_enough = upper & (values >= best - (1 - best**2) / np.sqrt(len(points)) - ROUNDING)
    smooth[~good_enough] = -np.inf
    low, high = np.unravel_index(int(smooth.argmax()), smooth.shape)
    return _down(grid[low]), _down(grid[high])


def _down(threshold: float) -> float:
    """Three decimals, never above the score that it was taken from."""
    return math.floor(threshold * 1000) / 1000


def _correlations(points: Any, worth: Any, grid: Any) -> Any:
    """Pearson's r for thresholds `grid[i]` ≤ `grid[j]`, shape (GRID, GRID); -1 where undefined."""
    order = np.argsort(points, kind="stable")
    centred = (worth - worth.mean())[order]
    sums = np.concatenate([np.cumsum(centred[::-1])[::-1], [0.0]])
    start = np.searchsorted(points[order], grid)
    n, above = len(points), len(points) - start.astype(float)
    mean = (above[:, None] + above[None, :]) / 2 / n
    variance = (above[:, None] / 4 + above[None, :] * 3 / 4) / n - mean**2
    covariance = (sums[start][:, None] + sums[start][None, :]) / 2 / n
    spread = np.sqrt(np.maximum(variance, 0)) * worth.std()
    return np.where(spread > 0, covariance / np.where(spread > 0, spread, 1), -1.0)


def _unit(labelled: Sequence[LabelledSummary]) -> HeldOutBy:
    if len({each.topic for each in labelled}) >= 2:
        return HeldOutBy.TOPIC
    subtopics = {each.subtopic for each in labelled}
    if labelled and len(subtopics) < MIN_SUBTOPICS:
        raise NothingHeldOut(
            f"All labels are of one topic with {len(subtopics)} subtopics; "
            f"label a second topic or at least {MIN_SUBTOPICS} subtopics."
        )
    return HeldOutBy.SUBTOPIC


def _rows(labelled: Sequence[LabelledSummary], config: Config, held_out_by: HeldOutBy) -> list[_Row]:
    judge = config.judge()
    by_background: dict[str, list[LabelledSummary]] = {}
    for each in labelled:
        by_background.setdefault(each.background.version, []).append(each)
    rows = []
    for group in by_background.values():
        matched = judge.matches([each.summary for each in group], group[0].background)
        for each, matches in zip(group, matched, strict=True):
            labels = {label.insight_key: label for label in each.labels}
            rows += [
                _Row(
                    match=match,
                    label=labels[match.insight_key],
                    topic=each.topic,
                    group=each.topic if held_out_by is HeldOutBy.TOPIC else each.subtopic,
                    summary=f"{each.topic}/{each.subtopic}/{each.summary.key}",
                    subtopic=f"{each.topic}/{each.subtopic}",
                    n_lines=len(each.summary.lines),
                )
                for match in matches
                if match.insight_key in labels
            ]
    return sorted(rows, key=lambda row: (row.summary, row.match.insight_key))


def _fitted_on(rows: Sequence[_Row], silver: Sequence[_Row], start: Config, where: str) -> Config:
    seen = [row for row in rows if row.match.features]
    kinds: Counter[str] = Counter(row.label.coverage for row in seen)
    rarest = min(_WORTH, key=lambda kind: kinds[kind])
    if len(rows) < MIN_LABELS:
        raise TooFewLabels(f"{len(rows)} labelled insights {where}; at least {MIN_LABELS} are needed.")
    if kinds[rarest] < MIN_OF_A_LABEL:
        raise TooFewLabels(f"{kinds[rarest]} labels “{rarest}” {where}; at least {MIN_OF_A_LABEL} are needed.")
    if isinstance(start, ExpectedConfig):
        seen += [row for row in silver if row.match.features]
        return replace(start, odds=_odds(seen, [row.topic for row in seen]))
    labels = [row.label.coverage for row in rows]
    partial_from, full_from = thresholds([row.match.score for row in rows], labels)
    return replace(start, partial_from=partial_from, full_from=full_from, odds=_odds(seen))


def _odds(rows: Sequence[_Row], topics: Sequence[str] | None = None) -> Odds:
    return fit_odds([row.match.features for row in rows], [row.label.coverage for row in rows], topics)


def _expected(rows: Sequence[_Row], configs: Mapping[str, Config]) -> ExpectedFigures:
    """Figures of each row as its group's configuration judges it."""
    judges = {group: config.judge() for group, config in configs.items()}
    expectations = [judges[row.group].probabilities(row.match) for row in rows]
    return expected_figures(
        [expectation.expected() for expectation in expectations if expectation is not None],
        [_WORTH[judges[row.group].coverage(row.match)] for row in rows],
        [_WORTH[row.label.coverage] for row in rows],
        clusters=[row.subtopic for row in rows],
    )


def _compared(row: _Row, config: Config) -> Compared:
    coverage = config.judge().coverage(row.match)
    lines = () if coverage is Coverage.NONE else (row.match.line,)
    return Compared(
        human=Verdict(row.label.coverage, row.label.lines),
        judge=Verdict(coverage, lines),
        cluster=row.subtopic,
        n_lines=row.n_lines,
    )
