"""An archive: one zip with files, figures, tables and charts, and what describes them to people and to programs.

Files are made one after the other and stream into the zip. They are for programs: no text in them is altered.
Descriptions are plain JSON and YAML, as of Data Package 1, Croissant 1.0 and the Hugging Face Hub; `make interop`
has their own programs check what the demo writes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson
from django.core.management.base import CommandError
from django.utils.text import slugify

from annotation.kinds import StudyFile, Text
from benchmarks.results.computation import program
from benchmarks.web.downloads import PROGRAMS, json_file

SCHEMA_VERSION = 1
PACKED = (".gz",)
"""Endings of files that are compressed already."""
MEDIA_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonlines",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "txt": "text/plain",
    "gz": "application/gzip",
}
LICENCES = {
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "mit": "https://opensource.org/license/mit",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_TERMS = (
    "citeAs column conformsTo cr data equivalentProperty examples samplingRate dataBiases dataCollection "
    "dataType dct extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath "
    "key md5 parentField path personalSensitiveInformation rai recordSet references regex repeated "
    "replace sc separator source subField transform"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


@dataclass(frozen=True, slots=True)
class Packed:
    """A file of an archive, of a CSV with its columns and their types."""

    name: str
    title: str
    sha256: str
    n_bytes: int
    fields: Sequence[tuple[str, str]] = ()
    n_rows: int = 0

    @property
    def ending(self) -> str:
        return self.name.rpartition(".")[2].lower()

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES.get(self.ending, "application/octet-stream")


@dataclass(frozen=True, slots=True)
class Card:
    """Statements about a whole archive; `rai` is what Croissant's vocabulary for responsible AI has of it."""

    name: str
    title: str
    description: str
    uid: str
    made_at: datetime
    licence: str
    tags: Sequence[str] = ()
    task_categories: Sequence[str] = ()
    languages: Sequence[str] = ()
    rai: dict[str, Any] = field(default_factory=dict)

    @property
    def licence_id(self) -> str:
        """The licence as hubs call it; “other” for one that they do not know, “unknown” for none."""
        if not self.licence:
            return "unknown"
        first = self.licence.strip().splitlines()[0]
        name = re.sub(r"[\s_]+", "-", first.strip().lower())
        return name if name in LICENCES else "other"

    @property
    def version(self) -> str:
        """The day, as a version that Croissant takes."""
        return f"{self.made_at.year}.{self.made_at.month}.{self.made_at.day}"


def datapackage(card: Card, files: Sequence[Packed]) -> dict[str, Any]:
    """The descriptor of a Frictionless data package, version 1: the tables in CSV, with their columns."""
    return {
        "profile": "tabular-data-package",
        "name": slugify(card.name) or card.uid,
        "id": card.uid,
        "title": card.title,
        "description": card.description,
        "version": card.version,
        "created": card.made_at.isoformat(timespec="seconds"),
        "keywords": list(card.tags),
        **({"licenses": [_licence(card)]} if card.licence else {}),
        "resources": [_resource(file) for file in files if file.fields],
    }


def _licence(card: Card) -> dict[str, str]:
    """A licence by its name; one that hubs do not know is in the file that holds its text."""
    path = LICENCES.get(card.licence_id, "LICENCE.txt")
    return {"name": card.licence_id.upper(), "path": path, "title": card.licence.strip().splitlines()[0]}


def _resource(file: Packed) -> dict[str, Any]:
    fields = [
        {"name": name, "type": kind, **({"format": "any"} if kind == "datetime" else {})}
        for name, kind in file.fields
    ]
    return {
        "profile": "tabular-data-resource",
        "name": slugify(re.sub(r"[./]", "-", file.name)) or file.sha256[:12],
        "path": file.name,
        "title": file.title,
        "format": file.ending,
        "mediatype": file.media_type,
        "encoding": "utf-8",
        "bytes": file.n_bytes,
        "hash": f"sha256:{file.sha256}",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def croissant(card: Card, files: Sequence[Packed]) -> dict[str, Any]:
    """The archive in the vocabulary of Croissant 1.0: its files, and the columns of its tables."""
    known = LICENCES.get(card.licence_id)
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": re.sub(r"[^\w-]", "-", card.name),
        "alternateName": card.title,
        "description": card.description,
        "url": f"urn:uuid:{card.uid}",
        "version": card.version,
        "datePublished": card.made_at.date().isoformat(),
        "license": known or card.licence or "unknown",
        "citeAs": f"{card.title}, {card.made_at.date().isoformat()}, {card.uid}",
        "keywords": list(card.tags),
        **{f"rai:{name}": value for name, value in card.rai.items() if value},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "description": file.title,
                "contentUrl": file.name,
                "contentSize": f"{file.n_bytes} B",
                "encodingFormat": file.media_type,
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [_record_set(file) for file in files if file.fields],
    }


def _record_set(file: Packed) -> dict[str, Any]:
    stem = file.name.removesuffix(".csv")
    return {
        "@type": "cr:RecordSet",
        "@id": stem,
        "name": stem,
        "description": file.title,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{stem}/{name}",
                "name": f"{stem}/{name}",
                "dataType": {"boolean": "sc:Boolean", "integer": "sc:Integer", "number": "sc:Float"}.get(
                    kind, "sc:Text"
                ),
                "source": {"fileObject": {"@id": file.name}, "extract": {"column": name}},
            }
            for name, kind in file.fields
        ],
    }


