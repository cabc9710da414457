"""Django's SQLite, with a queue for transactions that write.

SQLite lets one writer in at a time and makes the others sleep and try again, up to 100 ms apart and in no order:
under load some wait for seconds while others are served. Here a transaction waits for its turn before it begins.
The turn is only courtesy; the lock of SQLite itself still decides, also against programs that know no turns.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.db.backends.sqlite3 import base

from benchmarks.engine.data_folder import data_folder

try:
    import fcntl
except ImportError:  # no such locks on this system: threads still take turns, processes sleep and try again
    fcntl = None  # type: ignore[assignment]

NAP_S = 0.0005
"""At most one thread of each process looks this often whether another process is done."""

_threads: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.clear)


def make_private(path: str) -> None:
    """Make an empty database file for its owner only, unless there is one; its log files get the same mode."""
    with suppress(OSError):  # SQLite itself says best why it cannot open a file
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


class Turn:
    """The right to write to one database file, for the threads of a process and among processes."""

    def __init__(self, path: str, *, wait_s: float) -> None:
        """Wait for the turn, at most `wait_s`; after that SQLite itself has to sort it out."""
        until = time.monotonic() + wait_s
        self._lock = _threads[path]
        self._is_mine = self._lock.acquire(timeout=wait_s)
        self._handle = self._claim(f"{path}-turn", until) if self._is_mine else None

    def give_back(self) -> None:
        """Let the next one write."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._is_mine:
            self._is_mine = False
            self._lock.release()

    @staticmethod
    def _claim(path: str, until: float) -> int | None:
        if fcntl is None:
            return None
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        while time.monotonic() < until:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(NAP_S)
            except OSError:
                break  # a file system without such locks
            else:
                return handle
        os.close(handle)
        return None


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions queue; single statements outside of one do not."""

    _turn: Turn | None = None

    def get_new_connection(self, conn_params: Any) -> Any:
        """Connect; the data folder is made with its first file, which is private, any other has to be there."""
        if Path(str(self.settings_dict["NAME"])).parent == settings.DATA_DIR:
            data_folder()
        if not self.is_in_memory_db():
            make_private(str(self.settings_dict["NAME"]))
        return super().get_new_connection(conn_params)

    def empty_log(self, *, wait_s: float = 2.0) -> bool:
        """Write the log back into the file and empty it, since it keeps what was deleted.

        Returns False where something that reads for long stood in the way: whoever wants to write waits meanwhile.
        """
        usual_s = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        with self.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout={wait_s * 1000:.0f}")
            try:
                (is_busy, *_pages) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except OperationalError:
                return False
            finally:
                cursor.execute(f"PRAGMA busy_timeout={usual_s * 1000:.0f}")
        return not is_busy

    def _start_transaction_under_autocommit(self) -> None:
        self._give_back()
        if not self.is_in_memory_db():
            wait_s = self.settings_dict["OPTIONS"].get("timeout", 5.0)
            self._turn = Turn(str(self.settings_dict["NAME"]), wait_s=wait_s)
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # not in the stubs
        except BaseException:
            self._give_back()
            raise

    def _commit(self) -> Any:
        done = super()._commit()  # type: ignore[misc]
        self._give_back()  # a commit that failed is followed by a rollback, and still holds the turn until then
        return done

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._give_back()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._give_back()

    def _give_back(self) -> None:
        if self._turn is not None:
            self._turn.give_back()
            self._turn = None
