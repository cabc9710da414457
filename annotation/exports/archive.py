"""The archive of a study: one zip with all its files, a manifest, a licence, a data sheet and a methods paragraph.

Files are made one after the other and stream into the zip; none is held in memory. They are for programs: no text
in them is altered.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import IO, Any

import orjson
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.exports import describing
from annotation.exports.study_files import files_of
from annotation.kinds import Text
from annotation.models import Study
from benchmarks.web.downloads import PROGRAMS

SCHEMA_VERSION = 1
PACKED = (".gz",)
"""Endings of files that are compressed already."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A file of an archive."""

    name: str
    title: Text
    sha256: str
    n_bytes: int


def archive_name(study: Study) -> str:
    """What the archive is called without its ending, and the folder in it, in whatever alphabet."""
    return slugify(study.name, allow_unicode=True) or str(study.uid)


def software_version() -> str:
    """The version of this program, empty where it runs without being installed."""
    try:
        return version("summhay")
    except PackageNotFoundError:
        return ""


def write_archive(out: IO[bytes], study: Study, *, licence: str, now: datetime) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    described = describing.described(study, now=now)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        packer = _Packer(zipped, folder=archive_name(study), now=now)
        packed = [
            packer.add(file.name, file.title, file.content(reader=PROGRAMS)) for file in files_of(study, now=now)
        ]
        if licence:
            packed.append(packer.add("LICENCE.txt", _("Licence"), [licence.strip() + "\n"]))
        packed.append(packer.add("methods.md", _("Methods paragraph"), [describing.methods(described)]))
        sheet = describing.data_sheet(described, files=packed, licence=licence)
        packed.append(packer.add("datasheet.md", _("Data sheet"), [sheet]))
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "made_at": now.isoformat(),
            "made_with": {"name": "summhay", "version": software_version()},
            "licence": licence or None,
            **described.as_json(),
            "files": [{"name": one.name, "sha256": one.sha256, "bytes": one.n_bytes} for one in packed],
        }
        content = orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        packer.add("manifest.json", _("Manifest"), [content])
    return manifest


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
        digest, n_bytes = hashlib.sha256(), 0
        with self.zipped.open(about, "w", force_zip64=True) as member:
            for piece in pieces:
                data = piece if isinstance(piece, bytes) else piece.encode()
                digest.update(data)
                n_bytes += len(data)
                member.write(data)
        return Packed(name, title, digest.hexdigest(), n_bytes)
