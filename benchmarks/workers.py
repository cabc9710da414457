"""Which process holds a claim, and whether it still lives: a lock on a file that ends with the process.

A worker that was killed is known at once on its own machine; elsewhere a claim ends with its lease.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from pathlib import Path
from typing import IO

from django.conf import settings

from benchmarks.data_folder import data_folder

KEPT_S = 24 * 3600
_held: dict[int, tuple[str, IO[bytes]]] = {}


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "workers"


def my_name() -> str:
    """This process; a fork is another one."""
    pid = os.getpid()
    if pid not in _held:
        name = uuid.uuid4().hex
        folder = data_folder("workers")
        making = folder / f".{name}"  # nobody looks at it before it is locked
        handle = making.open("wb")
        fcntl.flock(handle, fcntl.LOCK_EX)
        making.rename(folder / name)
        _held[pid] = (name, handle)
    return _held[pid][0]


def gone() -> list[str]:
    """Workers of this machine that ended; their files are kept for a day, longer than any lease."""
    found = []
    for path in _folder().glob("[!.]*") if _folder().is_dir() else ():
        if _is_locked(path):
            continue
        found.append(path.name)
    return found


def sweep() -> None:
    """Remove the files of workers that ended more than a day ago."""
    for name in gone():
        path = _folder() / name
        if path.exists() and time.time() - path.stat().st_mtime > KEPT_S:
            path.unlink(missing_ok=True)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return True
