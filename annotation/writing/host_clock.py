"""Whether the clock of this machine was set: wall-clock time beside a clock that nobody sets.

The system counts the time since it was started, sleep included. The difference to wall-clock time stays the same
until somebody, or a time server, sets the clock. Linux only; elsewhere nothing is known.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from annotation import clock

WORTH_KEEPING_MS = 1_000
"""A difference smaller than this is the slow correction by which clocks are kept right."""
MACHINES = 8
"""At most so many are remembered."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Reading:
    """Of which start of which machine, and when that was by its present clock (ms since the epoch)."""

    machine: str
    started_ms: int


@lru_cache(maxsize=1)
def _machine() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def reading() -> Reading | None:
    """What this machine says now; None where it cannot tell."""
    if not _machine() or not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    since = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return Reading(_machine(), (time.time_ns() - since) // 1_000_000)


def set_by_ms(known: dict[str, int] | None, read: Reading | None) -> int:
    """By how much this machine's clock was set since `known` was noted (ms); 0 where nothing is known of it."""
    if read is None or not known:
        return 0
    by_ms = read.started_ms - known.get(read.machine, read.started_ms)
    return by_ms if abs(by_ms) >= clock.JUMP_MS else 0


def kept(known: dict[str, int], read: Reading) -> dict[str, int] | None:
    """What is known of all machines with this reading; None if it adds nothing worth keeping."""
    before = known.get(read.machine)
    if before is not None and abs(read.started_ms - before) < WORTH_KEEPING_MS:
        return None
    others = [(name, started) for name, started in known.items() if name != read.machine]
    return dict([*others[-MACHINES + 1 :], (read.machine, read.started_ms)])
