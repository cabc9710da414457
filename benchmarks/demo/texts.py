"""Reads the demo's text material: documents with marked passages, and the subtopics they speak of.

A document is a Markdown file with two header lines and passages marked `<a1>…</a1>`; the mark names
the insight that the passage tells. The marks are taken out of the text that anybody reads.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
_MARK = re.compile(r"</?[a-z]\d+>")
_PASSAGE = re.compile(r"<([a-z]\d+)>(.*?)</\1>", re.DOTALL)
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True)
class Document:
    """One document; `number` is 1-based, `passages` maps an insight to the words that tell it."""

    number: int
    source: str
    kind: str
    text: str
    passages: dict[str, str]


@dataclass(frozen=True)
class Insight:
    """One reference fact, with the ways in which summaries put it: in full, in part, or wrongly.

    `marker` is a regular expression for the figures and names that give the insight away.
    """

    key: str
    name: str
    text: str
    marker: str
    full: tuple[str, ...]
    long: str
    partial: tuple[str, ...]
    wrong: str


@dataclass(frozen=True)
class Subtopic:
    """One subtopic; `minor` are true remarks that no insight asks for, `invented` are false ones."""

    key: str
    name: str
    title: str
    query: str
    minor: tuple[str, ...]
    invented: tuple[str, ...]
    insights: tuple[Insight, ...]


def plain(marked: str) -> str:
    """The text without its marks."""
    return _MARK.sub("", marked)


def passages(marked: str) -> list[tuple[str, str]]:
    """Every marked passage in order, as (name of its mark, words)."""
    return [(name, plain(words)) for name, words in _PASSAGE.findall(marked)]


def public_id(name: str) -> str:
    """A 24-character id in the manner of published files, the same for the same name on every machine."""
    digest = hashlib.sha256(name.encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:24])


@cache
def documents(folder: str) -> tuple[Document, ...]:
    """The documents of one folder, numbered 1..n in the order of their file names."""
    return tuple(
        _document(number, path.read_text(encoding="utf-8"))
        for number, path in enumerate(sorted((ROOT / folder).glob("*.md")), start=1)
    )


@cache
def subtopics(folder: str) -> tuple[Subtopic, ...]:
    """The subtopics of one folder with their insights, in the order of their file names."""
    return tuple(
        _subtopic(path.stem.removeprefix("subtopic-"), tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / folder).glob("subtopic-*.toml"))
    )


def _document(number: int, raw: str) -> Document:
    header, _, body = raw.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    body = body.strip()
    return Document(number, fields["source"], fields["kind"], plain(body), dict(passages(body)))


def _subtopic(key: str, raw: dict[str, Any]) -> Subtopic:
    return Subtopic(
        key=key,
        name=raw["name"],
        title=raw["title"],
        query=raw["query"],
        minor=tuple(raw["minor"]),
        invented=tuple(raw["invented"]),
        insights=tuple(
            Insight(
                key=item["id"],
                name=item["name"],
                text=item["text"],
                marker=item["marker"],
                full=tuple(item["full"]),
                long=item["long"],
                partial=tuple(item["partial"]),
                wrong=item["wrong"],
            )
            for item in raw["insights"]
        ),
    )
