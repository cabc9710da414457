"""Words of texts made alike, and what a background says of them: for version 2 of the offline judge.

Numbers are written in one way, words lose their endings, and words that most texts have are no content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.judges.base import Background
from benchmarks.judges.lexical_terms import (
    FLOOR,
    TEXTS_COUNT_AS,
    Space,
    Texts,
    number_of,
    pieces_of,
    remembered,
    sentences,
    stem_of,
    words,
)

_UNITS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS = {word: number for number, word in enumerate(_UNITS.split())}
TENS = {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
PERCENT = "percent"
LONGEST_NUMBER = 15
"""Digits up to which a number is read as one; longer ones are names."""
ENDINGS = (
    "ational", "ization", "fulness", "ousness", "iveness", "ingly", "edly", "ments", "ment", "ations", "ation",
    "ities", "ity", "ness", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e",
)  # fmt: skip
LEAST_STEM = 3
COMMON_IN = 0.5
"""A word that more than this share of the background's texts have is no content word …"""
LEAST_TEXTS = 5
"""… where there are so many texts."""
DIMENSIONS = 40
LEAST_WEIGHT = 1e-9
"""Of a dimension, as a share of the heaviest."""


def alike(text: str) -> list[str]:
    """Words and numbers of a text, numbers as digits: “two million” is 2000000, “40 percent” and “40%” are 40%."""
    tokens = words(text.replace("%", f" {PERCENT} "))
    alike_words: list[str] = []
    at = 0
    while at < len(tokens):
        value, at = _number(tokens, at)
        if value is None:
            alike_words.append(tokens[at])
            at += 1
            continue
        is_percent = at < len(tokens) and tokens[at] == PERCENT
        at += is_percent
        alike_words.append(f"{value:.6f}".rstrip("0").rstrip(".") + "%" * is_percent)
    return alike_words


def _number(tokens: list[str], at: int) -> tuple[float | None, int]:
    """The number that starts at a word, with the place behind it; None and the same place where none does."""
    word, end = tokens[at], at + 1
    if word in TENS:
        value: float = TENS[word]
        if end < len(tokens) and 0 < UNITS.get(tokens[end], 0) < 10:
            value, end = value + UNITS[tokens[end]], end + 1
    elif word in UNITS:
        value = UNITS[word]
    else:
        try:
            value = float(word) if word[0].isdigit() and len(word) <= LONGEST_NUMBER else math.nan
        except ValueError:
            value = math.nan
        if math.isnan(value):
            return None, at
    while end < len(tokens) and tokens[end] in SCALES:
        value, end = value * SCALES[tokens[end]], end + 1
    return value, end


def stripped(word: str) -> str:
    """A word without its ending, the longest that leaves three letters; numbers whole."""
    if word[0].isdigit():
        return word
    for ending in ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < LEAST_STEM:
            continue
        stem = word[: -len(ending)]
        if len(stem) > LEAST_STEM and stem[-1] == stem[-2] and stem[-1] not in "ls":
            stem = stem[:-1]
        if ending in {"ies", "ied"}:
            return f"{stem}i"
        return f"{stem[:-1]}i" if stem.endswith("y") else stem
    return f"{word[:-1]}i" if word.endswith("y") and len(word) > LEAST_STEM else word


@dataclass(frozen=True)
class Known:
    """What a background knows of words.

    `stems` are those of content words by how few insights have them, `begun` first five letters of all words
    likewise, `pieces` runs of four characters by how few sentences have them. `shared` are the terms of `stems` by
    how few sentences have them, shape (terms,). `topics` projects `every` content stem to a few dimensions, shape
    (terms, k); None where there are too few texts. `is_content` says of a word whether it is one.
    """

    stems: Space
    begun: Space
    pieces: Space
    numbers: Space
    shared: Any
    every: Space
    topics: Any
    is_content: Callable[[str], bool]

    def topic(self, texts: Texts) -> Any:
        """Texts in few dimensions, rows of length 1 (or 0), shape (texts, k)."""
        if self.topics is None:
            return np.zeros((texts.counts.shape[0], 1))
        rows = self.every.vectors(texts) @ self.topics
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


