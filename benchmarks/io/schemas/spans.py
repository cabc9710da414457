"""Where a quoted passage is in a text: letter by letter, as it is compared (`scoring.text`), or nearly.

A span that people see must be what was quoted or say how far from it; what is too far is not found at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz

from benchmarks.scoring.text import fold, same_letters, same_signs, widen

LEAST_RATIO = 0.75
"""Quotes less alike than this are not found; beside it stands the ratio, so that readers can be stricter."""

OTHER_FORMS = 0.9999
"""The ratio of a place that holds other forms of the same signs, such as an accent by itself, or other spaces."""


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

    The same letters in any document win over other forms of the same signs, and these over likeness. Offsets in
    one document, in code points or else in UTF-16, choose the nearest of equal places, and are a place themselves
    where the text there is like the quote; without them the first is taken. No place cuts a grapheme.
    """
    offsets: list[tuple[int, int]] = []
    if start is not None and end is not None and len(texts) == 1:
        [text] = texts.values()
        offsets = [(start, end), (_from_utf16(text, start), _from_utf16(text, end))]
    for search in (same_letters, same_signs):
        for number, text in texts.items():
            if places := search(quote, text):
                nearest = min(places, key=lambda place: min((abs(place[0] - at) for at, _ in offsets), default=0))
                return _place(quote, number, text, *nearest)
    return _alike_at(quote, texts, offsets) or _nearly(quote, texts)


def _from_utf16(text: str, at: int) -> int:
    """A place counted in UTF-16, as browsers and Java count, in code points."""
    units = text[:at].encode("utf-16-le", "surrogatepass")[: 2 * at]
    return len(units.decode("utf-16-le", "ignore"))


def _alike_at(quote: str, texts: Mapping[int, str], offsets: list[tuple[int, int]]) -> Place | None:
    places = [
        _place(quote, number, text, *widen(text, start, end))
        for number, text in texts.items()
        for start, end in offsets
        if start < end <= len(text)
    ]
    best = max(places, key=lambda place: place.ratio, default=None)
    return best if best is not None and best.ratio >= LEAST_RATIO else None


def _nearly(quote: str, texts: Mapping[int, str]) -> Place | None:
    best: Place | None = None
    for number, text in texts.items():
        alignment = fuzz.partial_ratio_alignment(quote, text, score_cutoff=100 * LEAST_RATIO)
        if alignment is None or alignment.dest_start >= alignment.dest_end:
            continue
        inside = text[alignment.dest_start : alignment.dest_end]
        start = alignment.dest_end - len(inside.lstrip())
        place = _place(quote, number, text, *widen(text, start, start + len(inside.strip())))
        if place.ratio >= LEAST_RATIO and (best is None or place.ratio > best.ratio):
            best = place
    return best


def _place(quote: str, number: int, text: str, start: int, end: int) -> Place:
    return Place(number, start, end, _ratio(quote, text[start:end]))


def _ratio(quote: str, text: str) -> float:
    """Likeness of the whole quote, not of the part that happens to align; other forms of its signs are alike."""
    if quote == text:
        return 1.0
    forms = fuzz.ratio(fold(quote, exact=True).text.strip(), fold(text, exact=True).text.strip())
    return min(max(fuzz.ratio(quote, text), forms) / 100, OTHER_FORMS)
