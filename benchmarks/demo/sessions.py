"""Believable past writing sessions on the ferry haystack: drafts by active time, and pauses.

A writer reads, jots a point down phrase by phrase, cites where it was found, and rereads the documents
for more citations once most points stand; so coverage rises early and citation recall late.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.demo import haystack, texts
from benchmarks.demo.rankings import seeded

_MINUTE_MS = 60_000
_FOLDER = "ferry"


def demo_drafts() -> list[dict[str, Any]]:
    """Nine sessions: two writers on each of three subtopics, one on each of the others.

    Each is {subtopic_id, subtopic, writer, drafts: [(active_ms, text)], pauses: [(start_active_ms,
    duration_ms)]}. Drafts are in order of active time, from a first jotting to what was submitted; before
    the first the text is empty. A pause begins at an active time and lasts in wall-clock milliseconds.
    """
    return [_session(path) for path in sorted((texts.ROOT / "drafts").glob("*.toml"))]


@dataclass
class _Point:
    phrases: list[str]
    rough: str
    citations: list[int]
    n_written: int = 0
    polished: bool = False
    cited: list[int] = field(default_factory=list)

    def line(self) -> str:
        words = self.rough if self.rough and not self.polished else " ".join(self.phrases[: self.n_written])
        numbers = ", ".join(map(str, sorted(self.cited)))
        return f"- {words}" + (f" [{numbers}]" if numbers else "")


@dataclass
class _Draft:
    """The text on screen and how it came to be, as (weight of the time spent on the step, text)."""

    opening: str
    points: list[_Point] = field(default_factory=list)
    steps: list[tuple[float, str]] = field(default_factory=list)

    def keep(self, weight: float) -> None:
        lines = [self.opening] if self.opening else []
        self.steps.append((weight, "\n".join([*lines, *(point.line() for point in self.points)])))


def _session(path: Path) -> dict[str, Any]:
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    key, writer = path.stem.split("-")
    rng = seeded("session", path.stem)
    draft = _Draft(raw["opening"])
    points = _points(raw, key, rng)
    _read_and_jot(draft, points, rng)
    _reread_for_citations(draft, rng)
    _polish(draft, rng)
    total_ms = round(raw["minutes"] * _MINUTE_MS)
    return {
        "subtopic_id": haystack.subtopic_id(_FOLDER, key),
        "subtopic": next(item.name for item in texts.subtopics(_FOLDER) if item.key == key),
        "writer": writer,
        "drafts": _on_the_clock(draft.steps, total_ms),
        "pauses": [(round(share * total_ms), round(minutes * _MINUTE_MS)) for share, minutes in raw["pauses"]],
    }


def _points(raw: dict[str, Any], key: str, rng: random.Random) -> list[_Point]:
    """The points in the order of writing, with the citations that they will have in the end.

    A remark that is nobody's insight names its documents itself.
    """
    shown = haystack.shown_documents(_FOLDER, key, tokens=haystack.DEMO_TOKEN_BUDGET)
    gold = haystack.document_numbers(_FOLDER, key)
    return [
        _Point(
            phrases=item["text"].split("|"),
            rough=item.get("rough", ""),
            citations=item.get("documents") or _citations(gold[item["insight"]], shown, raw, rng),
        )
        for item in raw["bullets"]
    ]


def _citations(gold: Sequence[int], shown: Sequence[int], raw: dict[str, Any], rng: random.Random) -> list[int]:
    """Where the writer saw the point: most of its documents, now and then one that doesn't tell it."""
    right = [number for number in gold if number in shown]
    kept = [number for number in right if rng.random() >= raw["missed"]] or right[:1]
    strays = [number for number in shown if number not in gold and rng.random() < raw["stray"]]
    return sorted({*kept, *strays})


def _read_and_jot(draft: _Draft, points: Sequence[_Point], rng: random.Random) -> None:
    for point in points:
        draft.points.append(point)
        for number in range(1, len(point.phrases) + 1):
            point.n_written = number
            reading = rng.uniform(2.0, 4.4) if number == 1 else rng.uniform(0.5, 1.1)
            draft.keep(reading)
            if point.rough and number == 1:
                break
        point.cited.append(rng.choice(point.citations))
        draft.keep(rng.uniform(0.3, 0.7))
        _notice_an_earlier_point(draft, rng)
        if point.rough:
            _write_out(draft, point, rng)


def _notice_an_earlier_point(draft: _Draft, rng: random.Random) -> None:
    """Reading on, one meets something already noted, and cites it in passing."""
    for point in draft.points[:-1]:
        left = [number for number in point.citations if number not in point.cited]
        if left and rng.random() < 0.18:
            point.cited.append(rng.choice(left))
            draft.keep(rng.uniform(0.6, 1.4))


def _write_out(draft: _Draft, point: _Point, rng: random.Random) -> None:
    point.polished = True
    for number in range(1, len(point.phrases) + 1):
        point.n_written = number
        draft.keep(rng.uniform(0.5, 1.2))


def _reread_for_citations(draft: _Draft, rng: random.Random) -> None:
    """Document after document, in an order of the writer's own, every point that it tells gets its number."""
    left = sorted({number for point in draft.points for number in point.citations})
    rng.shuffle(left)
    for document in left:
        reading = rng.uniform(2.0, 3.4)
        for point in draft.points:
            if document in point.citations and document not in point.cited:
                point.cited.append(document)
                draft.keep(reading)
                reading = rng.uniform(0.2, 0.5)


def _polish(draft: _Draft, rng: random.Random) -> None:
    """A heading helps while one writes and goes in the end; the rest is a last look."""
    if draft.opening:
        draft.opening = ""
        draft.keep(rng.uniform(1.0, 2.0))


def _on_the_clock(steps: Sequence[tuple[float, str]], total_ms: int) -> list[tuple[int, str]]:
    """Spread the steps over the session's active time; the last is saved just before it ends."""
    whole = sum(weight for weight, _ in steps)
    spent = 0.0
    drafts: list[tuple[int, str]] = []
    for weight, text in steps:
        spent += weight
        if not drafts or drafts[-1][1] != text:
            drafts.append((round(spent / whole * (total_ms - 20_000)), text))
    return drafts
