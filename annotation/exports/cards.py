"""An archive described for other programs: Frictionless data package, Croissant, and the front of a data-set card.

Plain JSON and YAML, as of Data Package 1, Croissant 1.0 and the Hugging Face Hub; `make interop` has their own
programs check what the demo writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from django.utils.text import slugify

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
CROISSANT_TYPES = {"boolean": "sc:Boolean", "integer": "sc:Integer", "number": "sc:Float"}
LICENCES = {
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "mit": "https://opensource.org/license/mit",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "samplingRate": "cr:samplingRate",
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
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
        """What its name ends in."""
        return self.name.rpartition(".")[2].lower()

    @property
    def media_type(self) -> str:
        """Of what kind it is."""
        return MEDIA_TYPES.get(self.ending, "application/octet-stream")


@dataclass(frozen=True, slots=True)
class Card:
    """What is said of a whole archive; `rai` is what Croissant's vocabulary for responsible AI has of it."""

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
        "distribution": [_file_object(file) for file in files],
        "recordSet": [_record_set(file) for file in files if file.fields],
    }


def _file_object(file: Packed) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "description": file.title,
        "contentUrl": file.name,
        "contentSize": f"{file.n_bytes} B",
        "encodingFormat": file.media_type,
        "sha256": file.sha256,
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
                "dataType": CROISSANT_TYPES.get(kind, "sc:Text"),
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
            f"- config_name: {_quoted(file.name.removesuffix('.csv').replace('/', '-'))}",
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
