"""Version 2 of the offline judge: an expected coverage from words, numbers and topics, which makes the label.

How it was fitted and where it was validated is in docs/lexical-judge.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import (
    DECIMALS,
    LEAST_SHARE,
    Evidence,
    LexicalJudge,
    Match,
    WrongConfig,
    read_config,
)
from benchmarks.judges.lexical_odds import NOT_COVERED, Odds
from benchmarks.judges.lexical_terms import Known, Texts, alike, alike_by_document, fitted, known, present
from benchmarks.scoring.summhay import Coverage, Probabilities

METHOD_VERSION = 3
FEATURES = (
    "share of numbers",
    "whether the insight has numbers",
    "share of words that insights share",
    "share of the line",
    "similarity of topics",
    "log words of the line",
    "log similarity by terms rare in documents",
    "log similarity",
)
SHARPNESS = 0.05
"""How much closer an insight has to be for its share of a line to be e times another's."""
DESCRIPTION = (
    "Compares words, not meaning: numbers, words without their endings, pieces of words and topics that an "
    "insight and a bullet have in common make an expected coverage, and this the label. A paraphrase in other "
    "words is missed. Validated on 114 human-labelled summaries of the two conversation haystacks of SummHay, "
    "each with odds fitted without it: Pearson .75 by label and .77 by expected coverage, same label 72 %, same "
    "bullet 89 %. Not validated on other haystacks, languages or on summaries by people."
)
ODDS = Odds(
    partial=(1.937, 0.6561, 0.5222, -1.8331, 1.1564, 2.5027, -0.0945, 1.2928, 0.9888),
    full=(0.2256, 2.2995, -0.5162, -1.7226, 1.5123, 2.5867, 1.0205, 1.6102, 2.7994),
)
"""Fitted on both conversation haystacks and on GPT-4o's verdicts on a news haystack; see docs/lexical-judge.md."""
FITTED_ON = ("664eac18d68e5dd3b795fd6c", "doctor_patient", "6419258a9c6c91e5010d42ec")
"""Their keys: figures of the defaults on these are no validation."""


@dataclass(frozen=True)
class ExpectedConfig:
    """Everything the verdicts depend on besides the texts.

    An expected coverage from `partial_from` on is partial, from `full_from` on full. `odds` make it of the
    features. `fitted_on` are the keys of the haystacks whose labels or verdicts set them.
    """

    odds: Odds = ODDS
    partial_from: float = 0.35
    full_from: float = 0.67
    method_version: int = METHOD_VERSION
    fitted_on: tuple[str, ...] = FITTED_ON

    def __post_init__(self) -> None:
        if self.method_version != METHOD_VERSION:
            raise WrongConfig(f"this is method {METHOD_VERSION}, not {self.method_version}")
        if not 0 < self.partial_from <= self.full_from <= 1:
            raise WrongConfig("thresholds must satisfy 0 < partial_from ≤ full_from ≤ 1")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ExpectedConfig:
        """Read a stored configuration.

        Raises:
            WrongConfig: a name is unknown or a value out of range.
        """
        return read_config(cls, values, lambda: Odds.from_mapping(values["odds"], n_features=len(FEATURES)))

    def as_mapping(self) -> dict[str, Any]:
        return {**asdict(self), "fitted_on": list(self.fitted_on)}

    def judge(self) -> ExpectingJudge:
        return ExpectingJudge(self)


class ExpectingJudge(LexicalJudge):
    """The closest bullet by three cosines; a logit makes probabilities of it, and their expectation the label.

    Key points are compared as version 1 does.
    """

    description = DESCRIPTION

    def __init__(self, config: ExpectedConfig | None = None) -> None:
        super().__init__()
        self.expecting = config or ExpectedConfig()

    def coverage(self, match: Match) -> Coverage:
        return Coverage.at(self.score(match), self.expecting.partial_from, self.expecting.full_from)

    def probabilities(self, match: Match) -> Probabilities:
        """How likely a match covers its insight, and how fully."""
        return self.expecting.odds.probabilities(match.features) if match.features else NOT_COVERED

    def score(self, match: Match) -> float:
        return self.probabilities(match).expected()

    def evidence(self, insights: Sequence[str], texts: Sequence[str], background: Background) -> Evidence:
        """Compare insights with the lines of several summaries."""
        whole = background.with_insights(insights)
        words = known(whole)
        facts, parts = Texts(insights, alike), Texts(texts, alike)
        rarely = Texts(insights), Texts(texts)
        numbers = present(facts.terms(words.numbers.index, words.numbers.terms_of))
        offered = present(parts.terms(words.numbers.index, words.numbers.terms_of))
        n_numbers = numbers.sum(axis=1)
        content = np.array([words.is_content(word) for word in parts.words], dtype=float)
        return {
            "scores": _scores(words, facts, parts),
            "numbers": (numbers @ offered.T).toarray() / np.maximum(1, n_numbers)[:, None],
            "shared": _shared(words, facts, parts),
            "topics": words.topic(facts) @ words.topic(parts).T,
            "rare": sum(alike_by_document(space, *rarely) for space in fitted(whole).by_document) / 2,
            "has_numbers": (n_numbers > 0).astype(float),
            "n_words": parts.counts @ content,
        }

    def features(self, evidence: Evidence, compared: Any, best: Any, start: int) -> Sequence[Any]:
        """The score of each insight and its `FEATURES`."""
        rows, at = np.arange(len(compared)), start + best
        raised = np.exp(compared / SHARPNESS)
        scores = compared[rows, best]
        columns = (
            evidence["numbers"][rows, at],
            evidence["has_numbers"],
            evidence["shared"][rows, at],
            (raised / raised.sum(axis=0))[rows, best],
            evidence["topics"][rows, at],
            np.log1p(evidence["n_words"][at]),
            np.log(LEAST_SHARE + evidence["rare"][rows, at]),
            np.log(LEAST_SHARE + scores),
        )
        return scores, *(np.round(column, DECIMALS) for column in columns)


def _scores(words: Known, facts: Texts, parts: Texts) -> Any:
    """The mean of three cosines; first letters that several of the asked insights have count less."""
    uses = np.bincount(
        facts.terms(words.begun.index, words.begun.terms_of).indices, minlength=len(words.begun.index)
    )
    begun = replace(words.begun, weights=words.begun.weights / np.sqrt(np.maximum(1, uses)))
    cosines = [
        (space.vectors(facts) @ space.vectors(parts).T).toarray() for space in (words.stems, begun, words.pieces)
    ]
    return np.round(sum(cosines) / len(cosines), DECIMALS)


def _shared(words: Known, facts: Texts, parts: Texts) -> Any:
    """Share of those content words that several asked insights have, or of all, that each line has."""
    space = words.stems
    wanted, offered = (present(texts.terms(space.index, space.terms_of)) for texts in (facts, parts))
    several = np.bincount(wanted.indices, minlength=len(space.index)) >= 2
    by_all = wanted.toarray()
    by_several = by_all * several
    chosen = np.where(by_several.any(axis=1)[:, None], by_several, by_all) * words.shared
    totals = chosen.sum(axis=1)
    return (offered @ chosen.T).T / np.where(totals > 0, totals, 1.0)[:, None]
