"""ROUGE-1, -2 and -L F1 of two texts by our own counts: words in lower case, no stemming."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from benchmarks.scoring.position.source import words

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
