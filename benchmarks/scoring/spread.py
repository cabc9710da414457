"""Content that texts take from documents: pairs of words, sentences, ROUGE of texts, how far bullets are copied.

Documents are indexed once and shown in any order. Words are runs of letters and digits in lower case (a Chinese or
Japanese sign is a word). A pair of words never spans two documents. A sentence ends at a line break, and at a full
stop, question or exclamation mark before white space that no small letter follows.

What is copied is a prompt for review, never a verdict on a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import partial_ratio

from benchmarks.scoring.text import visible

Ints = NDArray[np.int64]
_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")
_SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’»)\]]))\s+(?![a-zà-öø-ÿ])|(?<=[。！？])|[\r\n]+")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, those without a word left out."""
    return [part for part in _SENTENCE_END.split(text) if part and _WORD.search(part)]


def ranges(starts: Ints, ends: Ints) -> Ints:
    """The numbers from each start up to its end, one range after another."""
    lengths = ends - starts
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()), dtype=np.int64)


def _ends(ordered: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """Where each key starts and ends among ordered ones."""
    return np.searchsorted(ordered, keys, side="left"), np.searchsorted(ordered, keys, side="right")


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
        return self._pair_words[ranges(*_ends(self._pair_keys, keys))]

    def holding(self, counts: Mapping[str, int]) -> tuple[Ints, Ints, Ints, Ints]:
        """Sentences that hold any of the words: rows (sentence, which word, how often), and the words' counts."""
        known = [(self._ids[word], n) for word, n in counts.items() if word in self._ids]
        ids = np.array([word for word, _n in known], dtype=np.int64)
        starts, ends = _ends(self._word_keys, ids)
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


CELLS = 1_000
"""Cells of equal words in which matches are counted, so that texts can be pooled and compared afterwards."""
BINS = 20
"""Bins of the source for pairs of words (section 3.1)."""
SENTENCE_BINS = 10
"""Bins of the visible sentences (section 3.2)."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the content of one text stands.

    `cells` counts, in thousandths of the words shown, where its different pairs of words begin, each as often as
    it occurs; `sentences` counts in tenths of the visible sentences those that it follows. `mean_word` is the mean
    number of words before these sentences, `first_word` that before the earliest; None where it follows none.
    """

    cells: tuple[int, ...]
    sentences: tuple[int, ...]
    mean_word: float | None
    first_word: int | None


def spread(lines: Sequence[str], shown: Shown) -> Spread:
    """Find the content of a text, given as lines, in what was shown."""
    taken = aligned(lines, shown)
    starts = shown.sentence_starts[list(taken)]
    n_visible = max(len(shown.sentence_starts), 1)
    in_bins = np.array(taken, dtype=np.int64) * SENTENCE_BINS // n_visible
    return Spread(
        cells=tuple(_cells(lines, shown).tolist()),
        sentences=tuple(np.bincount(in_bins, minlength=SENTENCE_BINS).tolist()),
        mean_word=float(starts.mean()) if taken else None,
        first_word=int(starts.min()) if taken else None,
    )


def _cells(lines: Sequence[str], shown: Shown) -> Ints:
    """How many pairs of words of the text begin in each thousandth of the words shown."""
    pairs = shown.documents.pairs(lines)
    before = shown.word_before[shown.documents.word_place[pairs]]
    is_shown = before >= 0
    positions = before[is_shown] + shown.documents.word_offset[pairs[is_shown]]
    return np.bincount(positions * CELLS // max(shown.n_words, 1), minlength=CELLS)


def aligned(lines: Sequence[str], shown: Shown) -> tuple[int, ...]:
    """The visible sentences that a text follows, by place, in the order in which they were taken.

    One after another the sentence is taken that raises the ROUGE-1 F1 of all taken ones with the text most, the
    earlier of equals, until none raises it.
    """
    counts = Counter(word for line in lines for word in words(line))
    n_text = sum(counts.values())
    n_sentences = len(shown.sentence_starts)
    rows, which, held, left = shown.documents.holding(counts)
    ranks = shown.rank[rows]
    is_visible = ranks >= 0
    ranks, which, held = ranks[is_visible], which[is_visible], held[is_visible]
    by_rank = np.argsort(ranks, kind="stable")
    ranks, which, held = ranks[by_rank], which[by_rank], held[by_rank]
    ends = np.searchsorted(ranks, np.arange(n_sentences + 1))
    best, overlap, length = 0.0, 0.0, 0
    taken: list[int] = []
    while len(taken) < n_sentences:
        gains = np.bincount(ranks, weights=np.minimum(held, left[which]), minlength=n_sentences)
        scores = 2 * (overlap + gains) / (length + shown.sentence_words + n_text)
        scores[taken] = -1.0
        at = int(np.argmax(scores))
        if scores[at] <= best:
            break
        best, overlap, length = float(scores[at]), overlap + gains[at], length + int(shown.sentence_words[at])
        inside = slice(ends[at], ends[at + 1])
        left[which[inside]] -= np.minimum(held[inside], left[which[inside]])
        taken.append(at)
    return tuple(taken)


NAMES = ("rouge1", "rouge2", "rougeL")


def rouge(text: Sequence[str], reference: Sequence[str]) -> dict[str, float]:
    """The F1 scores, from 0 to 1, of a text and a reference given as lines.

    Both are read as one run of words: pairs and the longest common subsequence may go on from line to line.
    """
    ours = [word for line in text for word in words(line)]
    theirs = [word for line in reference for word in words(line)]
    common = LCSseq.similarity(ours, theirs)
    return {
        "rouge1": _f1(_overlap(ours, theirs, 1), len(ours), len(theirs)),
        "rouge2": _f1(_overlap(ours, theirs, 2), len(ours) - 1, len(theirs) - 1),
        "rougeL": _f1(common, len(ours), len(theirs)),
    }


def _overlap(ours: Sequence[str], theirs: Sequence[str], n: int) -> int:
    first, second = (Counter(zip(*(tokens[at:] for at in range(n)), strict=False)) for tokens in (ours, theirs))
    return (first & second).total()


def _f1(overlap: int, n_ours: int, n_theirs: int) -> float:
    return 2 * overlap / (n_ours + n_theirs) if overlap else 0.0


NGRAM = 5
WINDOW = 12
FEWEST_FOLLOWED = 9
FLAG_CONTAINMENT = 0.5
FLAG_FOLLOWED = 0.8
FLAG_ALIGNMENT = 80.0
"""Any of the three is enough to ask for a review. A passage with every fifth word changed aligns at 75 to 85, one
with every third changed at 65 to 75, as paraphrases do; but nearly all of it still follows the passage."""

_TOKEN = re.compile(r"\w+")
_GAP, _UNKNOWN = 0, -1


@dataclass(frozen=True, slots=True)
class CopiedText:
    """How far one bullet follows the documents.

    `containment` is the share, 0 to 1, of its runs of five words that are in some document; None under five words.
    `followed` is the share of its runs of twelve words (all of it under twelve) with two thirds of their words in
    the same places as in a run of some document; None under nine words. `alignment` is 0 to 100: how like its
    best-matching passage it is, letter by letter, whatever is between the letters; it is in `document`.
    """

    containment: float | None
    followed: float | None
    alignment: float
    document: int | None
    n_words: int

    @property
    def is_flagged(self) -> bool:
        """Whether a person should look at it."""
        return (
            (self.containment or 0.0) >= FLAG_CONTAINMENT
            or (self.followed or 0.0) >= FLAG_FOLLOWED
            or (self.n_words >= NGRAM and self.alignment >= FLAG_ALIGNMENT)
        )


class CopyIndex:
    """The documents that a writer saw, made ready once for many bullets."""

    def __init__(self, documents: Iterable[tuple[int, str]]) -> None:
        """Index `documents`, pairs of number and text."""
        self._letters: list[tuple[int, str]] = []
        self._runs: set[tuple[str, ...]] = set()
        self._codes: dict[str, int] = {}
        stream: list[int] = []
        for number, text in documents:
            folded = _fold(text)
            words = _tokens(folded)
            self._letters.append((number, _letters(folded)))
            self._runs.update(_runs(words, NGRAM))
            stream.extend(self._codes.setdefault(word, len(self._codes) + 1) for word in words)
            stream.extend([_GAP] * WINDOW)
        self._stream: NDArray[np.int32] = np.array(stream, dtype=np.int32)

    def score_all(self, texts: Sequence[str]) -> list[CopiedText]:
        """Score bullets, given without their markers and citations.

        Those under five words say nothing alone. They are scored together, in their order, ten words or more at a
        time, so that a passage in pieces is a passage.
        """
        scores: dict[int, CopiedText] = {}
        for places in _together([len(_tokens(_fold(text))) for text in texts]):
            score = self.score(" ".join(texts[place] for place in places))
            scores.update(dict.fromkeys(places, score))
        return [scores[place] for place in range(len(texts))]

    def score(self, text: str) -> CopiedText:
        """Score one bullet, given without its marker and citations."""
        folded = _fold(text)
        words, letters = _tokens(folded), _letters(folded)
        runs = list(_runs(words, NGRAM))
        best, document = 0.0, None
        for number, source in self._letters if letters else ():
            alignment = partial_ratio(letters, source, score_cutoff=best) if source else 0.0
            if alignment > best:
                best, document = alignment, number
        return CopiedText(
            containment=sum(run in self._runs for run in runs) / len(runs) if runs else None,
            followed=self._followed(words),
            alignment=best,
            document=document,
            n_words=len(words),
        )

    def _followed(self, words: Sequence[str]) -> float | None:
        """The share of runs of `words` that some document follows: every run is laid along every place of them."""
        if len(words) < FEWEST_FOLLOWED:
            return None
        window = min(len(words), WINDOW)
        enough = -(-2 * window // 3)
        codes = [self._codes.get(word, _UNKNOWN) for word in words]
        gap = np.full(len(words), _GAP, dtype=np.int32)
        stream = np.concatenate((gap, self._stream, gap))
        n_places = len(stream) - len(words)
        same = np.zeros(n_places, dtype=np.int8)  # of the last `window` words, by where the first one is laid
        n_followed = 0
        for last, code in enumerate(codes):
            same += stream[last : last + n_places] == code
            first = last - window + 1
            if first > 0:
                same -= stream[first - 1 : first - 1 + n_places] == codes[first - 1]
            if first >= 0:
                n_followed += int(same.max() >= enough)
        return n_followed / (len(words) - window + 1)


def _together(n_words: Sequence[int]) -> list[list[int]]:
    """The places of bullets that are scored together, by how many words they have; a rest joins the last group."""
    alone = [[place] for place, n in enumerate(n_words) if n >= NGRAM]
    groups: list[list[int]] = []
    n_last = 2 * NGRAM
    for place, n in enumerate(n_words):
        if n >= NGRAM:
            continue
        if n_last >= 2 * NGRAM:
            groups.append([])
            n_last = 0
        groups[-1].append(place)
        n_last += n
    if n_last < 2 * NGRAM and len(groups) > 1:
        rest = groups.pop()
        groups[-1].extend(rest)
    return alone + groups


def _fold(text: str) -> str:
    return " ".join(visible(text).lower().split())


def _letters(folded: str) -> str:
    """Letters and digits alone: what stands between them, seen or unseen, changes nothing."""
    return "".join(sign for sign in folded if sign.isalnum())


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)
