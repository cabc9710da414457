"""Claims of workers on rows and runs: leases, putting back, closing, pause and resume."""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.template.defaultfilters import floatformat

from benchmarks import audit
from benchmarks.engine import costs
from benchmarks.engine.data_folder import data_folder
from benchmarks.engine.task import Task
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.parsing import clean_text
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem

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


LEASE = Lease(timedelta(minutes=10))
RENEW_EVERY = timedelta(seconds=30)
MAX_ATTEMPTS = 3
GOING = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING]
OPEN = [*GOING, JudgeRun.State.PAUSED]
"""Neither done nor cancelled."""


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come, in subjects of its task."""

    n_total: int
    n_done: int
    n_failed: int

    @property
    def n_pending(self) -> int:
        return self.n_total - self.n_done - self.n_failed


@transaction.atomic
def claim(
    *, run: JudgeRun, now: datetime, passed_over: Iterable[int], n_most: int, states: Collection[str] = GOING
) -> list[JudgeRunItem]:
    """Take the next items that no worker and no file of requests holds, while the run is in one of the states.

    SQLite's writers are alone, PostgreSQL skips locked rows.
    """
    state = JudgeRun.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
    if state not in states:
        return []
    task = TASKS[run.task]
    items = list(
        run.items.filter(LEASE.free(now), state=JudgeRunItem.State.PENDING, batch=None)
        .exclude(pk__in=list(passed_over))
        .select_for_update(skip_locked=True, of=("self",))
        .select_related(task.related or None)
        .order_by(task.order_by, "pk")[:n_most]
    )
    if items:
        LEASE.take(_rows(run, items), now=now)
        JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PENDING).update(state=JudgeRun.State.RUNNING)
    return items


def _rows(run: JudgeRun, items: Iterable[JudgeRunItem]) -> QuerySet[JudgeRunItem, JudgeRunItem]:
    return run.items.filter(pk__in=[item.pk for item in items])


def keep(*, run: JudgeRun, items: Iterable[JudgeRunItem], now: datetime) -> None:
    """Renew the claims of a worker that is still at it."""
    LEASE.renew(_rows(run, items), now=now)


def keeper(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Callable[[], datetime]) -> Callable[[], None]:
    """Called by a worker while its work goes on: renews the claims on items, every half minute at most."""
    renewed_at = clock()

    def keep_now_and_then() -> None:
        nonlocal renewed_at
        if (now := clock()) - renewed_at >= RENEW_EVERY:
            renewed_at = now
            keep(run=run, items=items, now=now)

    return keep_now_and_then


def let_go(*, run: JudgeRun, items: Iterable[JudgeRunItem]) -> None:
    """Others need not wait for the lease of what is not done."""
    LEASE.release(_rows(run, items).filter(state=JudgeRunItem.State.PENDING))


def mark_done(*, run: JudgeRun, items: Sequence[JudgeRunItem]) -> None:
    """Everything that was asked on these items is answered."""
    if items:
        _rows(run, items).update(state=JudgeRunItem.State.DONE, error="")


def put_back(*, item: JudgeRunItem, error: Exception) -> None:
    """An item that the judge raised on is free again; after MAX_ATTEMPTS it is failed and counted."""
    item.refresh_from_db(fields=["state", "attempts"])
    if item.state != JudgeRunItem.State.PENDING:
        return
    item.attempts += 1
    item.error = clean_text(f"{type(error).__name__}: {error}")[:2000]
    item.claimed_at, item.claimed_by = None, ""
    if item.attempts >= MAX_ATTEMPTS:
        item.state = JudgeRunItem.State.FAILED
    item.save(update_fields=["attempts", "error", "claimed_at", "claimed_by", "state"])


@transaction.atomic
def finish(*, run: JudgeRun, now: datetime, states: Collection[str] = GOING) -> RunProgress:
    """Close the run when nothing is pending; items held by another worker leave it open."""
    JudgeRun._base_manager.select_for_update().get(pk=run.pk)  # it may just be given more
    done = run_progress(run)
    if done.n_pending == 0:
        going = JudgeRun.objects.filter(pk=run.pk, state__in=states)
        if going.update(state=JudgeRun.State.DONE, finished_at=now):
            TASKS[run.task].finished(run, now=now)
    run.refresh_from_db(fields=["state", "finished_at"])
    return done


def run_progress(run: JudgeRun) -> RunProgress:
    """Count a run's items by state, in one query."""
    counts = run.items.aggregate(
        n_total=Count("pk"),
        n_done=Count("pk", filter=Q(state=JudgeRunItem.State.DONE)),
        n_failed=Count("pk", filter=Q(state=JudgeRunItem.State.FAILED)),
    )
    return RunProgress(**counts)


@transaction.atomic
def cancel_run(*, run: JudgeRun, now: datetime, by: Any = None) -> bool:
    """Stop a run after the batch in flight; True if it was still going."""
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=OPEN).update(
        state=JudgeRun.State.CANCELLED, finished_at=now
    )
    if changed:
        audit.record(actor=by, action="run.cancelled", target=run, now=now)
    return bool(changed)


