"""The part of the documents that a summarizer is shown, in what order, in one piece or in blocks.

By score until a token budget is reached, where the document that crosses it is cut (SummHay's code). Tokens are
those of cl100k where the package bpe-openai is installed (extra `tokens`; it brings the vocabulary), else 1.25 for
a word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from benchmarks.judges.lexical_terms import sentences
from benchmarks.scoring.summhay import TOKENS_PER_WORD

Passage = tuple[int, str]
"""The number of a document, and its text or a part of it."""


RANDOM, TOP, BOTTOM, MIDDLE = "random", "top", "bottom", "middle"
"""Where the documents of a subtopic stand among all of them."""


def in_order(numbers: Iterable[int], order: str, *, n_insights: Mapping[int, int], seed: str | None) -> list[int]:
    """All documents in a random order; those of the subtopic first (`top`), last (`bottom`) or in the `middle`.

    The random order depends on the seed only, so that all summarizers read a subtopic in the same one. Without a
    seed documents stand by their numbers, as in the authors' code, and as there those of the subtopic by how
    many of its insights they hold: the most first, with `bottom` last.
    """
    ordered = sorted(numbers)
    if seed is not None:
        random.Random(seed).shuffle(ordered)  # noqa: S311 - by seed
    if order == RANDOM:
        return ordered
    golds = [number for number in ordered if n_insights.get(number)]
    if seed is None:
        golds.sort(key=lambda number: n_insights[number], reverse=order != BOTTOM)
    others = [number for number in ordered if not n_insights.get(number)]
    before = {TOP: 0, BOTTOM: len(others), MIDDLE: len(others) // 2}[order]
    return [*others[:before], *golds, *others[before:]]


def truncated(passages: Sequence[Passage], tokens: int | None) -> list[Passage]:
    """The passages until so many tokens are reached, 1.25 for a word; the last one is cut at a word."""
    if tokens is None:
        return list(passages)
    left, shown = int(tokens / TOKENS_PER_WORD), list[Passage]()
    for number, text in passages:
        words = text.split()
        if left <= 0:
            break
        shown.append((number, text if len(words) <= left else " ".join(words[:left])))
        left -= len(words)
    return shown


def blocks(passages: Sequence[Passage], *, words: int) -> list[list[Passage]]:
    """Blocks of so many words, each ending at the first sentence end after them; the last one is shorter."""
    done: list[list[Passage]] = []
    open_block: dict[int, list[str]] = {}
    n_words = 0
    for number, text in passages:
        for sentence in sentences(text):
            open_block.setdefault(number, []).append(sentence)
            n_words += len(sentence.split())
            if n_words >= words:
                done.append([(number, " ".join(parts)) for number, parts in open_block.items()])
                open_block, n_words = {}, 0
    if open_block:
        done.append([(number, " ".join(parts)) for number, parts in open_block.items()])
    return done


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
