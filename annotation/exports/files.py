"""Files on the disk: written beside, and moved into place once they are complete."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


class NotWritable(Exception):
    """A file could not be written; the message says why."""


def written(path: Path, content: Iterable[str | bytes]) -> str:
    """Write a file and give the SHA-256 of its bytes; an existing file stays until the new one is complete.

    Raises:
        NotWritable: with what the system says.
    """
    part, digest = path.with_name(path.name + ".part"), hashlib.sha256()
    try:
        with part.open("wb") as file:
            for piece in content:
                data = piece if isinstance(piece, bytes) else piece.encode()
                digest.update(data)
                file.write(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise NotWritable(f"{path} cannot be written: {error.strerror}.") from error
    return digest.hexdigest()