def hold(*, run: JudgeRun, message: str) -> bool:
    """Stop a run until a person resumes it, and say why; True if it was going."""
    going = JudgeRun.objects.filter(pk=run.pk, state__in=GOING)
    return bool(going.update(state=JudgeRun.State.PAUSED, message=message))


@transaction.atomic
def pause_run(*, run: JudgeRun, now: datetime, by: Any = None) -> bool:
    """Stop a run after what is in flight, to be resumed later; True if it was going."""
    changed = hold(run=run, message=f"Paused by hand at {now:%Y-%m-%d %H:%M} UTC.")
    if changed:
        audit.record(actor=by, action="run.paused", target=run, now=now)
    return changed


@transaction.atomic
def resume_run(*, run: JudgeRun, now: datetime | None = None, by: Any = None) -> bool:
    """Let a paused run go on; True if it was paused. What it has is kept, and nothing of it is asked again.

    With `now` the audit log says who did it.
    """
    paused = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PAUSED)
    changed = paused.update(state=JudgeRun.State.PENDING, message="")
    if changed and now is not None:
        audit.record(actor=by, action="run.resumed", target=run, now=now)
    return bool(changed)


def waiting_items(*, judge: Judge, task: str = JudgeRun.Task.COVERAGE) -> QuerySet[JudgeRunItem, JudgeRunItem]:
    """Items that wait in some run of this judge for a task: for a worker, claimed or not, or in batch files.

    A paused run keeps only what is in files. Whoever asks for the rest of it again gets it at once, and the paused
    run finds it answered when it is resumed.
    """
    is_waiting = Q(run__state__in=GOING) | Q(run__state=JudgeRun.State.PAUSED, batch__isnull=False)
    return JudgeRunItem.objects.filter(
        is_waiting, run__judge=judge, run__task=task, state=JudgeRunItem.State.PENDING
    )


def unfinished_runs(*, now: datetime, judge: Judge | None = None, task: str = "") -> list[UUID]:
    """Runs with work that nobody holds: new ones whose message was lost, and those of a dead worker.

    Also those that only want closing, since their worker died after the last batch.
    """
    waiting = JudgeRunItem.objects.filter(run=OuterRef("pk"), state=JudgeRunItem.State.PENDING)
    free = waiting.filter(LEASE.free(now), batch=None)
    runs = JudgeRun.objects.filter(Exists(free) | ~Exists(waiting), state__in=GOING)
    if judge is not None:
        runs = runs.filter(judge=judge)
    if task:
        runs = runs.filter(task=task)
    return list(runs.order_by("created_at").values_list("uid", flat=True))


def worker_task(run: JudgeRun) -> str:
    """The path of the Celery task that works on a run: what asks a server waits in a queue of its own."""
    asks_server = run.judge.kind in {Judge.Kind.OPENAI, Judge.Kind.SEARCH}
    return "benchmarks.tasks.run_judge" if asks_server else "benchmarks.tasks.run_offline"


# What the page of a run shows


@dataclass(frozen=True)
class RunState:
    """A run with its counts and its cost."""

    run: JudgeRun
    progress: RunProgress
    n_answers: int
    n_invalid: int
    n_failed_calls: int
    cost: costs.Cost
    n_lost: int = 0
    lost_dollars: Decimal | None = None
    n_on_file: int = 0
    """Requests that wait in batch files for their replies."""

    @property
    def task(self) -> Task:
        return TASKS[self.run.task]

    @property
    def n_counted(self) -> int:
        """Answers that can be used."""
        return self.n_answers - self.n_invalid

    @property
    def has_answers(self) -> bool:
        """Whether its answers are rows that can be read one by one."""
        return self.task.answers() is not None

    @property
    def progress_text(self) -> str:
        done, total = floatformat(self.progress.n_done, "0g"), floatformat(self.progress.n_total, "0g")
        return self.task.labels.progress % {"title": self.task.title, "done": done, "total": total}

    @property
    def is_working(self) -> bool:
        """Whether it is worth looking again."""
        return self.run.state in GOING

    @property
    def can_resume(self) -> bool:
        """Whether a person stopped it, or a server did."""
        return self.run.state == JudgeRun.State.PAUSED


def run_state(run: JudgeRun) -> RunState:
    """Counts of a run; a fixed number of queries."""
    n_answers, n_invalid = TASKS[run.task].results_of(run)
    failed = run.calls.filter(state=JudgeCall.State.FAILED).count()
    progress, cost = run_progress(run), costs.cost_of(run.calls.all())
    on_file = run.calls.filter(state=JudgeCall.State.ASKED).exclude(batch=None).count()
    return RunState(run, progress, n_answers, n_invalid, failed, cost, *costs.lost_dollars(run), on_file)
