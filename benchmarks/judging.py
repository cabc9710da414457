"""Ask judges for verdicts: a run is rows, a worker claims them in batches, nothing is asked twice.

The rules of a single judgment live in `benchmarks.judges`, claims in `benchmarks.claims`, and what is special to
responses in `benchmarks.recall`. A text that the judge fails on is found alone; the rest of its batch is stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, Max, Q

from benchmarks import audit, backgrounds, model_judging, model_tasks
from benchmarks.claims import (
    LEASE,
    MAX_ATTEMPTS,
    RunProgress,
    cancel_run,
    claim,
    finish,
    let_go,
    pause_run,
    put_back,
    resume_run,
    run_progress,
    unfinished_runs,
    waiting_items,
)
from benchmarks.judges import registry
from benchmarks.judges.base import Background, CoverageVerdict, InsightRef, SummaryToJudge
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, KeyPoint, Response, Summary, Verdict
from benchmarks.recall import lacking, offline

__all__ = [
    "LEASE",
    "MAX_ATTEMPTS",
    "JudgeUnavailable",
    "Judged",
    "ModelOptions",
    "RunProgress",
    "cancel_run",
    "config_hash",
    "default_judge",
    "ensure_judge",
    "judge_summaries",
    "not_yet_judged",
    "pause_run",
    "request_autods_run",
    "request_response_run",
    "request_run",
    "resume_run",
    "run_pending",
    "run_progress",
    "unfinished_runs",
    "verdict_counts",
    "waiting_items",
]  # fmt: skip

BATCH = 200
BATCH_OF_MODELS = 120
"""Texts in a claim where every insight is a request; some seven insights each."""
IN_A_QUERY = 5000
"""Keys in one query; databases limit them."""

Clock = Callable[[], datetime]


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
    options = replace(options, repeats=options.repeats if judge.kind == Judge.Kind.OPENAI else 1)
    waiting = not_yet_judged(judge=judge, summaries=summaries, repeats=options.repeats)
    run = _Asked(judge=judge, reason=reason, by=requested_by, options=options, now=now)
    return run.queue([JudgeRunItem(summary=summary) for summary in waiting], summaries=len(waiting))


@transaction.atomic
def request_response_run(
    *,
    judge: Judge,
    task: str,
    responses: Iterable[Response],
    reason: str,
    now: datetime,
    requested_by: Any = None,
    options: ModelOptions | None = None,
) -> JudgeRun | None:
    """Queue the responses on which this judge has not yet done a task of `JudgeRun.Task`; None if there are none.

    Support is asked of the points that the same judge extracted: a response without such points is not queued.
    Only recall has repeats.

    Raises:
        JudgeUnavailable: the judge's verdicts can only be imported, or its configuration cannot be used.
    """
    _check_available(judge)
    options = options or ModelOptions()
    several = judge.kind == Judge.Kind.OPENAI and task == JudgeRun.Task.RECALL
    options = replace(options, repeats=options.repeats if several else 1)
    waiting = lacking.responses(judge=judge, task=task, among=responses, repeats=options.repeats)
    run = _Asked(judge=judge, task=task, reason=reason, by=requested_by, options=options, now=now)
    items = [JudgeRunItem(response=response) for response in waiting]
    return run.queue(items, task=str(task), responses=len(waiting))


@transaction.atomic
def request_autods_run(
    *,
    judge: Judge,
    key_points: Iterable[KeyPoint],
    reason: str,
    now: datetime,
    requested_by: Any = None,
    options: ModelOptions | None = None,
) -> JudgeRun | None:
    """Queue the key points that have no AutoDS score; None if there are none.

    Raises:
        JudgeUnavailable: the judge is no model that can be asked.
    """
    _check_available(judge)
    if judge.kind != Judge.Kind.OPENAI:
        raise JudgeUnavailable(f"{judge} has no log-probabilities; AutoDS scores come from models.")
    queued = set(waiting_items(judge=judge, task=JudgeRun.Task.AUTODS).values_list("key_point", flat=True))
    waiting = [point for point in key_points if point.autods is None and point.pk not in queued]
    options = replace(options or ModelOptions(), repeats=1)
    run = _Asked(judge=judge, task=JudgeRun.Task.AUTODS, reason=reason, by=requested_by, options=options, now=now)
    return run.queue([JudgeRunItem(key_point=point) for point in waiting], key_points=len(waiting))


@dataclass(frozen=True)
class _Asked:
    """A run that was asked for; it is made when there is something to do."""

    judge: Judge
    reason: str
    by: Any
    options: ModelOptions
    now: datetime
    task: str = JudgeRun.Task.COVERAGE

    def queue(self, items: Sequence[JudgeRunItem], **told: Any) -> JudgeRun | None:
        """Make the run with its items, and write down who asked for it; None if there are none."""
        if not items:
            return None
        run = JudgeRun.objects.create(
            judge=self.judge,
            task=self.task,
            reason=self.reason,
            requested_by=self.by,
            created_at=self.now,
            concurrency=self.options.concurrency,
            repeats=self.options.repeats,
            budget=self.options.budget,
        )
        if self.by is not None:
            audit.record(actor=self.by, action="run.requested", target=run, now=self.now, **told)
        for item in items:
            item.run = run
        JudgeRunItem.objects.bulk_create(items, batch_size=500)
        return run


def _check_available(judge: Judge) -> None:
    if judge.kind == Judge.Kind.IMPORTED:
        raise JudgeUnavailable(f"{judge} was imported; it cannot be asked again.")
    if judge.archived_at is not None:
        raise JudgeUnavailable(f"{judge} was archived; it asks nothing more.")
    if judge.kind == Judge.Kind.OPENAI:
        try:
            model_tasks.config_of(judge)
        except ValueError as error:
            raise JudgeUnavailable(f"{judge} cannot be asked: {error}") from error


def not_yet_judged(*, judge: Judge, summaries: Iterable[Summary], repeats: int = 1) -> list[Summary]:
    """Keep summaries with an insight lacking this judge's verdict, and not already queued for it."""
    wanted = {summary.pk: summary for summary in summaries}
    counts = verdict_counts(judge=judge, summaries=wanted, repeats=repeats)
    missing = {pk for pk, (n_insights, n_verdicts) in counts.items() if n_verdicts < n_insights * repeats}
    queued = set(waiting_items(judge=judge).values_list("summary", flat=True))
    return [summary for pk, summary in wanted.items() if pk in missing and pk not in queued]


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
    n_most = BATCH_OF_MODELS if run.judge.kind == Judge.Kind.OPENAI else BATCH
    while items := claim(run=run, now=clock(), passed_over=errors, n_most=n_most):
        errors |= _judge_batch(run=run, items=items, clock=clock)
        if progress is not None:
            progress(run_progress(run))
    done = finish(run=run, now=clock())
    for error in errors.values():
        raise error
    return done


