"""An archive: one zip with files, figures, tables and charts, and what describes them to people and to programs.

Files are made one after the other and stream into the zip. They are for programs: no text in them is altered.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

import orjson

from annotation.exports import cards
from annotation.exports.cards import Card, Packed
from annotation.exports.columns import Columns
from annotation.kinds import StudyFile, Text
from benchmarks.results.computation import program
from benchmarks.web.downloads import PROGRAMS

SCHEMA_VERSION = 1
PACKED = (".gz",)
"""Endings of files that are compressed already."""


class Methods:
    """The methods section of an archive, in Markdown; there is none where no extension writes it."""

    def of_study(self, about: Any, made: Any) -> str:
        """That of a study as it is `Described`, with its figures, if any."""
        return ""

    def of_board(self, board_made: Any, haystacks: Sequence[Any]) -> str:
        """That of a leaderboard of these haystacks."""
        return ""


_methods = [Methods()]


def register(methods: Methods) -> None:
    """Have methods sections written by this."""
    _methods[:] = [methods]


def methods() -> Methods:
    """Whatever writes methods sections here."""
    return _methods[0]


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds; `told` writes the data sheet, given the files, and `facts` are for the manifest."""

    card: Card
    files: Iterable[StudyFile]
    methods: str
    told: Callable[[Sequence[Packed]], str]
    facts: Mapping[str, Any]


def write(out: IO[bytes], contents: Contents) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    card = contents.card
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        packer = _Packer(zipped, folder=card.name, now=card.made_at)
        packed = [packer.add(file.name, file.title, file.content(reader=PROGRAMS)) for file in contents.files]
        if card.licence:
            packed.append(packer.add("LICENCE.txt", "Licence", [card.licence.strip() + "\n"]))
        if contents.methods:
            packed.append(packer.add("methods.md", "Methods section", [contents.methods]))
        read_me = [cards.front_matter(card, packed), "\n", contents.told(packed)]
        packed.append(packer.add("README.md", "Data-set card", read_me))
        described = [packer.add(name, title, [_json(of(card, packed))]) for name, title, of in DESCRIPTIONS]
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "made_at": card.made_at.isoformat(),
            "made_with": {"name": "summhay", "version": program()},
            "licence": card.licence or None,
            **contents.facts,
            "files": [
                {"name": entry.name, "sha256": entry.sha256, "bytes": entry.n_bytes}
                for entry in (*packed, *described)
            ],
        }
        packer.add("manifest.json", "Manifest", [_json(manifest)])
    return manifest


DESCRIPTIONS = (
    ("datapackage.json", "Frictionless data package", cards.datapackage),
    ("croissant.json", "Croissant", cards.croissant),
)


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


class _Packer:
    """Puts files into a zip, one after the other."""

    def __init__(self, zipped: zipfile.ZipFile, *, folder: str, now: datetime) -> None:
        self.zipped, self.folder = zipped, folder
        self.made_at = (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second)

    def add(self, name: str, title: Text, pieces: Iterable[str | bytes]) -> Packed:
        """Write the pieces of a file as they come."""
        about = zipfile.ZipInfo(f"{self.folder}/{name}", date_time=self.made_at)
        about.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
        about.external_attr = 0o644 << 16
        digest, n_bytes, columns = hashlib.sha256(), 0, Columns()
        if name.endswith(".csv"):
            pieces = columns.passed_on(pieces)
        with self.zipped.open(about, "w", force_zip64=True) as member:
            for piece in pieces:
                data = piece if isinstance(piece, bytes) else piece.encode()
                digest.update(data)
                n_bytes += len(data)
                member.write(data)
        return Packed(name, str(title), digest.hexdigest(), n_bytes, tuple(columns.fields), columns.n_rows)
