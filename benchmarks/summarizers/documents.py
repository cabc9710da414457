"""Which part of the documents a summarizer is shown, in what order, in one piece or in blocks."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence

from benchmarks.judges.lexical_terms import sentences
from benchmarks.scoring.oracle import TOKENS_PER_WORD

Passage = tuple[int, str]
"""The number of a document, and its text or a part of it."""


def in_order(numbers: Iterable[int], order: str, *, golds: Collection[int], seed: str) -> list[int]:
    """All documents in a random order; with `top` those of the subtopic come first, with `bottom` last.

    The random order depends on the seed only, so that all summarizers read a subtopic in the same one.
    """
    found = sorted(numbers)
    random.Random(seed).shuffle(found)  # noqa: S311 - by seed
    if order == "random":
        return found
    return sorted(found, key=lambda number: (number in golds) != (order == "top"))


def truncated(passages: Sequence[Passage], tokens: int | None) -> list[Passage]:
    """The passages until so many tokens are reached, 1.25 for a word; the last one is cut at a word."""
    if tokens is None:
        return list(passages)
    left, found = int(tokens / TOKENS_PER_WORD), list[Passage]()
    for number, text in passages:
        words = text.split()
        if left <= 0:
            break
        found.append((number, text if len(words) <= left else " ".join(words[:left])))
        left -= len(words)
    return found


def blocks(passages: Sequence[Passage], *, words: int) -> list[list[Passage]]:
    """Blocks of so many words, each ending at the first sentence end after them; the last one is shorter."""
    found: list[list[Passage]] = []
    open_block: dict[int, list[str]] = {}
    n_words = 0
    for number, text in passages:
        for sentence in sentences(text):
            open_block.setdefault(number, []).append(sentence)
            n_words += len(sentence.split())
            if n_words >= words:
                found.append([(one, " ".join(parts)) for one, parts in open_block.items()])
                open_block, n_words = {}, 0
    if open_block:
        found.append([(one, " ".join(parts)) for one, parts in open_block.items()])
    return found
