"""Ask judges for verdicts: a run is rows, a worker claims them in batches, nothing is asked twice.

The rules of a single judgment live in `benchmarks.judges`; here are transactions, claims and resuming.
A batch is claimed for `LEASE`; when its worker dies, another takes it over after that. A summary that the
judge fails on is found alone, and the rest of its batch is stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from benchmarks import audit, backgrounds, model_judging, workers
from benchmarks.judges import registry
from benchmarks.judges.base import Background, CoverageVerdict, InsightRef, SummaryToJudge
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, Summary, Verdict

BATCH = 200
BATCH_OF_MODELS = 40
"""Summaries in a claim where every insight is a request; some seven insights each."""
LEASE = timedelta(minutes=10)
MAX_ATTEMPTS = 3
IN_A_QUERY = 5000
"""Keys in one query; databases limit them."""

Clock = Callable[[], datetime]
_GOING = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING]


class JudgeUnavailable(Exception):
    """This judge cannot be asked: it was imported, or its server is not allowed."""


@dataclass(frozen=True)
class ModelOptions:
    """How a run asks a model: requests at a time, answers per insight, and a cap in US dollars (None: no cap)."""

    concurrency: int = 16
    repeats: int = 1
    budget: Decimal | None = None


@dataclass(frozen=True)
class Judged:
    """A verdict, and the hash of what it was given on."""

    verdict: CoverageVerdict
    input_sha256: str


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
    *,
    judge: Judge,
    summaries: Iterable[Summary],
    reason: str,
    now: datetime,
    requested_by: Any = None,
    options: ModelOptions | None = None,
) -> JudgeRun | None:
    """Queue the summaries that this judge has not yet judged; None when there are none.

    Raises:
        JudgeUnavailable: the judge's verdicts can only be imported, or its configuration cannot be used.
    """
    _check_available(judge)
    options = options or ModelOptions()
    repeats = options.repeats if judge.kind == Judge.Kind.OPENAI else 1
    waiting = not_yet_judged(judge=judge, summaries=summaries, repeats=repeats)
    if not waiting:
        return None
    run = JudgeRun.objects.create(
        judge=judge,
        reason=reason,
        requested_by=requested_by,
        created_at=now,
        concurrency=options.concurrency,
        repeats=repeats,
        budget=options.budget,
    )
    if requested_by is not None:
        audit.record(actor=requested_by, action="run.requested", target=run, now=now, summaries=len(waiting))
    JudgeRunItem.objects.bulk_create(
        [JudgeRunItem(run=run, summary=summary) for summary in waiting], batch_size=500
    )
    return run


def _check_available(judge: Judge) -> None:
    if judge.kind == Judge.Kind.IMPORTED:
        raise JudgeUnavailable(f"{judge} was imported; it cannot be asked again.")
    if judge.kind == Judge.Kind.OPENAI:
        try:
            model_judging.config_of(judge)
        except ValueError as error:
            raise JudgeUnavailable(f"{judge} cannot be asked: {error}") from error


def not_yet_judged(*, judge: Judge, summaries: Iterable[Summary], repeats: int = 1) -> list[Summary]:
    """Keep summaries with an insight lacking this judge's verdict, and not already queued for it."""
    wanted = {summary.pk: summary for summary in summaries}
    counts = verdict_counts(judge=judge, summaries=wanted, repeats=repeats)
    missing = {pk for pk, (n_insights, n_verdicts) in counts.items() if n_verdicts < n_insights * repeats}
    queued = set(waiting_items(judge=judge).values_list("summary", flat=True))
    return [summary for pk, summary in wanted.items() if pk in missing and pk not in queued]


def waiting_items(*, judge: Judge) -> QuerySet[JudgeRunItem, JudgeRunItem]:
    """Summaries that wait in some run of this judge, claimed or not."""
    return JudgeRunItem.objects.filter(run__judge=judge, run__state__in=_GOING, state=JudgeRunItem.State.PENDING)


