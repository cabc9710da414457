"""The list of who was erased: an older backup that is restored holds these people again, and they are erased from
it at once.

It is in the database, for all machines; in a file of the machine that erased, in case the database is lost; and
beside each backup. A file has one line of JSON each: identifiers, the choice and the time; no name and no content.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DatabaseError, connection
from pydantic import TypeAdapter, ValidationError

from annotation.models import Removal

logger = logging.getLogger(__name__)

FILE_NAME = "removals.jsonl"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A person was erased; `mode` says what became of their work, `by` which account did it."""

    uid: UUID
    at: datetime
    mode: str
    user: UUID
    annotator: UUID | None = None
    by: UUID | None = None


LINE = TypeAdapter(Tombstone)


class Damaged(Exception):
    """A line of the file cannot be read; the message names it."""


def tombstone_file() -> Path:
    """The file of this site."""
    return Path(settings.DATA_DIR) / FILE_NAME


def stored() -> list[Tombstone]:
    """Those that the database lists; none where it cannot be read, or has no such list yet."""
    table = Removal._meta.db_table
    try:
        with connection.cursor() as cursor:
            if table not in connection.introspection.table_names(cursor):
                return []
            columns = {column.name for column in connection.introspection.get_table_description(cursor, table)}
        if "account" not in columns:
            return []
        rows = Removal.objects.filter(account__isnull=False).order_by("at")
        columns_read = ("uid", "at", "mode", "account", "annotator__uid", "by__uid")
        listed: list[Any] = list(rows.values_list(*columns_read))
        return [Tombstone(*row) for row in listed]
    except DatabaseError as error:
        logger.warning("The list of erased people in the database cannot be read: %s", error)
        return []


def append(tombstone: Tombstone) -> None:
    """Add one line, on the disk when this returns. Raises `OSError`.

    A line that a crash cut off goes: what it was about was never committed.
    """
    handle = os.open(tombstone_file(), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with open(handle, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
        file.write(orjson.dumps(tombstone) + b"\n")
        file.flush()
        os.fsync(handle)


def read(file: Path) -> list[Tombstone]:
    """All tombstones of a file, none where there is no file; a line that was cut off is none. Raises `Damaged`."""
    if not file.is_file():
        return []
    *lines, _rest = file.read_bytes().split(b"\n")
    return [_parsed(line, number, file) for number, line in enumerate(lines, 1)]


def merge(*lists: Iterable[Tombstone]) -> list[Tombstone]:
    """Each tombstone once, the oldest first."""
    by_uid = {tombstone.uid: tombstone for each in lists for tombstone in each}
    return sorted(by_uid.values(), key=lambda tombstone: (tombstone.at, tombstone.uid))


def write(tombstones: Iterable[Tombstone], *, to: Path) -> None:
    """Write a whole file that only its owner can read, atomically."""
    partial = to.with_name(f".{to.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as out:
        out.writelines(orjson.dumps(tombstone) + b"\n" for tombstone in tombstones)
        out.flush()
        os.fsync(handle)
    partial.replace(to)


def _parsed(line: bytes, number: int, file: Path) -> Tombstone:
    try:
        return LINE.validate_json(line)
    except ValidationError as error:
        raise Damaged(f"Line {number} of {file} is no entry: {error.errors()[0]['msg']}.") from error
