"""Messages as files of a folder, as kombu has them, but each file is complete from the moment others can see it.

kombu's own transport opens a message under its final name and then fills it. A worker that looks in between, as on
a loaded machine, takes an empty message, cannot read it, and ends; an empty file after a crash does the same.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from django.conf import settings
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

from benchmarks.engine.data_folder import data_folder

logger = logging.getLogger(__name__)
UNFINISHED = ".part"
"""The end of names that no reader of the folder looks for."""


def made(folder: str) -> Path:
    """Return a folder, which is made anew where it is not there, open to its owner only."""
    path = Path(folder)
    if not path.is_dir():
        data_folder()
        for each in (path.parent, path):
            each.mkdir(mode=0o700, exist_ok=True)
    return path


class Channel(filesystem.Channel):
    """Writes whole files, passes over those that cannot be read, and lives on where its folders are deleted."""

    @property
    def data_folder_in(self) -> Path:
        return made(self.transport_options["data_folder_in"])

    @property
    def data_folder_out(self) -> Path:
        return made(self.transport_options["data_folder_out"])

    @property
    def control_folder(self) -> Path:
        return made(self.transport_options["control_folder"])

    def get_table(self, exchange: str) -> Any:
        """Bindings of an exchange. Processes bind a queue of ours once, so a table that was lost is known."""
        table: Any = super().get_table(exchange)
        if not table and exchange in settings.QUEUES:
            return [filesystem.exchange_queue_t(exchange, "", exchange)]
        return table

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        try:
            path = self.data_folder_out / name
            with _part(path, str_to_bytes(dumps(payload))) as part:
                part.replace(path)
        except OSError as error:
            raise ChannelError(f"Cannot add {name} to the folder of messages") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        while True:
            try:
                return super()._get(queue)
            except ValueError:  # the file is gone by now
                logger.warning("A message to %s was no JSON and is dropped; the sweep will find the work.", queue)

    def _queue_bind(self, exchange: str, routing_key: str | None, pattern: str | None, queue: str) -> None:
        """Let the table of an exchange begin empty but readable, unless somebody was first.

        kombu locks and extends one that is there, and makes it where links are not supported.
        """
        table = self._exchange_file(exchange)  # type: ignore[attr-defined]
        if not table.exists():
            with _part(table, b"[]") as part, suppress(OSError):
                os.link(part, table)
        super()._queue_bind(exchange, routing_key or "", pattern or "", queue)


class Transport(filesystem.Transport):
    """kombu's folder transport with these channels."""

    Channel = Channel

    def establish_connection(self) -> Any:
        """Look whether the folders can be used. Raises `OSError`."""
        client: Any = self.client
        for name in ("data_folder_in", "data_folder_out", "control_folder"):
            if not os.access(folder := made(client.transport_options[name]), os.W_OK | os.X_OK):
                raise PermissionError(f"{folder} cannot be written to")
        return super().establish_connection()


@contextmanager
def _part(path: Path, content: bytes) -> Iterator[Path]:
    """Write a file that no reader looks for, to be put in its place at once, whole."""
    part = path.with_name(f"{uuid4()}{UNFINISHED}")
    try:
        part.write_bytes(content)
        yield part
    finally:
        part.unlink(missing_ok=True)
