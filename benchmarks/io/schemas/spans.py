"""Where a quoted passage is in a text: letter by letter, with other white space, or nearly.

A span that people see must be what was quoted or say how far from it; what is too far is not found at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz

LEAST_RATIO = 0.75
"""Quotes less alike than this are not found; beside it stands the ratio, so that readers can be stricter."""


@dataclass(frozen=True, slots=True)
class Place:
    """Code points `start` to `end` (excluded) of a document by its number; `ratio` is 1 if all letters agree."""

    document: int
    start: int
    end: int
    ratio: float


def locate(
    quote: str, texts: Mapping[int, str], *, start: int | None = None, end: int | None = None
) -> Place | None:
    """Find a quote in documents by number; None where nothing is at least 0.75 alike.

    The same letters in any document win over likeness in an earlier one. `start` and `end` are taken where the
    text there is like the quote; of several equal places the first is taken.
    """
    if start is not None and end is not None and len(texts) == 1:
        for number, text in texts.items():
            ratio = _ratio(quote, text[start:end]) if start < end <= len(text) else 0.0
            if ratio >= LEAST_RATIO:
                return Place(number, start, end, ratio)
    for number, text in texts.items():
        at = text.find(quote)
        if at >= 0:
            return Place(number, at, at + len(quote), 1.0)
    return _other_spaces(quote, texts) or _nearly(quote, texts)


def _other_spaces(quote: str, texts: Mapping[int, str]) -> Place | None:
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
    for number, text in texts.items():
        if match := pattern.search(text):
            return _place(quote, number, text, match.start(), match.end())
    return None


def _nearly(quote: str, texts: Mapping[int, str]) -> Place | None:
    best: Place | None = None
    for number, text in texts.items():
        alignment = fuzz.partial_ratio_alignment(quote, text, score_cutoff=100 * LEAST_RATIO)
        if alignment is None or alignment.dest_start >= alignment.dest_end:
            continue
        inside = text[alignment.dest_start : alignment.dest_end]
        start = alignment.dest_end - len(inside.lstrip())
        place = _place(quote, number, text, start, start + len(inside.strip()))
        if place.ratio >= LEAST_RATIO and (best is None or place.ratio > best.ratio):
            best = place
    return best


def _place(quote: str, number: int, text: str, start: int, end: int) -> Place:
    return Place(number, start, end, _ratio(quote, text[start:end]))


def _ratio(quote: str, text: str) -> float:
    """Likeness of the whole quote, not of the part that happens to align."""
    if quote == text:
        return 1.0
    return min(float(fuzz.ratio(quote, text)) / 100, 0.9999)
