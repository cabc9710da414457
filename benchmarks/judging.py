"""Ask judges for verdicts: a run is rows, a worker claims them in batches, nothing is asked twice.

The rules of a single judgment live in `benchmarks.judges`; here are transactions, claims and resuming.
A batch is claimed for `LEASE`; when its worker dies, another takes it over after that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Max, Q

from benchmarks import backgrounds
from benchmarks.judges import registry
from benchmarks.judges.base import CoverageVerdict, InsightRef, SummaryToJudge
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, Summary, Verdict

BATCH = 200
LEASE = timedelta(minutes=10)
MAX_ATTEMPTS = 3

Clock = Callable[[], datetime]


class JudgeUnavailable(Exception):
    """This kind of judge cannot be run, only imported."""


@dataclass(frozen=True)
class RunProgress:
    """How far a run has come, in summaries."""

    n_total: int
    n_done: int
    n_failed: int

    @property
    def n_pending(self) -> int:
        """Summaries still to judge."""
        return self.n_total - self.n_done - self.n_failed


def config_hash(config: Mapping[str, Any]) -> str:
    """Hash a judge's configuration, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@transaction.atomic
def ensure_judge(*, name: str, kind: str, config: Mapping[str, Any], now: datetime, note: str = "") -> Judge:
    """Return the judge of this name and configuration; a new configuration is a new version."""
    digest = config_hash(config)
    versions = Judge.objects.filter(name=name)
    found = versions.filter(kind=kind, config_sha256=digest).first()
    if found is not None:
        return found
    latest = versions.aggregate(latest=Max("version"))["latest"] or 0
    return Judge.objects.create(
        name=name,
        version=latest + 1,
        kind=kind,
        config=dict(config),
        config_sha256=digest,
        note=note,
        created_at=now,
    )


def default_judge(*, now: datetime) -> Judge:
    """Return the offline judge as the code of today configures it."""
    return ensure_judge(name="lexical", kind=Judge.Kind.LEXICAL, config=registry.lexical_config(), now=now)


@transaction.atomic
def request_run(
    *, judge: Judge, summaries: Iterable[Summary], reason: str, now: datetime, requested_by: Any = None
) -> JudgeRun | None:
    """Queue the summaries that this judge has not yet judged; None when there are none.

    Raises:
        JudgeUnavailable: the judge's verdicts can only be imported.
    """
    if judge.kind == Judge.Kind.IMPORTED:
        raise JudgeUnavailable(f"{judge} was imported; it cannot be asked again.")
    waiting = _not_yet_judged(judge=judge, summaries=summaries)
    if not waiting:
        return None
    run = JudgeRun.objects.create(judge=judge, reason=reason, requested_by=requested_by, created_at=now)
    JudgeRunItem.objects.bulk_create(
        [JudgeRunItem(run=run, summary=summary) for summary in waiting], batch_size=500
    )
    return run


def _not_yet_judged(*, judge: Judge, summaries: Iterable[Summary]) -> list[Summary]:
    """Keep summaries with an insight lacking this judge's verdict, and not already queued for it."""
    wanted = {summary.pk: summary for summary in summaries}
    rows = (
        Summary.objects.filter(pk__in=wanted)
        .annotate(
            n_insights=Count("subtopic__insights", distinct=True),
            n_verdicts=Count("verdicts", filter=Q(verdicts__judge=judge, verdicts__repeat=0), distinct=True),
        )
        .values_list("pk", "n_insights", "n_verdicts")
    )
    missing = {pk for pk, n_insights, n_verdicts in rows if n_verdicts < n_insights}
    queued = set(
        JudgeRunItem.objects.filter(
            run__judge=judge,
            run__state__in=[JudgeRun.State.PENDING, JudgeRun.State.RUNNING],
            state=JudgeRunItem.State.PENDING,
            summary__in=missing,
        ).values_list("summary", flat=True)
    )
    return [summary for pk, summary in wanted.items() if pk in missing and pk not in queued]


def run_pending(
    *, run: JudgeRun, clock: Clock, progress: Callable[[RunProgress], None] | None = None
) -> RunProgress:
    """Judge what is left of a run, batch by batch; stops early when the run is cancelled or paused."""
    while True:
        items = _claim(run=run, now=clock())
        if not items:
            break
        _judge_batch(run=run, items=items, clock=clock)
        if progress is not None:
            progress(run_progress(run))
    return _finish(run=run, now=clock())


@transaction.atomic
def _claim(*, run: JudgeRun, now: datetime) -> list[JudgeRunItem]:
    """Take the next batch, unless another worker holds it; SQLite's writers are alone, PostgreSQL skips locked."""
    state = JudgeRun.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
    if state not in {JudgeRun.State.PENDING, JudgeRun.State.RUNNING}:
        return []
    free = Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE)
    items = list(
        run.items.filter(free, state=JudgeRunItem.State.PENDING)
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("summary")
        .order_by("summary__haystack", "pk")[:BATCH]
    )
    if items:
        run.items.filter(pk__in=[item.pk for item in items]).update(claimed_at=now)
        JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PENDING).update(state=JudgeRun.State.RUNNING)
    return items