def verdict_counts(*, judge: Judge, summaries: Iterable[int], repeats: int = 1) -> dict[int, tuple[int, int]]:
    """{summary pk: (insights of its subtopic, this judge's verdicts on them, first ones unless more repeats)}."""
    keys, found = list(summaries), {}
    for start in range(0, len(keys), IN_A_QUERY):
        rows = Summary.objects.filter(pk__in=keys[start : start + IN_A_QUERY]).annotate(
            n_insights=Count("subtopic__insights", distinct=True),
            n_verdicts=Count(
                "verdicts", filter=Q(verdicts__judge=judge, verdicts__repeat__lt=repeats), distinct=True
            ),
        )
        for pk, n_insights, n_verdicts in rows.values_list("pk", "n_insights", "n_verdicts"):
            found[pk] = (n_insights, n_verdicts)
    return found


def run_pending(
    *, run: JudgeRun, clock: Clock, progress: Callable[[RunProgress], None] | None = None
) -> RunProgress:
    """Judge what is left of a run, batch by batch; stops early when the run is cancelled or paused.

    Summaries that the judge fails on are passed over, and the first error is raised when all others are done:
    calling it again tries them again, `MAX_ATTEMPTS` times in all.
    """
    errors: dict[int, Exception] = {}
    while items := _claim(run=run, now=clock(), passed_over=errors):
        errors |= _judge_batch(run=run, items=items, clock=clock)
        if progress is not None:
            progress(run_progress(run))
    done = _finish(run=run, now=clock())
    for error in errors.values():
        raise error
    return done


@transaction.atomic
def _claim(*, run: JudgeRun, now: datetime, passed_over: Iterable[int]) -> list[JudgeRunItem]:
    """Take the next batch, unless another worker holds it; SQLite's writers are alone, PostgreSQL skips locked."""
    state = JudgeRun.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
    if state not in _GOING:
        return []
    free = _is_free(now)
    n_most = BATCH_OF_MODELS if run.judge.kind == Judge.Kind.OPENAI else BATCH
    items = list(
        run.items.filter(free, state=JudgeRunItem.State.PENDING)
        .exclude(pk__in=list(passed_over))
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("summary")
        .order_by("summary__haystack", "pk")[:n_most]
    )
    if items:
        mine = run.items.filter(pk__in=[item.pk for item in items])
        mine.update(claimed_at=now, claimed_by=workers.my_name())
        JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PENDING).update(state=JudgeRun.State.RUNNING)
    return items


def _is_free(now: datetime) -> Q:
    """Items that nobody holds: never claimed, or by a worker that is gone or has not been heard of."""
    return Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE) | Q(claimed_by__in=workers.gone())


