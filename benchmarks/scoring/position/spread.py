"""What one text takes from documents shown in an order: its pairs of words, and the sentences it follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.position.source import Ints, Shown, words

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
    counts: Ints = np.bincount(positions * CELLS // max(shown.n_words, 1), minlength=CELLS)
    return counts


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
