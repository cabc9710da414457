"""Texts as weighted terms: pieces of words, word stems and numbers. What the offline judge compares.

How telling a term is comes from a background and never from the texts that are judged. numpy and scipy are
imported when something is compared, so that the web server does not carry them.

For version 2 words are made alike first: numbers are written in one way, words lose their endings, and words that
most texts have are no content.
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
    """A background fitted: pieces of words and stems by how telling they are, and numbers, all alike.

    `by_document` are stems and runs of three characters, weighed by how few of the documents have them.
    """

    pieces: Space
    stems: Space
    numbers: Space
    by_document: tuple[Space, Space]


Of = TypeVar("Of")


def remembered(make: Callable[[Background], Of]) -> Callable[[Background], Of]:
    """Keep what `make` gives of a background, made once per process; the few latest backgrounds are kept."""
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
    insights = Texts(sorted(set(background.insights)))
    documents = sorted(set(background.texts))
    texts = Texts(part for text in documents for part in sentences(text))
    whole = Texts(documents) if documents else insights
    return Fitted(
        pieces=_by_insight(pieces_of, insights, texts, is_counted=texts.counts.shape[0] > 0),
        stems=_by_insight(stem_of, insights, texts, is_counted=texts.counts.shape[0] > 0),
        numbers=_all_alike(number_of, insights),
        by_document=(
            _by_part(stem_of, insights, whole, least=FLOOR),
            _by_part(partial(pieces_of, length=SHORT_GRAM), insights, whole, least=FLOOR),
        ),
    )


TermsOf = Callable[[str], list[str]]


def _index(terms_of: TermsOf, *texts: Texts) -> dict[str, int]:
    terms = {term for some in texts for word in some.words for term in terms_of(word)}
    return {term: column for column, term in enumerate(sorted(terms))}


def _having(terms_of: TermsOf, index: Mapping[str, int], *texts: Texts) -> Any:
    counts = (np.bincount(some.terms(index, terms_of).indices, minlength=len(index)) for some in texts)
    return sum(counts, np.zeros(len(index)))


def _all_alike(terms_of: TermsOf, insights: Texts) -> Space:
    index = _index(terms_of, insights)
    return Space(terms_of, index, np.ones(len(index)))


def _by_insight(terms_of: TermsOf, insights: Texts, parts: Texts, *, is_counted: bool = True) -> Space:
    """Terms of insights by how few of these have them; all sentences together count as `TEXTS_COUNT_AS` more."""
    index = _index(terms_of, insights)
    n, n_parts = insights.counts.shape[0], parts.counts.shape[0]
    share = _having(terms_of, index, parts) / max(1, n_parts)
    having = _having(terms_of, index, insights) + TEXTS_COUNT_AS * share
    total = n + TEXTS_COUNT_AS * is_counted
    return Space(terms_of, index, math.log(1 + total) - np.log1p(having) + FLOOR)


def _by_part(terms_of: TermsOf, insights: Texts, *parts: Texts, least: float = 0.0, every: bool = False) -> Space:
    """Terms of insights, or with `every` of all parts, by how few of the parts have them."""
    index = _index(terms_of, *(parts if every else (insights,)))
    n = sum(some.counts.shape[0] for some in parts)
    return Space(terms_of, index, math.log(1 + n) - np.log1p(_having(terms_of, index, *parts)) + least)


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
    """Words of a background.

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
    insights = Texts(sorted(set(background.insights)), alike)
    parts = Texts(sorted({part for text in background.texts for part in sentences(text)}), alike)
    is_content = _content(set(background.texts))

    def content_of(word: str) -> list[str]:
        return [stripped(word)] if is_content(word) else []

    stems = _by_insight(content_of, insights, parts)
    every = _by_part(content_of, insights, insights, parts, every=True)
    return Known(
        stems=stems,
        begun=_by_insight(stem_of, insights, parts),
        pieces=_by_part(pieces_of, insights, parts),
        numbers=_all_alike(number_of, insights),
        shared=_by_part(content_of, insights, parts).weights,
        every=every,
        topics=_topics(every, insights, parts),
        is_content=is_content,
    )


def _content(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a word is content: a number, or a word that no more than half of the texts have."""
    contents = [set(alike(text)) for text in texts]
    counts = Counter(word for content in contents for word in content)
    most = COMMON_IN * len(contents) if len(contents) >= LEAST_TEXTS else len(contents)
    common = frozenset(word for word, n in counts.items() if n > most)
    return lambda word: word[0].isdigit() or word not in common


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
