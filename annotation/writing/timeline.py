"""The timeline of a session on the axis of active time: periods, pauses, saves, searches, flags, snapshots.

Pure given its rows; positions are in per mille of the limit, so that a template can draw them.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from annotation.clock import Reason

FLAGS = frozenset({"paste", "paste_blocked", "copy", "cut", "drag", "clock_jump", "gap", "translated"})
SEARCHES = frozenset({"search"})


@dataclass(frozen=True)
class Mark:
    """Something that happened at a point of active time."""

    lane: str
    per_mille: float
    label: str


@dataclass(frozen=True)
class Pause:
    """A stretch without the clock running, in wall-clock seconds; None while it goes on."""

    per_mille: float
    started_at: datetime
    seconds: int | None
    reason: str


@dataclass(frozen=True)
class Timeline:
    """Everything that is drawn; `end_per_mille` is the active time used."""

    end_per_mille: float
    pauses: tuple[Pause, ...]
    marks: tuple[Mark, ...]

    def lane(self, name: str) -> tuple[Mark, ...]:
        """The marks of one lane, in order."""
        return tuple(mark for mark in self.marks if mark.lane == name)


@dataclass(frozen=True)
class PeriodRow:
    """A work period as stored."""

    started_at: datetime
    ended_at: datetime | None
    acc_before_ms: int
    end_reason: str


@dataclass(frozen=True)
class PointRow:
    """An event, save or snapshot at a point of active time; `at` is when it happened, where that is known."""

    kind: str
    active_ms: int
    label: str
    at: datetime | None = None


def build(
    *,
    limit_ms: int,
    active_ms: int,
    periods: Sequence[PeriodRow],
    points: Iterable[PointRow],
    is_paused: bool = False,
) -> Timeline:
    """Place everything on the axis of active time; with `is_paused` a pause goes on after the last period."""
    scale = max(limit_ms, active_ms, 1)

    def place(value: int) -> float:
        return round(1000 * value / scale, 2)

    pauses = []
    for before, after in itertools.pairwise(periods):
        if before.ended_at is not None and before.end_reason != Reason.CLOCK_SET:
            seconds = int((after.started_at - before.ended_at).total_seconds())
            pauses.append(Pause(place(after.acc_before_ms), before.ended_at, seconds, before.end_reason))
    if is_paused and periods and periods[-1].ended_at is not None:
        pauses.append(Pause(place(active_ms), periods[-1].ended_at, None, periods[-1].end_reason))
    marks = [Mark(_lane(point.kind), place(_active_at(point, periods)), point.label) for point in points]
    marks.sort(key=lambda mark: mark.per_mille)
    return Timeline(place(active_ms), tuple(pauses), tuple(marks))


def _active_at(point: PointRow, periods: Sequence[PeriodRow]) -> int:
    """Active time (ms) when it happened; what the server noted at the receipt where only that is known."""
    if point.at is None:
        return point.active_ms
    active = 0
    for period in periods:
        if point.at < period.started_at:
            break
        until = point.at if period.ended_at is None else min(point.at, period.ended_at)
        active = period.acc_before_ms + (until - period.started_at) // timedelta(milliseconds=1)
    return min(active, point.active_ms)


def _lane(kind: str) -> str:
    if kind in {"save", "rejected", "snapshot"}:
        return kind
    if kind in SEARCHES:
        return "search"
    return "flag" if kind in FLAGS else "event"


@dataclass(frozen=True)
class Change:
    """A stretch of text that stayed (`equal`), came (`insert`) or went (`delete`)."""

    kind: str
    text: str


def changes(before: str, after: str) -> list[Change]:
    """What changed between two texts, word by word."""
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (before, after))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    head, tail = new[:start], new[len(new) - end :]
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    parts = [Change("equal", "".join(head))] if head else []
    for kind, a_from, a_to, b_from, b_to in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(Change("equal", "".join(new[b_from:b_to])))
            continue
        if a_from < a_to:
            parts.append(Change("delete", "".join(old[a_from:a_to])))
        if b_from < b_to:
            parts.append(Change("insert", "".join(new[b_from:b_to])))
    if tail:
        parts.append(Change("equal", "".join(tail)))
    return parts


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many words two texts begin with together; comparing only the rest keeps long texts quick."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (first, other) in enumerate(pairs) if first != other), min(len(old), len(new)))
