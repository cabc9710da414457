"""Files as they are read: opened or refused in a sentence, never more than the limit, with progress in bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypedDict

from benchmarks.io.reading.problems import Got, ImportFailed, Problems

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER_BYTES = 256 * 1024
BOM = b"\xef\xbb\xbf"
EXAMPLES = Path(__file__).parents[1] / "examples"

Progress = Callable[[int, int], None]
"""Gets bytes read and bytes in all (0: unknown)."""


class Limits(TypedDict, total=False):
    """How many bytes are read at most, and who is told how many were."""

    limit_bytes: int | None
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class File:
    """A file to read; `name` is what it was called where it came from."""

    path: Path
    name: str
    limit_bytes: int
    progress: Progress | None = None

    @property
    def limits(self) -> Limits:
        """How much is read of it, and who is told."""
        return {"limit_bytes": self.limit_bytes, "progress": self.progress}


class _TooLarge(Exception):
    def __init__(self, size: int) -> None:
        self.size = size


class _Counted(io.RawIOBase):
    """A stream that says how far it is read, and stops where the limit ends."""

    def __init__(self, stream: BinaryIO, *, limit: int | None, progress: Progress | None) -> None:
        self.stream, self.limit, self.progress = stream, limit, progress
        self.seen = 0
        self.total = size_of(stream)
        self._hold_limit(self.total)

    def _hold_limit(self, size: int) -> None:
        if self.limit is not None and size > self.limit:
            raise _TooLarge(size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        chunk = self.stream.read(len(view))
        self.seen += len(chunk)
        self._hold_limit(self.seen)
        if self.progress is not None:
            self.progress(self.seen, self.total)
        view[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def opened(
    source: Path | BinaryIO,
    problems: Problems,
    *,
    limit_bytes: int | None = None,
    progress: Progress | None = None,
) -> Iterator[BinaryIO]:
    """Open a file, or read on in a stream.

    Raises:
        ImportFailed: it can't be opened, or more than `limit_bytes` are read.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
        except OSError as error:
            reason = Got(f"one that cannot be opened: {error.strerror}")
            problems.error("unreadable", "", "", expected="a file", got=reason)
            raise ImportFailed(problems) from None
        if limit_bytes is None and progress is None:
            yield stream
            return
        try:
            yield io.BufferedReader(_Counted(stream, limit=limit_bytes, progress=progress), BUFFER_BYTES)
        except _TooLarge as error:
            limit = limit_bytes or 0
            got = Got(f"a file of {megabytes(error.size)}, where at most {megabytes(limit)} are read")
            problems.error("too_large", "", "", expected=f"at most {limit:,} bytes", got=got)
            raise ImportFailed(problems) from None


def example(name: str) -> str:
    """A small valid file of a format, as people may download it."""
    return (EXAMPLES / name).read_text(encoding="utf-8")


def megabytes(size: int) -> str:
    """A size in MB of 1,048,576 bytes, as a person reads it."""
    return f"{size / 1024 / 1024:,.1f} MB" if size < 10 * 1024 * 1024 else f"{size / 1024 / 1024:,.0f} MB"


def size_of(stream: BinaryIO) -> int:
    """The bytes of a stream from where it stands; 0 where that is unknown."""
    if not stream.seekable():
        return 0
    here = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(here)
    return end - here