def _judge_batch(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Ask the judge outside any transaction, then store verdicts and item states together; errors by item pk."""
    if run.judge.kind == Judge.Kind.OPENAI:
        failed = model_judging.judge_items(run=run, items=items, clock=clock)
        for item in items:
            if item.pk in failed:
                _put_back(item=item, error=failed[item.pk])
        return failed
    try:
        found = judge_summaries(judge=run.judge, summaries=[item.summary for item in items])
    except Exception as error:
        if len(items) > 1:
            errors: dict[int, Exception] = {}
            for item in items:
                errors |= _judge_batch(run=run, items=[item], clock=clock)
            return errors
        _put_back(item=items[0], error=error)
        return {items[0].pk: error}
    except BaseException:  # interrupted: others need not wait for the lease
        run.items.filter(pk__in=[item.pk for item in items]).update(claimed_at=None, claimed_by="")
        raise
    now = clock()
    rows = [
        _verdict(run=run, summary_id=pk, insight_id=insight_id, judged=judged, now=now)
        for (pk, insight_id), judged in found.items()
    ]
    with transaction.atomic():
        Verdict.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        JudgeRunItem.objects.filter(pk__in=[item.pk for item in items]).update(
            state=JudgeRunItem.State.DONE, error=""
        )
    return {}


def _put_back(*, item: JudgeRunItem, error: Exception) -> None:
    """A summary that raised is free again; after MAX_ATTEMPTS it is failed and counted."""
    item.attempts += 1
    item.error = f"{type(error).__name__}: {error}"[:2000]
    item.claimed_at, item.claimed_by = None, ""
    if item.attempts >= MAX_ATTEMPTS:
        item.state = JudgeRunItem.State.FAILED
    item.save(update_fields=["attempts", "error", "claimed_at", "claimed_by", "state"])


def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> dict[tuple[int, int], Judged]:
    """Ask one judge about whole summaries; {(summary pk, insight pk): verdict}. Stores nothing."""
    asked = registry.coverage_judge(judge.kind, judge.config)
    found: dict[tuple[int, int], Judged] = {}
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
        for given, verdicts in zip(batch, asked.judge_coverage(batch, background), strict=True):
            digest = _input_hash(given, background)
            found |= {(int(given.key), int(row.insight_key)): Judged(row, digest) for row in verdicts}
    return found


def _input_hash(summary: SummaryToJudge, background: Background) -> str:
    """Hash all that a verdict on this summary depends on, beside the judge's configuration."""
    content = [summary.lines, [insight.text for insight in summary.insights], background.version]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _by_haystack(summaries: Sequence[Summary]) -> dict[int, list[Summary]]:
    groups: dict[int, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.haystack_id, []).append(summary)
    return groups


def _verdict(*, run: JudgeRun, summary_id: int, insight_id: int, judged: Judged, now: datetime) -> Verdict:
    verdict = judged.verdict
    return Verdict(
        judge_id=run.judge_id,
        summary_id=summary_id,
        insight_id=insight_id,
        coverage=verdict.coverage,
        lines=list(verdict.lines),
        is_linked=bool(verdict.lines),
        score=verdict.score,
        input_sha256=judged.input_sha256,
        run=run,
        created_at=now,
    )


@transaction.atomic
def _finish(*, run: JudgeRun, now: datetime) -> RunProgress:
    """Close the run when nothing is pending; items held by another worker leave it open."""
    done = run_progress(run)
    if done.n_pending == 0:
        JudgeRun.objects.filter(pk=run.pk, state__in=_GOING).update(state=JudgeRun.State.DONE, finished_at=now)
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
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=[*_GOING, JudgeRun.State.PAUSED]).update(
        state=JudgeRun.State.CANCELLED, finished_at=now
    )
    return bool(changed)


def pause_run(*, run: JudgeRun, now: datetime) -> bool:
    """Stop a run after what is in flight, to be resumed later; True if it was going."""
    changed = JudgeRun.objects.filter(pk=run.pk, state__in=_GOING).update(
        state=JudgeRun.State.PAUSED, message=f"Paused by hand at {now:%Y-%m-%d %H:%M} UTC."
    )
    return bool(changed)


def resume_run(*, run: JudgeRun) -> bool:
    """Let a paused run go on; True if it was paused. What it has is kept, and nothing of it is asked again."""
    paused = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.PAUSED)
    return bool(paused.update(state=JudgeRun.State.PENDING, message=""))


def unfinished_runs(*, now: datetime, judge: Judge | None = None) -> list[UUID]:
    """Runs with work that nobody holds: new ones whose message was lost, and those of a dead worker.

    Also those that only want closing, since their worker died after the last batch.
    """
    waiting = JudgeRunItem.objects.filter(run=OuterRef("pk"), state=JudgeRunItem.State.PENDING)
    free = waiting.filter(_is_free(now))
    runs = JudgeRun.objects.filter(Exists(free) | ~Exists(waiting), state__in=_GOING)
    if judge is not None:
        runs = runs.filter(judge=judge)
    return list(runs.order_by("created_at").values_list("uid", flat=True))
