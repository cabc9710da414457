"""The offline judge: how alike an insight and a bullet are in characters and words. No key, no network.

It reads no meaning: a paraphrase with other words looks uncovered to it. How it was fitted and where it was
validated is in docs/lexical-judge.md. scikit-learn is imported only when something is judged.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmarks.judges.base import (
    Background,
    Coverage,
    CoverageVerdict,
    Entailment,
    EntailmentItem,
    EntailmentVerdict,
    SummaryToJudge,
)
from benchmarks.scoring.text import Line, LineKind, lines_from_list

METHOD_VERSION = 1
CACHED_BACKGROUNDS = 4


class WrongConfig(ValueError):
    """A parameter is unknown or out of range."""


@dataclass(frozen=True)
class LexicalConfig:
    """Everything the verdicts depend on besides the texts.

    `partial_from` and `full_from` are thresholds on the score (0 to 1); `recall_weight` mixes weighted recall into
    cosine, `word_weight` mixes words into character n-grams.
    """

    partial_from: float = 0.2
    full_from: float = 0.345
    recall_weight: float = 0.5
    word_weight: float = 0.5
    entailed_from: float = 0.3
    method_version: int = METHOD_VERSION

    def __post_init__(self) -> None:
        if not 0 <= self.partial_from <= self.full_from <= 1:
            raise WrongConfig("thresholds must satisfy 0 ≤ partial_from ≤ full_from ≤ 1")
        for name in ("recall_weight", "word_weight", "entailed_from"):
            if not 0 <= getattr(self, name) <= 1:
                raise WrongConfig(f"{name} must be between 0 and 1")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> LexicalConfig:
        """Read a stored configuration; unknown names are an error, missing ones take the default."""
        known = {field.name for field in fields(cls)}
        if unknown := set(values) - known:
            raise WrongConfig(f"unknown parameters: {', '.join(sorted(unknown))}")
        return cls(**values)

    def as_mapping(self) -> dict[str, Any]:
        """The configuration as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Fitted:
    """Vectorizers whose inverse document frequencies come from one background."""

    characters: Any
    words: Any


_fitted: OrderedDict[str, Fitted] = OrderedDict()


def fitted(background: Background) -> Fitted:
    """Fit on a background once per process; the few latest are kept."""
    if background.version in _fitted:
        _fitted.move_to_end(background.version)
        return _fitted[background.version]
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [text for text in background.texts if text.strip()] or ["."]
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    words = TfidfVectorizer(sublinear_tf=True)
    characters.fit(texts)
    try:
        words.fit(texts)
    except ValueError:  # a text without a single word
        words.fit([*texts, "word"])
    _fitted[background.version] = Fitted(characters, words)
    while len(_fitted) > CACHED_BACKGROUNDS:
        _fitted.popitem(last=False)
    return _fitted[background.version]


class LexicalJudge:
    """Best bullet by similarity; two thresholds make none, partial and full."""

    def __init__(self, config: LexicalConfig | None = None) -> None:
        self.config = config or LexicalConfig()

    def judge_coverage(
        self, batch: Sequence[SummaryToJudge], background: Background
    ) -> list[list[CoverageVerdict]]:
        """Judge every insight of every summary of a batch; one pass over all texts."""
        parsed = [[line for line in lines_from_list(summary.lines) if _can_cover(line)] for summary in batch]
        insights = list(dict.fromkeys(insight.text for summary in batch for insight in summary.insights))
        lines = list(dict.fromkeys(line.plain for group in parsed for line in group))
        scores = self.similarities(insights, lines, background)
        row_of = {text: row for row, text in enumerate(insights)}
        column_of = {text: column for column, text in enumerate(lines)}
        verdicts = []
        for summary, group in zip(batch, parsed, strict=True):
            columns = [column_of[line.plain] for line in group]
            verdicts.append(
                [
                    self._verdict(insight.key, group, scores[row_of[insight.text]][columns] if columns else ())
                    for insight in summary.insights
                ]
            )
        return verdicts

    def judge_entailment(self, batch: Sequence[EntailmentItem], background: Background) -> list[EntailmentVerdict]:
        """Compare each key point with the sentences of its response; the closest one decides."""
        split = [sentences(item.response) for item in batch]
        points = list(dict.fromkeys(item.key_point for item in batch))
        texts = list(dict.fromkeys(text for group in split for text in group))
        scores = self.similarities(points, texts, background)
        row_of = {text: row for row, text in enumerate(points)}
        column_of = {text: column for column, text in enumerate(texts)}
        found = []
        for item, group in zip(batch, split, strict=True):
            if not group:
                found.append(EntailmentVerdict(item.key, "no", None, 0.0))
                continue
            row = scores[row_of[item.key_point]][[column_of[text] for text in group]]
            best = int(row.argmax())
            score = float(row[best])
            answer: Entailment = "yes" if score >= self.config.entailed_from else "no"
            found.append(EntailmentVerdict(item.key, answer, best + 1, round(score, 6)))
        return found

    def similarities(self, queries: Sequence[str], texts: Sequence[str], background: Background) -> Any:
        """Scores of every query with every text, shape (queries, texts), from 0 to 1."""
        import numpy as np

        if not queries or not texts:
            return np.zeros((len(queries), len(texts)))
        models = fitted(background)
        weight = self.config.word_weight
        return (1 - weight) * self._one(models.characters, queries, texts) + weight * self._one(
            models.words, queries, texts
        )

    def _one(self, model: Any, queries: Sequence[str], texts: Sequence[str]) -> Any:
        wanted, given = model.transform(queries), model.transform(texts)
        cosine = (wanted @ given.T).toarray()
        # Rows have unit length, so the squared weights of the query's terms that the text has are its recall.
        present = given.copy()
        present.data[:] = 1
        recall = (wanted.multiply(wanted) @ present.T).toarray()
        return (1 - self.config.recall_weight) * cosine + self.config.recall_weight * recall

    def _verdict(self, key: str, group: Sequence[Line], row: Any) -> CoverageVerdict:
        if not len(row):
            return CoverageVerdict(key, "none", (), 0.0)
        best = int(row.argmax())
        score = round(float(row[best]), 6)
        coverage: Coverage = "none"
        if score >= self.config.partial_from and score > 0:
            coverage = "full" if score >= self.config.full_from else "partial"
        return CoverageVerdict(key, coverage, () if coverage == "none" else (group[best].number,), score)


def _can_cover(line: Line) -> bool:
    return line.kind not in {LineKind.HEADER, LineKind.PREAMBLE} and bool(line.plain.strip())


def sentences(text: str) -> list[str]:
    """Split a response into sentences and list lines."""
    parts = re.split(r"(?<=[.!?。！？])\s+|\n+", text)
    return [part.strip() for part in parts if part.strip()]
