"""Documents as numbered words, pairs of words and sentences, indexed once and shown in any order.

Words are runs of letters and digits in lower case (a Chinese or Japanese sign is a word). A pair of words never
spans two documents. A sentence ends at a line break, and at a full stop, question or exclamation mark before white
space that no small letter follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")
_SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’»)\]]))\s+(?![a-zà-öø-ÿ])|(?<=[。！？])|[\r\n]+")


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, those without a word left out."""
    return [part for part in _SENTENCE_END.split(text) if part and _WORD.search(part)]


def ranges(starts: Ints, ends: Ints) -> Ints:
    """The numbers from each start up to its end, one range after another."""
    lengths = ends - starts
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
    places: Ints = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()), dtype=np.int64)
    return places


class Documents:
    """Texts by document number, indexed for many summaries and orders.

    `sentence_*` have a row for each sentence: its document (by place), its first word in the document, its words.
    """

    def __init__(self, texts: Mapping[int, str]) -> None:
        """`texts` are the documents by their number, in their order."""
        self._ids: dict[str, int] = {}
        self.places = {number: place for place, number in enumerate(texts)}
        ids: list[int] = []
        lengths: list[int] = []
        of_sentence: list[tuple[int, int, int]] = []
        for place, text in enumerate(texts.values()):
            n_before = len(ids)
            for sentence in sentences(text):
                tokens = words(sentence)
                of_sentence.append((place, len(ids) - n_before, len(tokens)))
                ids.extend(self._ids.setdefault(word, len(self._ids)) for word in tokens)
            lengths.append(len(ids) - n_before)
        self.lengths: Ints = np.array(lengths, dtype=np.int64)
        self.word_place: Ints = np.repeat(np.arange(len(lengths), dtype=np.int64), self.lengths)
        starts = np.cumsum(self.lengths) - self.lengths
        self.word_offset: Ints = np.arange(len(ids), dtype=np.int64) - np.repeat(starts, self.lengths)
        rows = np.array(of_sentence, dtype=np.int64).reshape(-1, 3)
        self.sentence_place, self.sentence_offset, self.sentence_words = rows.T
        self.n_sentences = np.bincount(self.sentence_place, minlength=len(lengths))
        self._index_pairs(np.array(ids, dtype=np.int64))
        self._index_words(np.array(ids, dtype=np.int64))

    def _index_pairs(self, ids: Ints) -> None:
        width = max(len(self._ids), 1)
        keys = ids[:-1] * width + ids[1:]
        inside = np.flatnonzero(self.word_place[:-1] == self.word_place[1:])
        keys = keys[inside]
        order = np.argsort(keys, kind="stable")
        self._pair_keys: Ints = keys[order]
        self._pair_words: Ints = inside[order]

    def _index_words(self, ids: Ints) -> None:
        n = max(len(self.sentence_words), 1)
        of_word = np.repeat(np.arange(len(self.sentence_words), dtype=np.int64), self.sentence_words)
        keys, counts = np.unique(ids * n + of_word, return_counts=True)
        self._word_keys: Ints = keys // n
        self._word_sentences: Ints = keys % n
        self._word_counts: Ints = counts.astype(np.int64)

    def pairs(self, lines: Iterable[str]) -> Ints:
        """Where the different pairs of words within the lines begin, as places among all words."""
        width = max(len(self._ids), 1)
        wanted = set()
        for line in lines:
            for first, second in pairwise(self._ids.get(word, -1) for word in words(line)):
                if first >= 0 and second >= 0:
                    wanted.add(first * width + second)
        keys = np.array(sorted(wanted), dtype=np.int64)
        starts = np.searchsorted(self._pair_keys, keys, side="left")
        ends = np.searchsorted(self._pair_keys, keys, side="right")
        return self._pair_words[ranges(starts, ends)]

    def holding(self, counts: Mapping[str, int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Sentences that hold any of the words: rows (sentence, which word, how often), and the words' counts."""
        known = [(self._ids[word], n) for word, n in counts.items() if word in self._ids]
        ids = np.array([word for word, _n in known], dtype=np.int64)
        starts = np.searchsorted(self._word_keys, ids, side="left")
        ends = np.searchsorted(self._word_keys, ids, side="right")
        rows = ranges(starts, ends)
        which = np.repeat(np.arange(len(ids), dtype=np.int64), ends - starts)
        wanted = np.array([n for _word, n in known], dtype=np.int64)
        return self._word_sentences[rows], which, self._word_counts[rows], wanted

    def shown(self, order: Sequence[int], *, visible_words: int | None = None) -> Shown:
        """These documents in the order in which a reader saw them."""
        return Shown(self, order, visible_words=visible_words)


class Shown:
    """Documents one after another: where each word and sentence stands.

    `word_before` counts the words before a document (by its place), -1 if it is not shown; `rank` is the place of
    a sentence among those shown, -1 if it is not visible. A sentence is visible if it ends within `visible_words`.
    """

    def __init__(self, documents: Documents, order: Sequence[int], *, visible_words: int | None = None) -> None:
        """Put the documents with these numbers one after another."""
        places = np.array([documents.places[number] for number in order], dtype=np.int64)
        if len(set(order)) != len(order):
            raise ValueError("a document is shown twice")
        self.documents = documents
        self.visible_words = visible_words
        lengths = documents.lengths[places]
        self.n_words = int(lengths.sum())
        self.word_before: Ints = np.full(len(documents.lengths), -1, dtype=np.int64)
        self.word_before[places] = np.cumsum(lengths) - lengths
        first = np.cumsum(documents.n_sentences) - documents.n_sentences
        inside = ranges(first[places], first[places] + documents.n_sentences[places])
        starts = self.word_before[documents.sentence_place[inside]] + documents.sentence_offset[inside]
        if visible_words is not None:
            keep = starts + documents.sentence_words[inside] <= visible_words
            inside, starts = inside[keep], starts[keep]
        self.sentence_starts: Ints = starts
        self.sentence_words: Ints = documents.sentence_words[inside]
        self.rank: Ints = np.full(len(documents.sentence_words), -1, dtype=np.int64)
        self.rank[inside] = np.arange(len(inside), dtype=np.int64)
