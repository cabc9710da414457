"""Who works on what of a run, whatever is judged in it: claims with a lease, putting back, closing, stopping.

A batch is claimed for `LEASE`; when its worker dies, another takes it over after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from benchmarks import audit, workers
from benchmarks.judges.cleaning import clean_text
from benchmarks.models import Judge, JudgeRun, JudgeRunItem

LEASE = timedelta(minutes=10)
MAX_ATTEMPTS = 3
GOING = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING]
_PLACE = {
    JudgeRun.Task.COVERAGE: ("summary", "summary__haystack"),
    JudgeRun.Task.AUTODS: ("key_point", "key_point__question"),
}
_PLACE_OF_RESPONSES = ("response__question", "response__question")


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come, in summaries or responses."""

    n_total: int
    n_done: int
    n_failed: int

    @property
    def n_pending(self) -> int:
        """Texts still to judge."""
        return self.n_total - self.n_done - self.n_failed


@transaction.atomic
def claim(*, run: JudgeRun, now: datetime, passed_over: Iterable[int], n_most: int) -> list[JudgeRunItem]:
    """Take the next batch, unless another worker holds it; SQLite's writers are alone, PostgreSQL skips locked."""
    state = JudgeRun.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
    if state not in GOING:
        return []
    related, place = _PLACE.get(JudgeRun.Task(run.task), _PLACE_OF_RESPONSES)
    items = list(
        run.items.filter(_is_free(now), state=JudgeRunItem.State.PENDING)
        .exclude(pk__in=list(passed_over))
        .select_for_update(skip_locked=True, of=("self",))
        .select_related(related)
        .order_by(place, "pk")[:n_most]
    )
    if items:
        mine = run.items.filter(pk__in=[item.pk for item in items])
        mine.update(claimed_at=now, claimed_by=workers.my_name())
        JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PENDING).update(state=JudgeRun.State.RUNNING)
    return items


def _is_free(now: datetime) -> Q:
    """Items that nobody holds: never claimed, or by a worker that is gone or has not been heard of."""
    return Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE) | Q(claimed_by__in=workers.gone())


def let_go(*, run: JudgeRun, items: Sequence[JudgeRunItem]) -> None:
    """Others need not wait for the lease."""
    run.items.filter(pk__in=[item.pk for item in items]).update(claimed_at=None, claimed_by="")


def put_back(*, item: JudgeRunItem, error: Exception) -> None:
    """A text that the judge raised on is free again; after MAX_ATTEMPTS it is failed and counted."""
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
def finish(*, run: JudgeRun, now: datetime) -> RunProgress:
    """Close the run when nothing is pending; items held by another worker leave it open."""
    done = run_progress(run)
    if done.n_pending == 0:
        JudgeRun.objects.filter(pk=run.pk, state__in=GOING).update(state=JudgeRun.State.DONE, finished_at=now)
    run.refresh_from_db(fields=["state", "finished_at"])
    return done


def run_progress(run: JudgeRun) -> RunProgress:
    """Count a run's texts by state, in one query."""
    counts = run.items.aggregate(
        n_total=Count("pk"),
        n_done=Count("pk", filter=Q(state=JudgeRunItem.State.DONE)),
        n_failed=Count("pk", filter=Q(state=JudgeRunItem.State.FAILED)),
    )
    return RunProgress(**counts)


@transaction.atomic
def cancel_run(*, run: JudgeRun, now: datetime, by: Any = None) -> bool:
    """Stop a run after the batch in flight; True if it was still going."""
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=[*GOING, JudgeRun.State.PAUSED]).update(
        state=JudgeRun.State.CANCELLED, finished_at=now
    )
    if changed:
        audit.record(actor=by, action="run.cancelled", target=run, now=now)
    return bool(changed)


@transaction.atomic
def pause_run(*, run: JudgeRun, now: datetime, by: Any = None) -> bool:
    """Stop a run after what is in flight, to be resumed later; True if it was going."""
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=GOING).update(
        state=JudgeRun.State.PAUSED, message=f"Paused by hand at {now:%Y-%m-%d %H:%M} UTC."
    )
    if changed:
        audit.record(actor=by, action="run.paused", target=run, now=now)
    return bool(changed)


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
    """Texts that wait in some run of this judge for a task, claimed or not."""
    return JudgeRunItem.objects.filter(
        run__judge=judge, run__task=task, run__state__in=GOING, state=JudgeRunItem.State.PENDING
    )


def unfinished_runs(*, now: datetime, judge: Judge | None = None, task: str = "") -> list[UUID]:
    """Runs with work that nobody holds: new ones whose message was lost, and those of a dead worker.

    Also those that only want closing, since their worker died after the last batch.
    """
    waiting = JudgeRunItem.objects.filter(run=OuterRef("pk"), state=JudgeRunItem.State.PENDING)
    free = waiting.filter(_is_free(now))
    runs = JudgeRun.objects.filter(Exists(free) | ~Exists(waiting), state__in=GOING)
    if judge is not None:
        runs = runs.filter(judge=judge)
    if task:
        runs = runs.filter(task=task)
    return list(runs.order_by("created_at").values_list("uid", flat=True))
