"""Replies to batch files: stored under the same keys as live ones; then the items are answered from them.

The items are answered as a worker would answer them, so the verdicts are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import orjson
from django.db import transaction

from benchmarks import audit
from benchmarks.engine import ledger, runs
from benchmarks.engine.answering import Clock
from benchmarks.engine.batches import AT_ONCE, LEASE, MANIFEST, REQUESTS, BatchRefused, OnFile, close, put_back
from benchmarks.engine.sending import config_of
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.parsing import MOST_BYTES, MOST_LEVELS
from benchmarks.judges.replies import OK, Failure, Reply, read_data, read_error
from benchmarks.models import Batch, JudgeCall, JudgeRunItem

GIVEN_UP = "No reply came with the files of its batch."
MOST_IN_LINE = 4 * MOST_BYTES
"""The longest line that is read: the longest answer of a server, escaped, and what stands around it."""


@dataclass(frozen=True)
class RepliesRead:
    """What was in the files of replies, in lines, and what is left of the batch.

    Lines `repeated` an answer that was there, were about `unknown` requests, or were `unreadable`. `missing` are
    requests without a reply, `done` and `open` items of the run.
    """

    batch: Batch
    lines: int
    answered: int
    failed: int
    repeated: int
    unknown: int
    unreadable: int
    missing: int
    done: int
    open: int

    def as_json(self) -> dict[str, Any]:
        """The counts, as `manage.py batch` prints them."""
        counts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "batch"}
        is_closed = self.batch.state == Batch.State.CLOSED
        return {"batch": str(self.batch.uid), "run": str(self.batch.run.uid), "is_closed": is_closed, **counts}


def read(*, folder: Path, clock: Clock, gives_up: bool = False, by: Any = None) -> RepliesRead:
    """Store the replies that lie in the folder of a batch, and answer its items from them; again changes nothing.

    Replies are lines of any `.jsonl` files in it but those of the requests, in any order. With `gives_up` requests
    without a reply may be sent again.

    Raises:
        BatchRefused: this is no folder of a batch of this site, or another process reads it.
    """
    batch = _batch_in(folder)
    if not LEASE.take(Batch.objects.filter(LEASE.free(clock()), pk=batch.pk), now=clock()):
        raise BatchRefused("Another process is reading or writing the files of this batch.")
    try:
        counts = _store(batch, folder, clock)
        if gives_up:
            ledger.give_up(batch=batch, message=GIVEN_UP, may_be_paid=True)
        n_done = _answer(batch, clock)
        missing = batch.calls.filter(state=JudgeCall.State.ASKED).count()
        with transaction.atomic():
            if missing:
                Batch.objects.filter(pk=batch.pk).update(state=Batch.State.OUT)
            elif batch.state != Batch.State.CLOSED:
                close(batch, clock())
            audit.record(actor=by, action="batch.read", target=batch.run, now=clock(), answered=counts["answered"])
    finally:
        LEASE.release(Batch.objects.filter(pk=batch.pk))
    left = runs.finish(run=batch.run, now=clock(), states=runs.OPEN)
    names = ("lines", "answered", "failed", "repeated", "unknown", "unreadable")
    by_name = {name: counts[name] for name in names}
    return RepliesRead(batch=batch, **by_name, missing=missing, done=n_done, open=left.n_pending)


def _batch_in(folder: Path) -> Batch:
    try:
        uid = UUID(orjson.loads((folder / MANIFEST).read_bytes())["batch"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BatchRefused(f"{folder} has no {MANIFEST} of a batch.") from error
    batch = Batch.objects.select_related("run__judge").filter(uid=uid).first()
    if batch is None:
        raise BatchRefused(f"The batch in {folder} is not in this database.")
    return batch


def _store(batch: Batch, folder: Path, clock: Clock) -> Counter[str]:
    """Close the calls whose replies are there, some lines at a time."""
    counts: Counter[str] = Counter()
    lines = lines_in(folder)
    while part := list(islice(lines, AT_ONCE)):
        outcomes: dict[str, Reply | Failure] = {}
        for line in part:
            counts["lines"] += 1
            read_line = outcome_of(line)
            if read_line is None:
                counts["unreadable"] += 1
                continue
            key, outcome = read_line
            if key in outcomes:
                counts["repeated"] += 1
            if not isinstance(outcomes.get(key), Reply):
                outcomes[key] = outcome
        _store_part(batch, outcomes, counts, clock())
        LEASE.renew(Batch.objects.filter(pk=batch.pk), now=clock())
    return counts


def _store_part(
    batch: Batch, outcomes: Mapping[str, Reply | Failure], counts: Counter[str], now: datetime
) -> None:
    known = set(batch.calls.filter(cache_key__in=outcomes).values_list("cache_key", flat=True))
    with transaction.atomic():
        closed = ledger.close_on_file(batch=batch, outcomes=outcomes, now=now)
    n_answered = sum(isinstance(outcomes[key], Reply) for key in closed)
    counts["answered"] += n_answered
    counts["failed"] += len(closed) - n_answered
    counts["repeated"] += len(known - closed)
    counts["unknown"] += len(outcomes.keys() - known)


def lines_in(folder: Path) -> Iterator[bytes]:
    """The lines of all files of replies in a folder, none longer than what is read of it."""
    for path in sorted(folder.rglob("*.jsonl")):
        if path.name.startswith(REQUESTS):
            continue
        with path.open("rb") as handle:
            yield from (line for line in _short_lines(handle) if line.strip())


def _short_lines(handle: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; one that is too long is passed over, and cut off it is no JSON."""
    while line := handle.readline(MOST_IN_LINE):
        yield line
        while line and not line.endswith(b"\n"):
            line = handle.readline(MOST_IN_LINE)


