"""Batch files: the requests of a run as files, sent by whoever runs them, and the replies that came back.

`write` claims the items of a run and writes what is not answered on them as lines of the OpenAI batch format; they
stay with the batch until their replies are read. Nothing that was answered is written again, and what came back
unusable is asked once more by the next batch, or by a worker. Replies are stored under the same keys as live ones;
then the items are answered as a worker would answer them, so the verdicts are the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import orjson
from django.db import transaction

from benchmarks import audit
from benchmarks.engine import ledger, runs
from benchmarks.engine.answering import Answering, Clock, kept_replies
from benchmarks.engine.ledger import Request
from benchmarks.engine.runs import Lease
from benchmarks.engine.sending import config_of
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.base import ResponseFormat
from benchmarks.judges.openai import AddressNotAllowed
from benchmarks.judges.parsing import MOST_BYTES, MOST_LEVELS
from benchmarks.judges.questions import BadConfiguration
from benchmarks.judges.replies import OK, Failure, Reply, read_data, read_error
from benchmarks.models import Batch, Judge, JudgeCall, JudgeRun, JudgeRunItem

ADDRESS = "/v1/chat/completions"
MANIFEST = "batch.json"
REQUESTS = "requests-"
UNFINISHED = ".part"
MOST_REQUESTS = 50_000
MOST_FILE_BYTES = 200_000_000
AT_ONCE = 200
"""Items that are claimed, and lines that are stored, in one transaction."""
LEASE = Lease(timedelta(minutes=10))
"""How long a process may write or read the files of a batch without a sign of life."""
NOT_FINISHED = "The files of this batch were never finished."
NO_ROOM = "The budget has no room for more before replies come."
STOPPED = "The run was stopped."


class BatchRefused(Exception):
    """These files cannot be written or read; the message says why."""


def write(
    *,
    run: JudgeRun,
    folder: Path,
    clock: Clock,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_FILE_BYTES,
    price_share: Decimal = Decimal(1),
    response_format: ResponseFormat | None = None,
    by: Any = None,
) -> dict[str, Any]:
    """Write the requests that are open on a run to files in an empty folder, with so many and so large in each.

    Replies cost `price_share` of the usual price. Without a `response_format` questions are asked as the server
    last answered. A writer that was killed left nothing that holds: its requests are written anew.

    Returns:
        {batch, run, requests, files, stopped}: ids, counts, and why not all of the run is in the files, if so.

    Raises:
        BatchRefused: the run asks no model or is over, the folder is not empty, or another process writes it.
    """
    _check(run)
    files = _Files(folder, most_requests, most_bytes)
    batch = _started(run, price_share, clock())
    try:
        n_requests, stopped = _write_items(batch, files, response_format=response_format, clock=clock)
        report = {"batch": str(batch.uid), "run": str(run.uid), "requests": n_requests}
        n_files = files.finish(report)
    except BaseException:
        _drop(batch, clock())
        raise
    with transaction.atomic():
        batch.n_requests = n_requests
        batch.state = Batch.State.OUT if n_requests else Batch.State.CLOSED
        batch.closed_at = None if n_requests else clock()
        batch.claimed_at, batch.claimed_by = None, ""
        batch.save(update_fields=["n_requests", "state", "closed_at", "claimed_at", "claimed_by"])
        audit.record(actor=by, action="batch.written", target=run, now=clock(), requests=n_requests)
    runs.finish(run=run, now=clock(), states=runs.OPEN)
    return {**report, "files": n_files, "stopped": stopped}


def _check(run: JudgeRun) -> None:
    if run.judge.kind != Judge.Kind.OPENAI:
        raise BatchRefused(f"{run.judge} is no model; it needs no files.")
    if run.state not in runs.OPEN:
        raise BatchRefused(f"The run is {run.get_state_display()}; nothing of it is open.")
    try:
        config_of(run.judge)
    except (BadConfiguration, AddressNotAllowed) as error:
        raise BatchRefused(f"{run.judge} cannot be asked: {error}") from error


@transaction.atomic
def _started(run: JudgeRun, price_share: Decimal, now: datetime) -> Batch:
    JudgeRun.objects.select_for_update().get(pk=run.pk)
    writing = run.batches.filter(state=Batch.State.WRITING)
    dead = list(writing.filter(LEASE.free(now)))
    if writing.exclude(pk__in=[batch.pk for batch in dead]).exists():
        raise BatchRefused("Another process is writing files for this run.")
    for batch in dead:
        _drop(batch, now)
    batch = Batch.objects.create(
        run=run, base_url=config_of(run.judge).base_url, price_share=price_share, created_at=now
    )
    LEASE.take(Batch.objects.filter(pk=batch.pk), now=now)
    return batch


@transaction.atomic
def _drop(batch: Batch, now: datetime) -> None:
    """Free everything of a batch whose files nobody can have sent."""
    ledger.give_up(batch=batch, message=NOT_FINISHED, may_be_paid=False)
    close(batch, now)


def close(batch: Batch, now: datetime) -> None:
    """Nothing waits for the files of a batch any longer."""
    batch.items.update(batch=None)
    batch.state, batch.closed_at, batch.claimed_at, batch.claimed_by = Batch.State.CLOSED, now, None, ""
    batch.save(update_fields=["state", "closed_at", "claimed_at", "claimed_by"])


class _Files:
    """The files of a batch, under another name until they are complete."""

    def __init__(self, folder: Path, most_requests: int, most_bytes: int) -> None:
        self.folder, self.most_requests, self.most_bytes = folder, most_requests, most_bytes
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"{REQUESTS}*{UNFINISHED}"):
            path.unlink()
        if any(folder.iterdir()):
            raise BatchRefused(f"{folder} is not empty.")
        self.names: list[str] = []
        self.handle: BinaryIO | None = None
        self.n_lines = self.n_bytes = 0

    def add(self, request: Request) -> None:
        """Write a request, in the next file if this one is full."""
        row = {"custom_id": request.key, "method": "POST", "url": ADDRESS, "body": request.body}
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        is_full = self.n_lines >= self.most_requests or self.n_bytes + len(line) > self.most_bytes
        if self.handle is None or (is_full and self.n_lines):
            self._next()
        assert self.handle is not None  # noqa: S101  opened above
        self.handle.write(line)
        self.n_lines, self.n_bytes = self.n_lines + 1, self.n_bytes + len(line)

    def _next(self) -> None:
        self._end()
        self.names.append(f"{REQUESTS}{len(self.names) + 1:03}.jsonl")
        self.handle = (self.folder / f"{self.names[-1]}{UNFINISHED}").open("wb")
        self.n_lines = self.n_bytes = 0

    def _end(self) -> None:
        if self.handle is not None:
            self.handle.close()
            self.handle = None

    def finish(self, manifest: Mapping[str, Any]) -> int:
        """Give the files their names, and say whose they are; how many there are."""
        self._end()
        for name in self.names:
            (self.folder / f"{name}{UNFINISHED}").rename(self.folder / name)
        if self.names:
            text = json.dumps({**manifest, "url": ADDRESS, "files": self.names}, indent=2) + "\n"
            (self.folder / MANIFEST).write_text(text, encoding="utf-8")
        return len(self.names)


class OnFile(Answering):
    """Answers claimed items from stored replies; what has none goes to `send`, or stays open without one."""

    def __init__(self, *, batch: Batch, send: Callable[[Request], None] | None = None, **kwargs: Any) -> None:
        self.batch, self.send = batch, send
        self.waiting: set[int] = set()
        self.stopped = ""
        super().__init__(**kwargs)

    def work(self) -> set[int]:
        """Keys of the items that wait for replies to files."""
        while self.queue and not self.stopped:
            ready = [self.queue.popleft() for _ in range(min(AT_ONCE, len(self.queue)))]
            question_of_request = {
                id(request): (waiting, request) for waiting in ready for request in [self.request_of(waiting)]
            }
            with transaction.atomic():
                claim = ledger.claim(
                    run=self.run,
                    config=self.config,
                    wanted=[request for _, request in question_of_request.values()],
                    room=len(question_of_request) if self.send is not None else 0,
                    now=self.clock(),
                    batch=self.batch,
                    states=runs.OPEN,
                )
            for request, _call in claim.to_send:
                assert self.send is not None  # noqa: S101  without it there is no room
                self.send(request)
            out = [request for request, _call in claim.to_send] + ([] if self.send is not None else claim.on_file)
            self.waiting |= {self.item_of(question_of_request[id(request)][0].question).pk for request in out}
            kept = kept_replies([call for _, call in claim.answered])
            self.take(
                [(question_of_request[id(request)][0], call, kept[call.pk]) for request, call in claim.answered]
            )
            self.stopped = claim.pause_because or (NO_ROOM if claim.is_short else "")
            if claim.is_stopped:
                self.stopped = STOPPED
        return self.waiting


def _write_items(
    batch: Batch, files: _Files, *, response_format: ResponseFormat | None, clock: Clock
) -> tuple[int, str]:
    """Claim the items of the batch's run and write what is open on them: how many requests, and why not all."""
    run, n_requests, stopped = batch.run, 0, ""
    config = config_of(run.judge)
    left: set[int] = set()
    """Neither done nor in the files: what they ask is on its way elsewhere, or cannot be asked."""

    def send(request: Request) -> None:
        nonlocal n_requests
        files.add(request)
        n_requests += 1

    while not stopped and (
        items := runs.claim(run=run, now=clock(), passed_over=left, n_most=AT_ONCE, states=runs.OPEN)
    ):
        LEASE.renew(Batch.objects.filter(pk=batch.pk), now=clock())
        rows = run.items.filter(pk__in=[item.pk for item in items])
        try:
            answering = OnFile(
                batch=batch,
                send=send,
                run=run,
                config=config,
                items=items,
                clock=clock,
                response_format=response_format or ledger.remembered_format(config),
            )
            waiting, stopped = answering.work(), answering.stopped
            rows.filter(pk__in=waiting).update(batch=batch)
            put_back(items, answering.errors)
            left.update(rows.filter(state=JudgeRunItem.State.PENDING, batch=None).values_list("pk", flat=True))
        finally:
            runs.let_go(run=run, items=items)
    return n_requests, stopped


