"""The offline judge: how many telling words and numbers an insight and a bullet share. No key, no network.

It reads no meaning: a paraphrase in other words looks uncovered to it. How it was fitted and where it was
validated is in docs/lexical-judge.md. numpy and scipy are imported only when something is judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from benchmarks.judges.base import (
    Background,
    CoverageVerdict,
    EntailmentItem,
    EntailmentVerdict,
    ItemRef,
    SummaryToJudge,
)
from benchmarks.judges.lexical_odds import NOT_COVERED, Odds, WrongOdds
from benchmarks.judges.lexical_terms import (
    Fitted,
    Space,
    Texts,
    alike_by_document,
    covered_share,
    fitted,
    sentences,
)
from benchmarks.scoring.keypoints import Entailment
from benchmarks.scoring.summhay import Coverage, Probabilities
from benchmarks.scoring.text import Line, LineKind, lines_from_list

METHOD_VERSION = 2
DECIMALS = 6
LEAST_SHARE = 0.05
"""Added to a share before its logarithm is taken."""

DESCRIPTION = (
    "Compares words, not meaning: it looks for the bullet that shares most pieces of words, words and numbers "
    "with the insight, and calls the insight covered if they share enough. A paraphrase in other words is missed. "
    "Validated on 114 human-labelled summaries of the two conversation haystacks of SummHay, each with thresholds "
    "fitted on the other: Pearson .74 (.67 to .80) by label and .76 by expected coverage, same label 70 %, same "
    "bullet 89 %. Not validated on other "
    "haystacks, languages or on summaries by people."
)
ODDS = Odds(
    partial=(-4.2834, 7.5896, 0.8374, -1.194, 1.4874, 1.4407, -32.7529),
    full=(-6.9553, 8.3223, 6.0543, 0.3235, 1.945, 1.9092, -4.5127),
)
"""Fitted on both conversation haystacks; see docs/lexical-judge.md."""
FITTED_ON = ("664eac18d68e5dd3b795fd6c", "doctor_patient")
"""Their keys: figures of the defaults on these are no validation."""
ENTAILMENT_DESCRIPTION = (
    "Compares words, not meaning: a key point is entailed if one sentence of the response shares enough with it. "
    "Not validated against people, except by studies on this site."
)


class WrongConfig(ValueError):
    """A parameter is unknown or out of range."""


@dataclass(frozen=True)
class LexicalConfig:
    """Everything the verdicts depend on besides the texts; all numbers but the odds are between 0 and 1.

    `partial_from` and `full_from` are thresholds on the score. `recall_weight` is the part of weighted recall
    beside cosine, `word_weight` that of word stems beside pieces of words, `number_weight` that of the
    insight's numbers beside all the rest. The score of a line that says another insight of the same summary
    better counts `rival_weight` times. A key point is entailed from `entailed_from` on and neither entailed
    nor not from `neutral_from` on; equal, as by default, nothing is neutral. `odds` make the probabilities of
    coverage; without them a verdict is a label only. `fitted_on` are the keys of the haystacks whose labels set
    all this; no verdict depends on them.
    """

    partial_from: float = 0.25
    full_from: float = 0.42
    recall_weight: float = 0.5
    word_weight: float = 0.5
    number_weight: float = 0.05
    rival_weight: float = 0.9
    entailed_from: float = 0.35
    neutral_from: float = 0.35
    method_version: int = METHOD_VERSION
    odds: Odds | None = ODDS
    fitted_on: tuple[str, ...] = FITTED_ON

    def __post_init__(self) -> None:
        if self.method_version != METHOD_VERSION:
            raise WrongConfig(f"method {self.method_version} is gone; this is method {METHOD_VERSION}")
        for name in ("recall_weight", "word_weight", "number_weight", "rival_weight"):
            if not 0 <= getattr(self, name) <= 1:
                raise WrongConfig(f"{name} must be between 0 and 1")
        for low, high in (("partial_from", "full_from"), ("neutral_from", "entailed_from")):
            if not 0 <= getattr(self, low) <= getattr(self, high) <= 1:
                raise WrongConfig(f"thresholds must satisfy 0 ≤ {low} ≤ {high} ≤ 1")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> LexicalConfig:
        """Read a stored configuration; missing names take the default, but odds and what they were fitted on.

        Raises:
            WrongConfig: a name is unknown or a value out of range.
        """
        odds = values.get("odds")
        return read_config(cls, values, lambda: None if odds is None else Odds.from_mapping(odds))

    def as_mapping(self) -> dict[str, Any]:
        return {**asdict(self), "fitted_on": list(self.fitted_on)}

    def judge(self) -> LexicalJudge:
        return LexicalJudge(self)

    def coverage(self, score: float) -> Coverage:
        """The coverage of a score; 0 covers nothing, whatever the thresholds."""
        return Coverage.at(score, self.partial_from, self.full_from) if score > 0 else Coverage.NONE

    def entailment(self, score: float) -> Entailment:
        if score <= 0 or score < self.neutral_from:
            return Entailment.NO
        return Entailment.YES if score >= self.entailed_from else Entailment.NEUTRAL


@dataclass(frozen=True, slots=True)
class Match:
    """The closest line of a summary to an insight; line 0 if the summary has none that could cover.

    `features` are what its probabilities depend on (`lexical_odds.FEATURES`), empty without a line.
    """

    insight_key: str
    line: int
    score: float
    features: tuple[float, ...] = ()


Config = TypeVar("Config")
Evidence = Mapping[str, Any]
"""Scores by which the closest line of each insight is chosen (`scores`), and that features are taken from.