def _judge_batch(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> None:
    """Ask the judge outside any transaction, then store verdicts and item states together."""
    try:
        found = judge_summaries(judge=run.judge, summaries=[item.summary for item in items])
    except Exception as error:
        _put_back(items=items, error=error)
        raise
    now = clock()
    rows = [
        _verdict(judge=run.judge, run=run, summary_id=pk, insight_id=insight_id, verdict=verdict, now=now)
        for (pk, insight_id), verdict in found.items()
    ]
    with transaction.atomic():
        Verdict.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        JudgeRunItem.objects.filter(pk__in=[item.pk for item in items]).update(
            state=JudgeRunItem.State.DONE, error=""
        )


def _put_back(*, items: Sequence[JudgeRunItem], error: Exception) -> None:
    """A batch that raised is free again; after MAX_ATTEMPTS its items are failed and counted."""
    for item in items:
        item.attempts += 1
        item.error = f"{type(error).__name__}: {error}"[:2000]
        item.claimed_at = None
        if item.attempts >= MAX_ATTEMPTS:
            item.state = JudgeRunItem.State.FAILED
    JudgeRunItem.objects.bulk_update(items, ["attempts", "error", "claimed_at", "state"])


def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> dict[tuple[int, int], CoverageVerdict]:
    """Ask one judge about whole summaries; {(summary pk, insight pk): verdict}. Stores nothing."""
    asked = registry.coverage_judge(judge.kind, judge.config)
    found: dict[tuple[int, int], CoverageVerdict] = {}
    for haystack_id, group in _by_haystack(summaries).items():
        insights = backgrounds.insights_by_subtopic({summary.subtopic_id for summary in group})
        background = backgrounds.of_haystack(haystack_id)
        batch = [
            SummaryToJudge(
                key=str(summary.pk),
                lines=tuple(summary.lines),
                insights=tuple(InsightRef(key=str(pk), text=text) for pk, text in insights[summary.subtopic_id]),
            )
            for summary in group
        ]
        for summary, verdicts in zip(group, asked.judge_coverage(batch, background), strict=True):
            found |= {(summary.pk, int(verdict.insight_key)): verdict for verdict in verdicts}
    return found


def _by_haystack(summaries: Sequence[Summary]) -> dict[int, list[Summary]]:
    groups: dict[int, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.haystack_id, []).append(summary)
    return groups


def _verdict(
    *, judge: Judge, run: JudgeRun, summary_id: int, insight_id: int, verdict: CoverageVerdict, now: datetime
) -> Verdict:
    return Verdict(
        judge=judge,
        summary_id=summary_id,
        insight_id=insight_id,
        coverage=verdict.coverage,
        lines=list(verdict.lines),
        is_linked=bool(verdict.lines),
        score=verdict.score,
        run=run,
        created_at=now,
    )


@transaction.atomic
def _finish(*, run: JudgeRun, now: datetime) -> RunProgress:
    """Close the run when nothing is pending; items held by another worker leave it open."""
    done = run_progress(run)
    if done.n_pending == 0:
        JudgeRun.objects.filter(pk=run.pk, state__in=[JudgeRun.State.PENDING, JudgeRun.State.RUNNING]).update(
            state=JudgeRun.State.DONE, finished_at=now
        )
    run.refresh_from_db(fields=["state", "finished_at"])
    return done


def run_progress(run: JudgeRun) -> RunProgress:
    """Count a run's summaries by state, in one query."""
    counts = run.items.aggregate(
        n_total=Count("pk"),
        n_done=Count("pk", filter=Q(state=JudgeRunItem.State.DONE)),
        n_failed=Count("pk", filter=Q(state=JudgeRunItem.State.FAILED)),
    )
    return RunProgress(**counts)


def cancel_run(*, run: JudgeRun, now: datetime) -> bool:
    """Stop a run after the batch in flight; True if it was still going."""
    open_states = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING, JudgeRun.State.PAUSED]
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=open_states).update(
        state=JudgeRun.State.CANCELLED, finished_at=now
    )
    return bool(changed)


def unfinished_runs(*, now: datetime) -> list[UUID]:
    """Runs with work that nobody holds: new ones whose message was lost, and those of a dead worker."""
    free = Q(items__claimed_at=None) | Q(items__claimed_at__lt=now - LEASE)
    return list(
        JudgeRun.objects.filter(
            free,
            state__in=[JudgeRun.State.PENDING, JudgeRun.State.RUNNING],
            items__state=JudgeRunItem.State.PENDING,
        )
        .order_by("created_at")
        .values_list("uid", flat=True)
        .distinct()
    )
