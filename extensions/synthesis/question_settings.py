"""What somebody chooses of questions with key points; defaults are those of Long²RAG (§3). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from benchmarks.io.schemas.long2rag import CATEGORIES, DOMAINS


@dataclass(frozen=True)
class QuestionSettings:
    """How many of what, and where documents come from.

    Of a file the `seeds` questions with the longest answers are scored, those that meet `criteria_least` of the
    five criteria are kept, and `picked` of each category go on. Each category has `per_cell` questions in each
    domain; `deeper_share` of those that are asked for are seeds made harder, with `deeper_words` more words, the
    others new ones whose length differs by `wider_words` at most. A question has `subquestions` at most, each
    search gives `results`, and the best `documents` of them are kept; a rerank model at `rerank_url` says which,
    else BM25. A key point needs an AutoDS score of `autods_from`; 0 asks for no scores.
    """

    seeds: int = 3000
    criteria_least: int = 4
    categories: tuple[str, ...] = CATEGORIES
    picked: int = 12
    domains: tuple[str, ...] = DOMAINS
    per_cell: int = 7
    deeper_share: float = 0.5
    deeper_words: tuple[int, int] = (10, 20)
    wider_words: int = 10
    subquestions: int = 8
    results: int = 5
    documents: int = 5
    rerank_url: str = ""
    rerank_model: str = ""
    autods_from: float = 0.7
    language: str = "en"

    def problem(self) -> str:
        """What of it cannot be, naming the setting; empty if nothing."""
        for name in ("seeds", "picked", "per_cell", "subquestions", "results", "documents"):
            if getattr(self, name) < 1:
                return f"{name} is 1 or more."
        for name in ("categories", "domains"):
            values = getattr(self, name)
            if not values or len({value.casefold() for value in values}) < len(values) or not all(values):
                return f"{name} are at least one name, each once."
            if any(len(value) > 60 for value in values):
                return f"{name} have 60 characters at most."
        if not 0 <= self.criteria_least <= 5:
            return "criteria_least is from 0 to 5."
        if not 0 <= self.deeper_share <= 1 or not 0 <= self.autods_from <= 1:
            return "deeper_share and autods_from are from 0 to 1."
        if not 0 <= self.deeper_words[0] <= self.deeper_words[1] or self.wider_words < 0:
            return "deeper_words are two numbers in this order, wider_words one, none below 0."
        if bool(self.rerank_url) != bool(self.rerank_model):
            return "rerank_url and rerank_model go together."
        return ""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read plain values; ValueError names what is unknown."""
        if unknown := set(values) - {each.name for each in fields(cls)}:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**plain)
