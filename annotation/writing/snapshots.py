"""Make snapshots of a session from its accepted revisions; whoever does it, and whenever, makes the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from annotation import clock
from annotation.models import DraftRevision, Snapshot
from benchmarks.engine.wakeup import enqueue

SCORING_TASK = "annotation.tasks.score_snapshots"


class FilledBy(StrEnum):
    """Who came by first once a snapshot was due."""

    REQUEST = "request"
    WORKER = "worker"
    EXPORT = "export"


@dataclass(frozen=True, slots=True)
class _Stamp:
    """An accepted revision without its text."""

    pk: int
    active_ms: int


def materialise(
    *,
    session_id: int,
    marks: Sequence[int],
    final_ms: int | None,
    filled_by: FilledBy,
    now: datetime,
) -> int:
    """Store the snapshots at `marks` and, at the end, the final one; a snapshot that is there stays untouched.

    Call it under the lock of the session, with marks that active time is strictly past. Gives how many were due.
    """
    wanted = [*((mark, Snapshot.Kind.MARK) for mark in marks)]
    if final_ms is not None:
        wanted.append((final_ms, Snapshot.Kind.FINAL))
    if not wanted:
        return 0
    last_ms = max(mark for mark, _ in wanted)
    accepted = DraftRevision.objects.filter(session=session_id, accepted=True, active_ms__lte=last_ms)
    stamps = [_Stamp(*row) for row in accepted.order_by("rev").values_list("pk", "active_ms")]
    chosen = {mark: clock.snapshot_at(stamps, mark) for mark, _ in wanted}
    texts = dict(
        DraftRevision.objects.filter(pk__in={stamp.pk for stamp in chosen.values() if stamp}).values_list(
            "pk", "text"
        )
    )
    Snapshot.objects.bulk_create(
        [
            Snapshot(
                session_id=session_id,
                mark_ms=mark,
                kind=kind,
                revision_id=stamp.pk if stamp else None,
                text=texts[stamp.pk] if stamp else "",
                staleness_ms=mark - stamp.active_ms if stamp else None,
                filled_by=filled_by,
                created_at=now,
            )
            for mark, kind in wanted
            for stamp in [chosen[mark]]
        ],
        ignore_conflicts=True,
    )
    enqueue(SCORING_TASK)  # the table of snapshots is the outbox; a lost message is a delay until the next sweep
    return len(wanted)
