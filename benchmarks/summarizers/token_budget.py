"""Documents by score until a token budget is reached, where the one that crosses it is cut (SummHay's code).

Tokens are those of cl100k where the package bpe-openai is installed (extra `tokens`; it brings the vocabulary),
else 1.25 for a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from benchmarks.scoring.summhay import TOKENS_PER_WORD
from benchmarks.summarizers.documents import Passage

CL100K, WORDS = "cl100k", "words"
"""How tokens are counted."""
_WORD = re.compile(r"\S+")
_REPLACED = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Cut:
    """How much is shown: `characters` of the last document and `words` in all, with tokens counted in one way."""

    tokens: str
    characters: int
    words: int

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing."""
        return asdict(self)


def counted_by() -> str:
    """How tokens are counted here."""
    return CL100K if find_spec("bpe_openai") else WORDS


def filled(ranked: Iterable[Passage], budget: int, *, tokens: str) -> tuple[list[int], Cut | None]:
    """The numbers of documents that are taken, the best first, and how the last one is cut; None if nothing is.

    The document with which the budget is reached is the last one.
    """
    numbers, n_tokens, n_words = list[int](), 0.0, 0
    for number, text in ranked:
        numbers.append(number)
        size = size_of(text, tokens)
        if n_tokens + size >= budget:
            shown = text[: beginning(text, budget - n_tokens, tokens)]
            return numbers, Cut(tokens, len(shown), n_words + len(shown.split()))
        n_tokens += size
        n_words += len(text.split())
    return numbers, None


def size_of(text: str, tokens: str) -> float:
    """How many tokens a text has."""
    return len(_encoding().encode_ordinary(text)) if tokens == CL100K else len(text.split()) * TOKENS_PER_WORD


def beginning(text: str, n_tokens: float, tokens: str) -> int:
    """How many characters the first tokens of a text have; a character that they end in is left out."""
    if tokens == CL100K:
        encoding = _encoding()
        kept: str = encoding.decode(encoding.encode_ordinary(text)[: int(n_tokens)])
        return len(kept) if text.startswith(kept) else len(kept.rstrip(_REPLACED))
    words = list(_WORD.finditer(text))[: int(n_tokens / TOKENS_PER_WORD)]
    return words[-1].end() if words else 0


@cache
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("cl100k_base")