def outcome_of(line: bytes) -> tuple[str, Reply | Failure] | None:
    """The key of the request that a line answers, and what came of it; None where nobody can tell.

    A line is what the OpenAI Batch API and `vllm run-batch` write: {"custom_id", "response": {"status_code",
    "request_id", "body"}, "error"}. Nobody can tell what an error says that is nested deeper than a server would.
    """
    try:
        row = orjson.loads(line)
        key = row["custom_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    if not isinstance(key, str):
        return None
    response = row.get("response") if isinstance(row.get("response"), dict) else {}
    status = response.get("status_code", 200 if response else None)
    body = response.get("body")
    request_id = response.get("request_id")
    headers = {"x-request-id": request_id if isinstance(request_id, str) else ""}
    if status == OK and isinstance(body, dict):
        return key, read_data(body, headers, 0)
    if not (_is_shallow(row.get("error")) and _is_shallow(body)):
        return None
    known = status if isinstance(status, int) and 100 <= status < 600 else OK
    return key, read_error(row.get("error") or body, headers, 0, status=known)


def _is_shallow(value: Any, levels: int = MOST_LEVELS) -> bool:
    """Whether a parsed JSON value has at most so many levels."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in inner)


def _answer(batch: Batch, clock: Clock) -> int:
    """Answer the items of a batch as far as replies are there, and free those that wait for nothing; how many."""
    run, n_done, last = batch.run, 0, 0
    while items := _items_after(batch, last):
        last = items[-1].pk
        config = config_of(run.judge)
        asked_in = ledger.remembered_format(config)
        answering = OnFile(batch=batch, run=run, config=config, items=items, clock=clock, response_format=asked_in)
        waiting = answering.work()
        put_back(items, answering.errors)
        rows = run.items.filter(pk__in=[item.pk for item in items])
        rows.exclude(pk__in=waiting).update(batch=None)
        n_done += rows.filter(state=JudgeRunItem.State.DONE).count()
        LEASE.renew(Batch.objects.filter(pk=batch.pk), now=clock())
    return n_done


def _items_after(batch: Batch, last: int) -> Sequence[JudgeRunItem]:
    rows = batch.items.filter(state=JudgeRunItem.State.PENDING, pk__gt=last).select_related(
        TASKS[batch.run.task].related or None
    )
    return list(rows.order_by("pk")[:AT_ONCE])
