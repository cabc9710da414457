"""Texts as weighted terms: pieces of words, word stems and numbers. What the offline judge compares.

How telling a term is comes from a background and never from the texts that are judged. numpy and scipy are
imported when something is compared, so that the web server does not carry them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from benchmarks.judges.base import Background

GRAM = 4
SHORT_GRAM = 3
STEM = 5
TEXTS_COUNT_AS = 20
"""Documents weigh as much as this many insights, however long: few insights alone say little of what is common."""
FLOOR = 0.1
"""Weight of a term that every text has, beside the logarithm that others get."""
CACHED_BACKGROUNDS = 8

# Vowel signs and accents are characters of their own in many scripts, and no letters to `re`.
_MARKS = "".join(chr(code) for code in range(0x300, 0x1AB0) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(
    rf"\d+(?:[.,]\d+)*|[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W\d_])(?:(?![{_UNSPACED}])[^\W\d_]|[{_MARKS}])*"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def words(text: str) -> list[str]:
    """Words and numbers of a text in lower case; thousands separators dropped.

    Characters of scripts that put no spaces between words are words of their own.
    """
    words: list[str] = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [word.replace(",", "") if word[0].isdigit() else word for word in words]


def sentences(text: str) -> list[str]:
    """Sentences and list lines of a text that are not blank."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def pieces_of(word: str, length: int = GRAM) -> list[str]:
    """Runs of `length` characters of a word with a space on each side; the whole word if it is shorter."""
    padded = f" {word} "
    return [padded[start : start + length] for start in range(max(1, len(padded) - length + 1))]


def stem_of(word: str) -> list[str]:
    """The first five letters of a word; numbers whole."""
    return [word if word[0].isdigit() else word[:STEM]]


def number_of(word: str) -> list[str]:
    """The word if it is a number."""
    return [word] if word[0].isdigit() else []


class Texts:
    """Texts as counts of words, shape (texts, distinct words); each distinct word is taken apart once."""

    def __init__(self, texts: Iterable[str], split: Callable[[str], list[str]] = words) -> None:
        from scipy.sparse import csr_array

        index: dict[str, int] = {}
        columns: list[int] = []
        ends = [0]
        for text in texts:
            columns.extend(index.setdefault(word, len(index)) for word in split(text))
            ends.append(len(columns))
        self.words = list(index)
        shape = (len(ends) - 1, len(index))
        self.counts: Any = csr_array((np.ones(len(columns)), columns, ends), shape=shape)
        self.counts.sum_duplicates()

    def terms(self, index: Mapping[str, int], terms_of: Callable[[str], list[str]]) -> Any:
        """Counts of the terms in `index`, shape (texts, terms); other terms are left out."""
        from scipy.sparse import csr_array

        columns: list[int] = []
        ends = [0]
        for word in self.words:
            columns.extend(index[term] for term in terms_of(word) if term in index)
            ends.append(len(columns))
        by_word: Any = csr_array((np.ones(len(columns)), columns, ends), shape=(len(self.words), len(index)))
        counts = self.counts @ by_word
        counts.sort_indices()
        return counts


@dataclass(frozen=True)
class Space:
    """One kind of term of a background's insights: where each is, and how telling."""

    terms_of: Callable[[str], list[str]]
    index: Mapping[str, int]
    weights: Any

    def vectors(self, texts: Texts) -> Any:
        """Weighted terms of each text, shape (texts, terms), rows of length 1 (or 0 if nothing is known)."""
        from scipy.sparse import diags_array

        counts = texts.terms(self.index, self.terms_of)
        counts.data = 1 + np.log(counts.data)
        counts = (counts @ diags_array(self.weights)).tocsr()
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        lengths = np.asarray(lengths, dtype=float).ravel()
        return (diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ counts).tocsr()


@dataclass(frozen=True)
class Fitted:
    """What a background knows: pieces of words and stems by how telling they are, and numbers, all alike.

    `by_document` are stems and runs of three characters, weighed by how few of the documents have them.
    """

    pieces: Space
    stems: Space
    numbers: Space
    by_document: tuple[Space, Space]


