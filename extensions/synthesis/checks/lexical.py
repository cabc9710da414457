"""Which documents hold which insights, by the words they share: the offline judge's best sentence of a document.

It reads no meaning: a leak in other words and a changed value pass it. The threshold is fitted to each haystack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from extensions.synthesis.checks.plans import Plan

BAND = (0.20, 0.50)
"""Scores between which words alone do not decide; in published haystacks one pair in six."""
DECIMALS = 6


class NothingToCompare(ValueError):
    """All pairs are planted, or none is: nothing can be told apart."""


@dataclass(frozen=True)
class Scores:
    """How close each sentence comes to each insight, shape (insights, sentences of all documents), 0 to 1.

    `best` is the score of the closest sentence of a document, 0 where it has none, and `sentence` the position of
    that sentence in its document; both have shape (insights, documents).
    """

    plan: Plan
    by_sentence: NDArray[np.float64]
    best: NDArray[np.float64]
    sentence: NDArray[np.int_]

    @property
    def planted(self) -> NDArray[np.float64]:
        """Best scores of the planted pairs."""
        return self.best[self.plan.planted]

    @property
    def others(self) -> NDArray[np.float64]:
        """Best scores of all other pairs."""
        return self.best[~self.plan.planted]

    def evidence(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The position of the closest sentence of each planted pair, in its document; none in an empty one."""
        return {
            (insight, document): (int(self.sentence[insight, document]),) if self.plan.documents[document] else ()
            for insight, document in self.plan.pairs
        }


def compare(plan: Plan, judge: LexicalJudge | None = None) -> Scores:
    """Score each insight with each sentence; how telling a word is comes from the haystack as a whole."""
    background = Background(plan.texts, plan.insights)
    scores: Any = (judge or LexicalJudge()).similarities(plan.insights, plan.sentences, background)
    best = np.zeros(plan.planted.shape)
    sentence = np.zeros(plan.planted.shape, dtype=int)
    for column, (start, end) in enumerate(zip(plan.starts[:-1], plan.starts[1:], strict=True)):
        if end > start:
            sentence[:, column] = scores[:, start:end].argmax(axis=1)
            best[:, column] = scores[:, start:end].max(axis=1)
    return Scores(plan, scores, best, sentence)


def auc(scores: Scores) -> float:
    """How likely a planted pair scores above another one; ties count one half.

    Raises:
        NothingToCompare: there is only one sort of pair.
    """
    planted, others = _both(scores)
    others = np.sort(others)
    below = np.searchsorted(others, planted, side="left") + np.searchsorted(others, planted, side="right")
    return float(below.mean() / 2 / len(others))


def fit_threshold(scores: Scores) -> float:
    """The score from which a pair counts as held, with the best F1 against the plan.

    It lies halfway between two scores that occur, or on an end; of equally good ones it is the middle one.

    Raises:
        NothingToCompare: there is only one sort of pair.
    """
    planted, others = (np.sort(part) for part in _both(scores))
    values = np.unique(np.concatenate((planted, others)))
    candidates = np.concatenate((values[:1], (values[:-1] + values[1:]) / 2, values[-1:]))
    hits = len(planted) - np.searchsorted(planted, candidates, side="left")
    alarms = len(others) - np.searchsorted(others, candidates, side="left")
    f1 = 2 * hits / (len(planted) + hits + alarms)
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return round(float(candidates[best[len(best) // 2]]), DECIMALS)


@dataclass(frozen=True, slots=True)
class Decided:
    """How a threshold decides the pairs of a plan; a share of nothing is None."""

    n_planted: int
    n_others: int
    n_hits: int
    n_alarms: int

    @property
    def precision(self) -> float | None:
        """Of the pairs that count as held, the planted ones."""
        return _share(self.n_hits, self.n_hits + self.n_alarms)

    @property
    def recall(self) -> float | None:
        """Of the planted pairs, those that count as held."""
        return _share(self.n_hits, self.n_planted)


def decide(scores: Scores, threshold: float) -> Decided:
    """Count what a threshold gets right."""
    return Decided(
        n_planted=len(scores.planted),
        n_others=len(scores.others),
        n_hits=int((scores.planted >= threshold).sum()),
        n_alarms=int((scores.others >= threshold).sum()),
    )


def undecided(scores: Scores, band: tuple[float, float] = BAND) -> list[tuple[int, int]]:
    """Pairs of an insight and a document that words alone do not decide, by insight."""
    low, high = band
    return [(int(row), int(column)) for row, column in np.argwhere((scores.best >= low) & (scores.best < high))]


class LexicalCheck:
    """Finds an insight in sentences of the haystack it was fitted to."""

    name = "lexical"

    def __init__(self, scores: Scores, threshold: float) -> None:
        self.threshold = threshold
        self._scores = scores.by_sentence
        self._column = {sentence: column for column, sentence in enumerate(scores.plan.sentences)}

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """The position of the closest sentence, if it is close enough; `KeyError` for one of another haystack."""
        if not document:
            return ()
        row = self._scores[insight, [self._column[sentence] for sentence in document]]
        closest = int(row.argmax())
        return (closest,) if row[closest] >= self.threshold else ()


def _both(scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    planted, others = scores.planted, scores.others
    if not len(planted) or not len(others):
        raise NothingToCompare("Some insight has to be in some document, and not each in all of them.")
    return planted, others


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