Of shape (insights, lines), but what is of insights or of lines alone.
"""


def read_config(cls: type[Config], values: Mapping[str, Any], odds: Callable[[], Odds | None]) -> Config:
    """A configuration of stored values.

    Raises:
        WrongConfig: a name is unknown, or odds are none.
    """
    if unknown := set(values) - set(signature(cls).parameters):
        raise WrongConfig(f"unknown parameters: {', '.join(sorted(unknown))}")
    try:
        return cls(**{**values, "odds": odds(), "fitted_on": tuple(values.get("fitted_on", ()))})
    except (KeyError, WrongOdds) as error:
        raise WrongConfig(str(error)) from error


class LexicalJudge:
    """The closest bullet decides; two thresholds make none, partial and full.

    Insights that are not in the background are weighed as if they were; giving the background all of them is
    faster.
    """

    description = DESCRIPTION
    entailment_description = ENTAILMENT_DESCRIPTION

    def __init__(self, config: LexicalConfig | None = None) -> None:
        self.config = config or LexicalConfig()

    def judge_coverage(
        self, batch: Sequence[SummaryToJudge], background: Background
    ) -> list[list[CoverageVerdict]]:
        """Judge every insight of every summary; a verdict depends on its summary and the background only."""
        return [[self._verdict(match) for match in matched] for matched in self.matches(batch, background)]

    def matches(self, batch: Sequence[SummaryToJudge], background: Background) -> list[list[Match]]:
        """The closest line to every insight of every summary, before any threshold."""
        groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for position, summary in enumerate(batch):
            groups[tuple(insight.text for insight in summary.insights)].append(position)
        closest: list[list[Match]] = [[] for _ in batch]
        for insights, positions in groups.items():
            lines = [lines_that_can_cover(batch[position]) for position in positions]
            texts = [line.plain for group in lines for line in group]
            evidence = self.evidence(insights, texts, background) if insights and texts else None
            start = 0
            for position, group in zip(positions, lines, strict=True):
                closest[position] = self._closest(batch[position], group, evidence, start)
                start += len(group)
        return closest

    def judge_entailment(self, batch: Sequence[EntailmentItem], background: Background) -> list[EntailmentVerdict]:
        """Compare each key point with the sentences of its response; the closest one decides."""
        split = [sentences(item.response) for item in batch]
        wanted: dict[str, dict[str, None]] = defaultdict(dict)
        for item, group in zip(batch, split, strict=True):
            wanted[item.key_point].update(dict.fromkeys(group))
        scores: dict[str, dict[str, float]] = {}
        for point, texts in wanted.items():
            row = self.similarities([point], list(texts), background)[0]
            scores[point] = dict(zip(texts, row.tolist(), strict=True))
        return [
            self._entailment(item.key, [scores[item.key_point][text] for text in group])
            for item, group in zip(batch, split, strict=True)
        ]

    def judge_support(
        self, points: Sequence[ItemRef], texts: Sequence[str], background: Background
    ) -> list[EntailmentVerdict]:
        """Compare each point with all texts; the closest one decides."""
        scores = self.similarities([point.text for point in points], texts, background)
        return [self._entailment(point.key, row.tolist()) for point, row in zip(points, scores, strict=True)]

    def similarities(self, insights: Sequence[str], texts: Sequence[str], background: Background) -> Any:
        """Scores of every insight with every text: array of shape (insights, texts), from 0 to 1."""
        if not insights or not texts:
            return np.zeros((len(insights), len(texts)))
        known = fitted(background.with_insights(insights))
        facts, parts = Texts(insights), Texts(texts)
        return self._scores(known, facts, parts, _share(known.numbers, facts, parts))

    def evidence(self, insights: Sequence[str], texts: Sequence[str], background: Background) -> Evidence:
        """Compare insights with the lines of several summaries."""
        known = fitted(background.with_insights(insights))
        facts, parts = Texts(insights), Texts(texts)
        numbers = _share(known.numbers, facts, parts)
        return {
            "scores": self._scores(known, facts, parts, numbers),
            "numbers": numbers,
            "rare": sum(alike_by_document(space, facts, parts) for space in known.by_document) / 2,
            "n_words": facts.counts.sum(axis=1),
        }

    def _scores(self, known: Fitted, facts: Texts, parts: Texts, by_numbers: Any) -> Any:
        """Of pieces and stems the mean of cosine and weighted recall, beside the share of numbers."""
        alike, weight, numbers = 0.0, self.config.recall_weight, self.config.number_weight
        for part, space in ((1 - self.config.word_weight, known.pieces), (self.config.word_weight, known.stems)):
            wanted, offered = space.vectors(facts), space.vectors(parts)
            cosine = (wanted @ offered.T).toarray()
            alike = alike + part * ((1 - weight) * cosine + weight * covered_share(wanted, offered))
        return np.round(np.clip((1 - numbers) * alike + numbers * by_numbers, 0, 1), DECIMALS)

    def _closest(
        self, summary: SummaryToJudge, lines: Sequence[Line], evidence: Evidence | None, start: int
    ) -> list[Match]:
        """The line with the highest score for each insight, the first in a tie.

        The summary's lines are the columns of the evidence from `start` on.
        """
        if not lines or evidence is None:
            return [Match(insight.key, 0, 0.0) for insight in summary.insights]
        compared = evidence["scores"][:, start : start + len(lines)]
        best = compared.argmax(axis=1)
        scores, *features = self.features(evidence, compared, best, start)
        rows = zip(
            summary.insights, best.tolist(), scores.tolist(), np.column_stack(features).tolist(), strict=True
        )
        return [
            Match(insight.key, lines[column].number, score, tuple(each)) for insight, column, score, each in rows
        ]

    def features(self, evidence: Evidence, compared: Any, best: Any, start: int) -> Sequence[Any]:
        """The score of each insight and its `FEATURES`, from the scores of a summary's lines.

        A score is at a discount if the line says another insight better.
        """
        rows = np.arange(len(compared))
        scored, highest = compared[rows, best], compared.max(axis=0)[best]
        discounted = np.round(scored * self.config.rival_weight, DECIMALS)
        scores = np.where(scored < highest, discounted, scored)
        return (
            scores,
            scores,
            scores**2,
            evidence["numbers"][rows, start + best],
            np.log1p(evidence["n_words"]),
            np.log(LEAST_SHARE + evidence["rare"][rows, start + best]),
            (highest - scored) * (1 - self.config.rival_weight),
        )

    def coverage(self, match: Match) -> Coverage:
        return self.config.coverage(match.score)

    def _verdict(self, match: Match) -> CoverageVerdict:
        coverage = self.coverage(match)
        lines = () if coverage is Coverage.NONE else (match.line,)
        probabilities = self.probabilities(match)
        return CoverageVerdict(match.insight_key, coverage, lines, self.score(match), probabilities)

    def score(self, match: Match) -> float:
        """The measure that orders verdicts."""
        return match.score

    def probabilities(self, match: Match) -> Probabilities | None:
        """How likely a match covers its insight, and how fully; None without odds."""
        if self.config.odds is None:
            return None
        return self.config.odds.probabilities(match.features) if match.features else NOT_COVERED

    def _entailment(self, key: str, scores: Sequence[float]) -> EntailmentVerdict:
        if not scores:
            return EntailmentVerdict(key, Entailment.NO, None, 0.0)
        best = max(range(len(scores)), key=scores.__getitem__)
        return EntailmentVerdict(key, self.config.entailment(scores[best]), best + 1, scores[best])


def _share(space: Space, facts: Texts, parts: Texts) -> Any:
    """Share of each asked text's squared weight whose terms each given text has."""
    return covered_share(space.vectors(facts), space.vectors(parts))


def lines_that_can_cover(summary: SummaryToJudge) -> list[Line]:
    """The lines of a summary that say something: no headings, no preambles."""
    return [
        line
        for line in lines_from_list(summary.lines)
        if line.kind not in {LineKind.HEADER, LineKind.PREAMBLE} and line.plain.strip()
    ]
