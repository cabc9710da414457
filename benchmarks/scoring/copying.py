"""How much of a bullet comes from the documents: a prompt for review, never a verdict on a person."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rapidfuzz.fuzz import partial_ratio_alignment

NGRAM = 5
FLAG_CONTAINMENT = 0.5
FLAG_ALIGNMENT = 80.0
"""Either is enough to ask for a review; a passage with every fifth word changed aligns at 82 to 87."""

_WORD = re.compile(r"\w+")
_IGNORABLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff"
"""Joiners, fillers and variation selectors that Unicode does not count among the format characters (Cf)."""


@dataclass(frozen=True, slots=True)
class CopiedText:
    """How far one bullet follows the documents.

    `containment` is the share, 0 to 1, of its runs of five words that stand in some document; None under five
    words. `alignment` is 0 to 100: how like its best-matching passage it is, letter by letter; `document` and
    `passage` say where. With every fifth word changed the first is 0 and the second still high.
    """

    containment: float | None
    alignment: float
    document: int | None
    passage: str
    n_words: int

    @property
    def is_flagged(self) -> bool:
        """Whether a person should look at it."""
        is_contained = self.containment is not None and self.containment >= FLAG_CONTAINMENT
        return is_contained or (self.n_words >= NGRAM and self.alignment >= FLAG_ALIGNMENT)


class CopyIndex:
    """The documents that a writer saw, made ready once for many bullets."""

    def __init__(self, documents: Iterable[tuple[int, str]]) -> None:
        """Index `documents`, pairs of number and text."""
        self._texts = [(number, _fold(text)) for number, text in documents]
        self._runs = {run for _, text in self._texts for run in _runs(_words(text), NGRAM)}

    def score(self, text: str) -> CopiedText:
        """Score one bullet, given without its marker and citations."""
        folded = _fold(text)
        words = _words(folded)
        runs = list(_runs(words, NGRAM))
        containment = sum(run in self._runs for run in runs) / len(runs) if runs else None
        best, document, passage = 0.0, None, ""
        for number, source in self._texts:
            if not words or not source:
                continue
            found = partial_ratio_alignment(folded, source, score_cutoff=best)
            if found is not None and found.score > best:
                best, document = found.score, number
                passage = source[found.dest_start : found.dest_end]
        return CopiedText(
            containment=containment, alignment=best, document=document, passage=passage, n_words=len(words)
        )


def visible(text: str) -> str:
    """The text as a reader sees it: forms of one sign are one (NFKC), signs that nobody sees are gone."""
    return text if text.isascii() else _unseen().sub("", unicodedata.normalize("NFKC", text))


@cache
def _unseen() -> re.Pattern[str]:
    signs = map(chr, range(sys.maxunicode + 1))
    formats = "".join(sign for sign in signs if unicodedata.category(sign) == "Cf")
    return re.compile(f"[{re.escape(formats)}{_IGNORABLE}]")


def _fold(text: str) -> str:
    return " ".join(visible(text).lower().split())


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(length)), strict=False)