def put_back(items: Iterable[JudgeRunItem], errors: Mapping[int, Exception]) -> None:
    """Free the items that could not be asked or answered, with what was wrong."""
    for item in items:
        if item.pk in errors:
            runs.put_back(item=item, error=errors[item.pk])


GIVEN_UP = "No reply came with the files of its batch."
MOST_IN_LINE = 4 * MOST_BYTES
"""The longest line that is read: the longest answer of a server, escaped, and what stands around it."""


def read(*, folder: Path, clock: Clock, gives_up: bool = False, by: Any = None) -> dict[str, Any]:
    """Store the replies that lie in the folder of a batch, and answer its items from them; again changes nothing.

    Replies are lines of any `.jsonl` files in it but those of the requests, in any order. With `gives_up` requests
    without a reply may be sent again.

    Returns:
        {batch, run, is_closed}, and counts: `lines`, of which some `repeated` an answer that was there, were about
        `unknown` requests or `unreadable`; requests without a reply (`missing`); items `done` and `open`.

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
    return {
        "batch": str(batch.uid),
        "run": str(batch.run.uid),
        "is_closed": batch.state == Batch.State.CLOSED,
        **{name: counts[name] for name in names},
        "missing": missing,
        "done": n_done,
        "open": left.n_pending,
    }


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
            while line := handle.readline(MOST_IN_LINE):
                if line.strip():
                    yield line
                while line and not line.endswith(b"\n"):  # too long: what is read of it is no JSON
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
    waiting_items = batch.items.filter(state=JudgeRunItem.State.PENDING).order_by("pk")
    waiting_items = waiting_items.select_related(TASKS[run.task].related or None)
    while items := list(waiting_items.filter(pk__gt=last)[:AT_ONCE]):
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
