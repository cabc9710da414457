"""Which part of the documents a summarizer is shown, in what order, in one piece or in blocks."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

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
