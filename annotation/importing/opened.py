"""The archive of a study, open to be read: each file as the manifest lists it, none longer than may be read."""

from __future__ import annotations

import hashlib
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Annotated, Any, BinaryIO, NoReturn, TypeVar, cast
from uuid import UUID

from pydantic import AfterValidator, Field

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.schemas.fields import Expected, Number, Part, Text, checked, no_nul, null_as

MANIFEST = "manifest.json"
NAME_LENGTH = 120
READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
IN_MEMORY_BYTES = 8 * 1024 * 1024
BROKEN = (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)
"""Errors of Python's zip files where bytes are missing or altered."""
P = TypeVar("P", bound=Part)
Category = Annotated[str, Field(max_length=120), AfterValidator(no_nul), Expected("a text")]


class CorpusPart(Part):
    """A corpus of a manifest, with its data version."""

    key: str
    sha256: str


class StudyPart(Part):
    """The study of a manifest; an archive need not know seed and pay."""

    name: Annotated[Text, Field(max_length=NAME_LENGTH), Expected(f"a name of 1 to {NAME_LENGTH} characters")]
    id: Annotated[UUID | None, Field(strict=False), Expected("the id of a study, or nothing")] = None
    kind: Text
    categories: Annotated[list[Category], null_as(list), Expected("a list of texts")] = Field(default_factory=list)
    seed: Annotated[int | None, Field(ge=0), Expected("a whole number from 0, or nothing")] = None
    hourly_rate: Annotated[
        str | None, Field(pattern=r"^[0-9]{1,5}([.][0-9]{1,2})?$"), Expected("an amount below 100,000, as “25.00”")
    ] = None
    currency: Annotated[str | None, Field(pattern=r"^[A-Z]{3}$"), Expected("a currency, as “USD”")] = None


class FilePart(Part):
    name: Text
    sha256: Text
    bytes: Number


class ManifestPart(Part):
    """The manifest of an archive, as far as it is read."""

    EXPECTED = "the manifest of a study"
    study: Annotated[StudyPart, Expected("the manifest of a study")]
    corpora: Annotated[list[CorpusPart], Expected("a list of corpora with key and sha256")]
    files: Annotated[list[FilePart], Expected("a list of files with name, sha256 and bytes")]


