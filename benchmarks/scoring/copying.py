"""How much of a bullet comes from the documents: a prompt for review, never a verdict on a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import partial_ratio

from benchmarks.scoring.text import visible

NGRAM = 5
WINDOW = 12
FEWEST_FOLLOWED = 9
FLAG_CONTAINMENT = 0.5
FLAG_FOLLOWED = 0.8
FLAG_ALIGNMENT = 80.0
"""Any of the three is enough to ask for a review. A passage with every fifth word changed aligns at 75 to 85, one
with every third changed at 65 to 75, as paraphrases do; but nearly all of it still follows the passage."""

_WORD = re.compile(r"\w+")
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
            words = _words(folded)
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
        for places in _together([len(_words(_fold(text))) for text in texts]):
            score = self.score(" ".join(texts[place] for place in places))
            scores.update(dict.fromkeys(places, score))
        return [scores[place] for place in range(len(texts))]

    def score(self, text: str) -> CopiedText:
        """Score one bullet, given without its marker and citations."""
        folded = _fold(text)
        words, letters = _words(folded), _letters(folded)
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


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)
