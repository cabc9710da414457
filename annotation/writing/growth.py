"""Saves that brought more new words than a person types in the time: a prompt for review, never an exclusion.

Pure. A browser with a connection saves what was typed within a few seconds, so that one save holds few new words.
More at once has a plain reason if the browser was offline or put kept text back, which the page shows as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from benchmarks.scoring.folding import visible

SAVE_WINDOW_S = 10.0
"""What one save can hold while there is a connection: the browser saves after at most 5 s; the rest is its way."""
DICTATION_WINDOW_S = 60.0
"""The same for somebody with the accommodation for dictation, whose program hands over whole paragraphs."""
MOST_PER_SECOND = 4.0
"""240 words a minute: fast typing is half of that, quick dictation three quarters."""
FEWEST_WORDS = 25
RUN = 3
OFFLINE = frozenset({"restored", "resolve"})
"""Sources that say that the text had been kept in a browser."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Save:
    """An accepted revision; `offline_ms` is how long the browser says it had no connection."""

    rev: int
    received_at: datetime
    active_ms: int
    text: str
    source: str = "typing"
    offline_ms: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """A save with more new words than its time explains.

    `seconds` is the time that counts for it, `since_last_s` that since the save before. `is_offline` says that by
    the browser's word the text was written without a connection; `is_flagged` that this does not explain it.
    """

    rev: int
    active_ms: int
    n_words: int
    seconds: float
    per_second: float
    since_last_s: float
    source: str
    is_offline: bool
    offline_s: float
    is_flagged: bool

    def as_json(self) -> dict[str, Any]:
        """A row to store."""
        return asdict(self)


def jumps(saves: Iterable[Save], *, started_at: datetime, may_dictate: bool = False) -> list[Jump]:
    """The saves that brought at least `FEWEST_WORDS` new words, faster than `MOST_PER_SECOND`.

    New is what stands in no earlier accepted text as a run of three words, so that text moved, cut and put back,
    or taken back with undo is not new. `saves` come in the order of their revisions.
    """
    window = DICTATION_WINDOW_S if may_dictate else SAVE_WINDOW_S
    known: set[tuple[str, ...]] = set()
    last, additions = started_at, []
    for save in saves:
        runs = _runs(save.text)
        n_new = len(runs - known)
        known |= runs
        since = max((save.received_at - last).total_seconds(), 0.0)
        last = save.received_at
        seconds = max(min(since, window), 1.0)
        if n_new < FEWEST_WORDS or n_new / seconds <= MOST_PER_SECOND:
            continue
        is_offline = save.source in OFFLINE or save.offline_ms > 0
        additions.append(
            Jump(
                rev=save.rev,
                active_ms=save.active_ms,
                n_words=n_new,
                seconds=round(seconds, 1),
                per_second=round(n_new / seconds, 1),
                since_last_s=round(since, 1),
                source=save.source,
                is_offline=is_offline,
                offline_s=round(save.offline_ms / 1000, 1),
                is_flagged=not is_offline or n_new / max(since, 1.0) > MOST_PER_SECOND,
            )
        )
    return additions


def _runs(text: str) -> set[tuple[str, ...]]:
    """Runs of three words, and shorter ones at the end, so that every word begins one."""
    words = _WORD.findall(visible(text).lower())
    return {tuple(words[start : start + RUN]) for start in range(len(words))}