def front_matter(card: Card, files: Sequence[Packed]) -> str:
    """The YAML before a data-set card; JSON strings are YAML too, whatever a title holds."""
    tables = [file for file in files if file.n_rows]  # `load_dataset` fails at a table without rows
    n_rows = max((file.n_rows for file in tables), default=0)
    lines = [
        f"pretty_name: {_quoted(card.title)}",
        f"license: {card.licence_id}",
        *_listed("language", card.languages),
        *_listed("task_categories", card.task_categories),
        *_listed("size_categories", [next((name for most, name in SIZES if n_rows < most), "n>1M")]),
        *_listed("annotations_creators", ["expert-generated"] if card.rai else []),
        *_listed("tags", card.tags),
        "configs:",
    ]
    for at, file in enumerate(tables):
        lines += [
            f"- config_name: {_quoted(file.name.rpartition('.')[0].replace('/', '-'))}",
            *(["  default: true"] if not at else []),
            "  data_files:",
            "  - split: train",
            f"    path: {_quoted(file.name)}",
        ]
    return "\n".join(["---", *(lines if tables else lines[:-1]), "---", ""])


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _listed(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name}:", *(f"- {_quoted(value)}" for value in values)] if values else []


# Methods sections


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
    _methods[:] = [methods]


def methods() -> Methods:
    return _methods[0]


# The zip


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of an archive; `told` writes the data sheet, given the files, and `facts` are for the manifest."""

    card: Card
    files: Iterable[StudyFile]
    methods: str
    told: Callable[[Sequence[Packed]], str]
    facts: Mapping[str, Any]


def write(out: IO[bytes], contents: Contents) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    card = contents.card
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        add = partial(pack, zipped, card)
        packed = []
        for file in contents.files:
            row = add(file.name, file.title, file.content(reader=PROGRAMS))
            packed.append(replace(row, n_rows=row.n_rows or file.n_rows))
        if card.licence:
            packed.append(add("LICENCE.txt", "Licence", [card.licence.strip() + "\n"]))
        if contents.methods:
            packed.append(add("methods.md", "Methods section", [contents.methods]))
        packed.append(add("README.md", "Data-set card", [front_matter(card, packed), "\n", contents.told(packed)]))
        described = [add("croissant.json", "Croissant", json_file(croissant(card, packed)))]
        if any(row.fields for row in packed):
            package = json_file(datapackage(card, packed))
            described.append(add("datapackage.json", "Frictionless data package", package))
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
        add("manifest.json", "Manifest", json_file(manifest))
    return manifest


def pack(zipped: zipfile.ZipFile, card: Card, name: str, title: Text, pieces: Iterable[str | bytes]) -> Packed:
    now = card.made_at
    made_at = (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second)
    about = zipfile.ZipInfo(f"{card.name}/{name}", date_time=made_at)
    about.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
    about.external_attr = 0o644 << 16
    columns = Columns()
    if name.endswith(".csv"):
        pieces = columns.passed_on(pieces)
    with zipped.open(about, "w", force_zip64=True) as member:
        sha256, n_bytes = _written(member, pieces)
    return Packed(name, str(title), sha256, n_bytes, tuple(columns.fields), columns.n_rows)


def _written(file: IO[bytes], pieces: Iterable[str | bytes]) -> tuple[str, int]:
    """Write pieces; gives the SHA-256 of the bytes and how many they are."""
    digest, n_bytes = hashlib.sha256(), 0
    for piece in pieces:
        data = piece if isinstance(piece, bytes) else piece.encode()
        digest.update(data)
        n_bytes += file.write(data)
    return digest.hexdigest(), n_bytes


INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+([+-][0-9:]+|Z)")


def _is_moment(value: str) -> bool:
    try:
        return bool(MOMENT.fullmatch(value)) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


TYPES = {
    "boolean": lambda value: value in {"True", "False"},
    "integer": lambda value: INTEGER.fullmatch(value) is not None,
    "number": lambda value: NUMBER.fullmatch(value) is not None,
    "datetime": _is_moment,
}
"""Types of Table Schema from the narrowest on, each with what its values look like; anything else is a string."""


class Columns:
    """Reads a CSV that is passed on: afterwards `fields` has its columns with their types."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.may_be: list[list[str]] = []
        """The types that all values so far have; all of them before the first value."""
        self.n_rows = 0

    def passed_on(self, pieces: Iterable[str | bytes]) -> Iterator[str | bytes]:
        """The same pieces, which end with a row each, noticed on their way."""
        for piece in pieces:
            self._read(piece.decode() if isinstance(piece, bytes) else piece)
            yield piece

    def _read(self, text: str) -> None:
        rows = csv.reader(io.StringIO(text, newline=""))
        if not self.names:
            self.names = next(rows, [])
            self.may_be = [list(TYPES) for _name in self.names]
        for row in rows:
            self.n_rows += 1
            for at, value in enumerate(row[: len(self.names)]):
                if value:
                    self.may_be[at] = [name for name in self.may_be[at] if TYPES[name](value)]

    @property
    def fields(self) -> list[tuple[str, str]]:
        # no value is of two types, so that whoever may still be all of them has had none
        return [
            (name, able[0] if able and len(able) < len(TYPES) else "string")
            for name, able in zip(self.names, self.may_be, strict=True)
        ]


# Files on the disk


@contextmanager
def arriving(path: Path) -> Iterator[IO[bytes]]:
    """A file to write and read, which takes the place of the one at `path` once the block has ended well.

    Raises:
        CommandError: with what the system says.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w+b") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def written(path: Path, content: Iterable[str | bytes]) -> str:
    """Write a file and give the SHA-256 of its bytes. Raises `CommandError`."""
    with arriving(path) as file:
        return _written(file, content)[0]