def _judge_batch(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Ask the judge outside any transaction, then store verdicts and item states together; errors by item pk."""
    if run.judge.kind == Judge.Kind.OPENAI:
        return _judge_by_model(run=run, items=items, clock=clock)
    try:
        store = _answers(run=run, items=items, clock=clock)
    except Exception as error:
        if len(items) > 1:
            errors: dict[int, Exception] = {}
            for item in items:
                errors |= _judge_batch(run=run, items=[item], clock=clock)
            return errors
        put_back(item=items[0], error=error)
        return {items[0].pk: error}
    except BaseException:  # interrupted
        let_go(run=run, items=items)
        raise
    with transaction.atomic():
        store()
        JudgeRunItem.objects.filter(pk__in=[item.pk for item in items]).update(
            state=JudgeRunItem.State.DONE, error=""
        )
    return {}


def _judge_by_model(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Let a model judge; a text that breaks its batch is found alone, and its attempts are counted."""
    try:
        failed = model_judging.judge_items(run=run, items=items, clock=clock)
    except (OperationalError, InterfaceError):  # the database, no fault of a text
        let_go(run=run, items=items)
        raise
    except Exception as error:
        if len(items) > 1:
            failed = {}
            for item in items:
                failed |= _judge_by_model(run=run, items=[item], clock=clock)
            return failed
        failed = {items[0].pk: error}
    for item in items:
        if item.pk in failed:
            put_back(item=item, error=failed[item.pk])
    return failed


def _answers(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> Callable[[], None]:
    """Ask the offline judge, outside any transaction; what comes back stores the answers."""
    if run.task != JudgeRun.Task.COVERAGE:
        return offline.answers(run=run, responses=[item.response for item in items], clock=clock)
    found = judge_summaries(judge=run.judge, summaries=[item.summary for item in items])
    now = clock()
    rows = [
        _verdict(run=run, summary_id=pk, insight_id=insight_id, judged=judged, now=now)
        for (pk, insight_id), judged in found.items()
    ]
    return lambda: _store(rows)


def _store(rows: Sequence[Verdict]) -> None:
    Verdict.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


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