class Opened:
    """The files of an archive by their names in its one folder."""

    def __init__(self, zipped: zipfile.ZipFile, file: File, problems: Problems) -> None:
        self.zipped, self.problems, self.limit_bytes = zipped, problems, file.limit_bytes
        self.members = self._members()
        self._listed: Mapping[str, FilePart] | None = None
        value = self._loaded(MANIFEST)
        if isinstance(value, dict) and "leaderboard" in value and "study" not in value:
            message = "Import the haystacks and studies that it is of."
            self._fail("leaderboard", MANIFEST, "that of a study", "the archive of a leaderboard", message)
        self.manifest = self._checked(ManifestPart, value, MANIFEST)
        self._listed = {each.name: each for each in self.manifest.files}
        # Names and sizes of all files; contents are compared as they are read.
        for part in self.manifest.files:
            info = self.members.get(part.name)
            if info is None:
                self._report(*_missing(part.name))
            elif info.file_size != part.bytes:
                self._report(*_changed(part.name, f"one of {info.file_size:,} bytes in place of {part.bytes:,}"))
        self.problems.raise_errors()
        self.corpora = {corpus.key: corpus.sha256 for corpus in self.manifest.corpora}

    def _members(self) -> Mapping[str, zipfile.ZipInfo]:
        """The files beside the manifest; whatever else a program put into the zip is left alone."""
        infos = [info for info in self.zipped.infolist() if not info.is_dir()]
        for info in infos:
            if what := _unfit(info):
                self._report("unsafe_file", info.filename[:200], "plain files in one folder", what)
        folders = {info.filename.partition("/")[0] for info in infos if info.filename.endswith(f"/{MANIFEST}")}
        if len(folders) != 1:
            self._report(
                "missing_file", MANIFEST, "a zip with the folder of an archive", f"{len(folders)} folders with one"
            )
        self.problems.raise_errors()
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            folder, _slash, name = info.filename.partition("/")
            if folder in folders and members.setdefault(name, info) is not info:
                self._report("duplicate_file", name, "each file once", "it twice")
        self.problems.raise_errors()
        return members

    def _report(self, kind: str, name: str, expected: str, got: str, message: str = "") -> None:
        self.problems.error(kind, name, "", expected=expected, got=Got(got), message=message)

    def _fail(self, kind: str, name: str, expected: str, got: str, message: str = "") -> NoReturn:
        self._report(kind, name, expected, got, message)
        raise ImportFailed(self.problems)

    @contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        """A whole file of the archive; raises `ImportFailed` where it is missing, too long, broken or changed."""
        info = self.members.get(name)
        if info is None:
            self._fail(*_missing(name))
        if info.file_size > self.limit_bytes:
            self._fail("too_large", name, f"at most {self.limit_bytes:,} bytes", f"{info.file_size:,}")
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as copy:
            try:
                with self.zipped.open(info) as member:
                    shutil.copyfileobj(member, copy)
            except BROKEN as error:
                self._fail("unreadable", name, "a whole file", f"a damaged one ({error})")
            copy.seek(0)
            self._compare(name, cast("BinaryIO", copy))
            yield cast("BinaryIO", copy)

    def _compare(self, name: str, content: BinaryIO) -> None:
        if self._listed is None:  # the manifest itself
            return
        listed = self._listed.get(name)
        if listed is None or hashlib.file_digest(cast("Any", content), "sha256").hexdigest() != listed.sha256:
            self._fail(*_changed(name, "another one" if listed else "one that it does not list"))
        content.seek(0)

    def rows(self, name: str, schema: type[P]) -> Sequence[P]:
        """The rows of JSON lines, each as the schema has it; raises `ImportFailed` where any is not."""
        with self.stream(name) as stream:
            values = jsonlines.values(stream, self.problems)
            rows = [checked(schema, value, f"{name}, {where}", self.problems) for where, value in values]
        self.problems.raise_errors()
        return [row for row in rows if row is not None]

    def value(self, name: str, schema: type[P]) -> P:
        """The object of a JSON file, as the schema has it; raises `ImportFailed` where it is not."""
        return self._checked(schema, self._loaded(name), name)

    def _loaded(self, name: str) -> Any:
        with self.stream(name) as stream:
            return jsonlines.loaded(stream.read(), self.problems, where=name)

    def _checked(self, schema: type[P], value: Any, name: str) -> P:
        part = None if value is jsonlines.MISSING else checked(schema, value, name, self.problems)
        if part is None:
            raise ImportFailed(self.problems)
        return part


def _missing(name: str) -> tuple[str, str, str, str]:
    return "missing_file", name, "this file in the archive of a study", "none"


def _changed(name: str, got: str) -> tuple[str, str, str, str, str]:
    message = "Archives are read as they were made; nothing was imported."
    return "changed_file", name, "the file as the manifest lists it", got, message


@contextmanager
def opened(file: File, problems: Problems) -> Iterator[Opened]:
    """Open an archive; raises `ImportFailed` where it is no zip, or not as its manifest says."""
    try:
        zipped = zipfile.ZipFile(file.path)
    except BROKEN as error:
        problems.error("unreadable", "", "", expected="a zip file", got=Got(str(error)))
        raise ImportFailed(problems) from error
    with zipped:
        yield Opened(zipped, file, problems)


def _unfit(info: zipfile.ZipInfo) -> str:
    """Why no archive has such a file of a zip; empty where nothing does."""
    if info.filename.startswith("/") or ".." in PurePosixPath(info.filename.replace("\\", "/")).parts:
        return "a name that leads elsewhere"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link"
    if info.flag_bits & ENCRYPTED:
        return "an encrypted file"
    return "" if info.compress_type in READABLE else "a file compressed in another way"