Of = TypeVar("Of")


def remembered(make: Callable[[Background], Of]) -> Callable[[Background], Of]:
    """What `make` gives of a background, made once per process; the few latest backgrounds are kept."""
    kept: OrderedDict[str, Of] = OrderedDict()

    def known(background: Background) -> Of:
        version = background.version
        if version not in kept:
            kept[version] = make(background)
            while len(kept) > CACHED_BACKGROUNDS:
                kept.popitem(last=False)
        kept.move_to_end(version)
        return kept[version]

    return known


@remembered
def fitted(background: Background) -> Fitted:
    """Weigh the terms of a background."""
    insights = Texts(sorted(set(background.insights)))
    documents = sorted(set(background.texts))
    texts = Texts(part for text in documents for part in sentences(text))
    whole = Texts(documents) if documents else insights
    return Fitted(
        pieces=_weigh(pieces_of, insights, texts),
        stems=_weigh(stem_of, insights, texts),
        numbers=_alike(number_of, insights),
        by_document=(
            _weigh_by_document(stem_of, insights, whole),
            _weigh_by_document(partial(pieces_of, length=SHORT_GRAM), insights, whole),
        ),
    )


def _weigh(terms_of: Callable[[str], list[str]], insights: Texts, texts: Texts) -> Space:
    """Inverse document frequency over insights, with sentences of the texts as `TEXTS_COUNT_AS` more of them."""
    index = _index(terms_of, insights)
    n_insights, n_texts = insights.counts.shape[0], texts.counts.shape[0]
    having = np.bincount(insights.terms(index, terms_of).indices, minlength=len(index)).astype(float)
    total = float(n_insights)
    if n_texts:
        share = np.bincount(texts.terms(index, terms_of).indices, minlength=len(index)) / n_texts
        having += TEXTS_COUNT_AS * share
        total += TEXTS_COUNT_AS
    return Space(terms_of, index, math.log(1 + total) - np.log1p(having) + FLOOR)


def _weigh_by_document(terms_of: Callable[[str], list[str]], insights: Texts, documents: Texts) -> Space:
    """Inverse document frequency over documents, of the terms of insights."""
    index = _index(terms_of, insights)
    having = np.bincount(documents.terms(index, terms_of).indices, minlength=len(index))
    return Space(terms_of, index, math.log(1 + documents.counts.shape[0]) - np.log1p(having) + FLOOR)


def _alike(terms_of: Callable[[str], list[str]], insights: Texts) -> Space:
    index = _index(terms_of, insights)
    return Space(terms_of, index, np.ones(len(index)))


def _index(terms_of: Callable[[str], list[str]], insights: Texts) -> dict[str, int]:
    terms = Counter(term for word in insights.words for term in terms_of(word))
    return {term: column for column, term in enumerate(sorted(terms))}


def covered_share(wanted: Any, offered: Any) -> Any:
    """Share of each wanted row's squared weight whose terms the offered row has; rows have length 1."""
    return (wanted.multiply(wanted).tocsr() @ present(offered).T).toarray()


def alike_by_document(space: Space, facts: Texts, parts: Texts) -> Any:
    """The mean of cosine and the share of weights of an asked text's terms that each given text has.

    Neither weights are squared in that share nor counts matter.
    """
    wanted, offered = space.vectors(facts), space.vectors(parts)
    cosine = (wanted @ offered.T).toarray()
    terms = present(wanted)
    shared = (terms.multiply(space.weights).tocsr() @ present(offered).T).toarray()
    totals = terms @ space.weights
    return (cosine + shared / np.where(totals > 0, totals, 1.0)[:, None]) / 2


def present(rows: Any) -> Any:
    """Which terms each row has: ones and nothing, shape (texts, terms)."""
    present = rows.copy()
    present.data[:] = 1
    return present
