"""Who works on what of a run, whatever its task: claims with a lease, putting back, closing, pause and resume.

Items are claimed for the length of `LEASE`; when their worker dies, another takes them over after that. Those
whose requests are in a file (`batches`) wait for its replies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _

from benchmarks import audit
from benchmarks.engine import budgets, costs
from benchmarks.engine.leases import Lease
from benchmarks.engine.task import Task
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.cleaning import clean_text
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem

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
        """What is still to do."""
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
        .select_related(task.related)
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
    """What a worker calls while its work goes on: it renews the claims on items, every half minute at most."""
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


def left_in(worked_on: Sequence[JudgeRun]) -> QuerySet[JudgeRunItem, JudgeRunItem]:
    """Items that were left in those of these runs that are paused now."""
    return JudgeRunItem.objects.filter(
        run__in=worked_on, run__state=JudgeRun.State.PAUSED, state=JudgeRunItem.State.PENDING
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
        """What is done in it, with the words for its numbers."""
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
        """How far it is, in words."""
        done, total = floatformat(self.progress.n_done, "0g"), floatformat(self.progress.n_total, "0g")
        return _(self.task.labels.progress) % {"title": self.task.title, "done": done, "total": total}

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
    return RunState(run, progress, n_answers, n_invalid, failed, cost, *budgets.lost_dollars(run), on_file)
