"""Claims of workers on rows: taken for a while, renewed while the work goes on, free again when the worker ends.

A row that is claimed has `claimed_at`, and `claimed_by` where its worker is named. Each process holds a lock on
a file that ends with it, so that a worker that was killed is known at once on its own machine; elsewhere a claim
ends with its lease.
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db.models import Q, QuerySet

from benchmarks.engine.data_folder import data_folder

KEPT_S = 24 * 3600
_held: dict[int, tuple[str, IO[bytes]]] = {}


@dataclass(frozen=True)
class Lease:
    """How long a claim holds that is not renewed; `names_worker` is False for rows without `claimed_by`."""

    length: timedelta
    names_worker: bool = True

    def free(self, now: datetime) -> Q:
        """Rows that nobody holds: never claimed, or by a worker that ended or has not been heard of."""
        nobody = Q(claimed_at=None) | Q(claimed_at__lt=now - self.length)
        return nobody | Q(claimed_by__in=gone()) if self.names_worker else nobody

    def take(self, rows: QuerySet[Any, Any], *, now: datetime, **changes: object) -> int:
        """Claim all of these rows for this process, and change them with it; how many there were."""
        if self.names_worker:
            changes["claimed_by"] = my_name()
        return rows.update(claimed_at=now, **changes)

    def renew(self, rows: QuerySet[Any, Any], *, now: datetime) -> None:
        """Keep those that this process holds."""
        self._held(rows).update(claimed_at=now)

    def release(self, rows: QuerySet[Any, Any]) -> None:
        """Let others take those that this process holds, without waiting for the lease."""
        self._held(rows).update(claimed_at=None, **({"claimed_by": ""} if self.names_worker else {}))

    def _held(self, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
        return rows.filter(claimed_by=my_name()) if self.names_worker else rows


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
    files = _folder().glob("[!.]*") if _folder().is_dir() else ()
    return [path.name for path in files if not _is_locked(path)]


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
