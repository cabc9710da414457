"""Where uploaded files wait until they are imported: the storage `uploads` of Django's STORAGES.

A folder, the database, or S3. Several machines need one of the last two: whoever checks or imports a file need not
be the machine that took it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import Storage, storages
from django.db import DatabaseError, transaction
from django.db.models import Max
from django.db.models.functions import Length

from benchmarks.models import UploadPiece

PIECE_BYTES = 1024 * 1024


class DatabaseStorage(Storage):
    """Files as rows of a megabyte each, so that neither side ever holds a whole one in memory."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return UploadPiece.objects.filter(name=name).exists()

    def delete(self, name: str) -> None:
        """Forget it; one that is not there is no error."""
        UploadPiece.objects.filter(name=name).delete()

    def size(self, name: str) -> int:
        """In bytes."""
        sizes = (
            UploadPiece.objects.filter(name=name).annotate(size=Length("content")).values_list("size", flat=True)
        )
        return sum(sizes)

    def _save(self, name: str, content: File[Any]) -> str:
        with transaction.atomic():
            for number, piece in enumerate(content.chunks(PIECE_BYTES)):
                UploadPiece.objects.create(name=name, number=number, content=piece)
        return name

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        pieces = UploadPiece.objects.filter(name=name)
        last = pieces.aggregate(last=Max("number"))["last"]
        if last is None:
            raise FileNotFoundError(f"There is no file {name}.")
        copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - whoever opens the file closes it
        for number in range(last + 1):
            copy.write(pieces.values_list("content", flat=True).get(number=number))
        copy.seek(0)
        return File(copy, name=name)


def save(name: str, content: IO[bytes]) -> str:
    """Store a file; returns the name that it has now. Raises `OSError` where there is no room, or no answer."""
    try:
        return storages["uploads"].save(name, File(content))
    except (OSError, DatabaseError):
        raise
    except Exception as error:  # clients of S3 have exceptions of many families
        raise OSError(str(error)) from error


def delete(name: str) -> None:
    """Remove a file; one that is not there is no error."""
    if name:
        storages["uploads"].delete(name)


@contextmanager
def on_disk(name: str) -> Iterator[Path]:
    """A path of this machine under which the file can be read: itself where it lies in a folder, else a copy."""
    storage = storages["uploads"]
    try:
        path = storage.path(name)
    except NotImplementedError:
        with storage.open(name) as stored, tempfile.NamedTemporaryFile(prefix="summhay-upload-") as copy:
            shutil.copyfileobj(stored, copy)
            copy.flush()
            yield Path(copy.name)
    else:
        yield Path(path)