@remembered
def known(background: Background) -> Known:
    """Weigh the words of a background."""
    insights = Texts(sorted(set(background.insights)), alike)
    parts = Texts(sorted({part for text in background.texts for part in sentences(text)}), alike)
    is_content = _content(set(background.texts))

    def content_of(word: str) -> list[str]:
        return [stripped(word)] if is_content(word) else []

    stems = _by_insight(content_of, insights, parts)
    every = _every(content_of, insights, parts)
    return Known(
        stems=stems,
        begun=_by_insight(stem_of, insights, parts),
        pieces=_by_sentence(pieces_of, insights, parts),
        numbers=Space(number_of, index := _index(number_of, insights), np.ones(len(index))),
        shared=_by_sentence(content_of, insights, parts).weights,
        every=every,
        topics=_topics(every, insights, parts),
        is_content=is_content,
    )


def _content(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a word is content: a number, or a word that no more than half of the texts have."""
    contents = [set(alike(text)) for text in texts]
    counts: dict[str, int] = {}
    for content in contents:
        for word in content:
            counts[word] = counts.get(word, 0) + 1
    most = COMMON_IN * len(contents) if len(contents) >= LEAST_TEXTS else len(contents)
    common = frozenset(word for word, n in counts.items() if n > most)
    return lambda word: word[0].isdigit() or word not in common


def _index(terms_of: Callable[[str], list[str]], texts: Texts) -> dict[str, int]:
    terms = sorted({term for word in texts.words for term in terms_of(word)})
    return {term: column for column, term in enumerate(terms)}


def _having(terms_of: Callable[[str], list[str]], index: dict[str, int], texts: Texts) -> Any:
    """How many texts have each term."""
    return np.bincount(texts.terms(index, terms_of).indices, minlength=len(index)).astype(float)


def _by_insight(terms_of: Callable[[str], list[str]], insights: Texts, parts: Texts) -> Space:
    """Terms of insights by how few of these have them; all sentences together count as 20 insights more."""
    index = _index(terms_of, insights)
    n, n_parts = insights.counts.shape[0], parts.counts.shape[0]
    share = _having(terms_of, index, parts) / max(1, n_parts)
    having = _having(terms_of, index, insights) + TEXTS_COUNT_AS * share
    return Space(terms_of, index, math.log(1 + n + TEXTS_COUNT_AS) - np.log1p(having) + FLOOR)


def _by_sentence(terms_of: Callable[[str], list[str]], insights: Texts, parts: Texts) -> Space:
    """Terms of insights by how few sentences have them."""
    index = _index(terms_of, insights)
    having = _having(terms_of, index, parts)
    return Space(terms_of, index, math.log(1 + parts.counts.shape[0]) - np.log1p(having))


def _every(terms_of: Callable[[str], list[str]], insights: Texts, parts: Texts) -> Space:
    """All terms of sentences and insights, by how few of these have them."""
    index = {
        term: at for at, term in enumerate(sorted(_index(terms_of, insights).keys() | _index(terms_of, parts)))
    }
    having = _having(terms_of, index, insights) + _having(terms_of, index, parts)
    n = insights.counts.shape[0] + parts.counts.shape[0]
    return Space(terms_of, index, math.log(1 + n) - np.log1p(having))


def _topics(every: Space, insights: Texts, parts: Texts) -> Any:
    """The first dimensions of a singular value decomposition, from a fixed start.

    Those without any weight are left out: they are an accident of rounding, which differs between machines.
    """
    from scipy.sparse import vstack
    from scipy.sparse.linalg import svds

    rows = vstack([every.vectors(parts), every.vectors(insights)])
    n = min(rows.shape)
    if n < 2 or not rows.nnz:
        return None
    if n <= DIMENSIONS:
        _left, values, right = np.linalg.svd(rows.toarray(), full_matrices=False)
    else:
        _left, values, right = svds(rows, k=DIMENSIONS, v0=np.full(n, 1 / math.sqrt(n)))
    return right[values > LEAST_WEIGHT * values.max()].T
