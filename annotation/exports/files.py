"""Files on the disk: written beside, and moved into place once they are complete."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class NotWritable(Exception):
    """A file could not be written; the message says why."""


@contextmanager
def arriving(path: Path) -> Iterator[IO[bytes]]:
    """A file to write and read, which takes the place of the one at `path` once the block has ended well.

    Raises:
        NotWritable: with what the system says.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w+b") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise NotWritable(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def written(path: Path, content: Iterable[str | bytes]) -> str:
    """Write a file and give the SHA-256 of its bytes. Raises `NotWritable`."""
    digest = hashlib.sha256()
    with arriving(path) as file:
        for piece in content:
            data = piece if isinstance(piece, bytes) else piece.encode()
            digest.update(data)
            file.write(data)
    return digest.hexdigest()
