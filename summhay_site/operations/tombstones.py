"""The list of who was erased, in a file outside the database: an older backup that is restored holds these people
again, and they are erased from it at once.

One line of JSON each: identifiers, the choice and the time; no name and no content. Lines are only ever added.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import orjson
from django.conf import settings

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


class Damaged(Exception):
    """A line of the file cannot be read; the message names it."""


def tombstone_file() -> Path:
    """The file of this site."""
    return Path(settings.DATA_DIR) / FILE_NAME


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
    found = {one.uid: one for each in lists for one in each}
    return sorted(found.values(), key=lambda one: (one.at, one.uid))


def write(tombstones: Iterable[Tombstone], *, to: Path) -> None:
    """Write a whole file that only its owner can read, atomically."""
    partial = to.with_name(f".{to.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as out:
        out.writelines(orjson.dumps(one) + b"\n" for one in tombstones)
        out.flush()
        os.fsync(handle)
    partial.replace(to)


def _parsed(line: bytes, number: int, file: Path) -> Tombstone:
    try:
        row = orjson.loads(line)
        return Tombstone(
            uid=UUID(row["uid"]),
            at=datetime.fromisoformat(row["at"]),
            mode=str(row["mode"]),
            user=UUID(row["user"]),
            annotator=UUID(row["annotator"]) if row.get("annotator") else None,
            by=UUID(row["by"]) if row.get("by") else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"Line {number} of {file} is no entry: {error}.") from error
