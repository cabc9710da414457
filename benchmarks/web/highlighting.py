"""Cut a text at the borders of marked passages, so that a page can mark passages that overlap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage from `start` to `end` (code points, end excluded) that belongs to key point `point`."""

    start: int
    end: int
    point: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text inside the same marks throughout; `anchors` are of the marks that begin with it."""

    text: str
    points: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Pieces in order, together the whole text; marks outside of it are cut off."""
    inside = [mark for mark in marks if mark.start < min(mark.end, len(text))]
    borders = sorted(
        {0, len(text), *(mark.start for mark in inside), *(min(mark.end, len(text)) for mark in inside)}
    )
    return [
        Segment(
            text=text[start:end],
            points=tuple(sorted({mark.point for mark in inside if mark.start <= start and end <= mark.end})),
            anchors=tuple(mark.anchor for mark in inside if mark.start == start),
        )
        for start, end in pairwise(borders)
    ]
