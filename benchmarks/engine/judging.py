"""Judges at work: a run is rows, a worker claims them in batches, nothing is asked twice.

The rules of a single judgment live in `benchmarks.judges`, claims in `runs`, and what is special to a task in
`tasks`. An item that the judge fails on is found alone; the rest of its batch is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from benchmarks import audit
from benchmarks.engine import runs, sending, versions
from benchmarks.engine.runs import RunProgress
from benchmarks.engine.task import Origin, parts
from benchmarks.engine.tasks import TASKS
from benchmarks.grouping import group_run
from benchmarks.judges.registry import WrongJury
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, SentSummary, Subtopic

BATCH = 200
BATCH_OF_MODELS = 120
"""Items in a claim where every answer is a request; some seven insights each."""
BATCH_OF_SEARCHES = 16
"""The same where each takes several searches of some seconds."""

Clock = Callable[[], datetime]


class JudgeUnavailable(Exception):
    """This judge cannot be asked: it was imported, or its server is not allowed."""


class RunStopped(Exception):
    """A run that would take more was paused or cancelled."""

    def __init__(self, run: JudgeRun) -> None:
        super().__init__(run.message or f"The run was {run.state}.")
        self.run = run


@dataclass(frozen=True)
class ModelOptions:
    """How a run asks a model: requests at a time, answers per insight, and a cap in US dollars (None: no cap)."""

    concurrency: int = 16
    repeats: int = 1
    budget: Decimal | None = None

    @classmethod
    def checked(cls, *, concurrency: int, budget: str | None, repeats: int = 1) -> ModelOptions:
        """Options as they are typed on the command line.

        Raises:
            ValueError: one is out of range; the text names it.
        """
        if not 1 <= concurrency <= 256 or not 1 <= repeats <= 20:
            raise ValueError("--concurrency is from 1 to 256, --repeats from 1 to 20.")
        try:
            dollars = Decimal(budget) if budget else None
        except InvalidOperation:
            dollars = Decimal("NaN")
        if dollars is not None and not (dollars.is_finite() and dollars >= 0):
            raise ValueError(f"--budget {budget} is not a number of dollars.")
        return cls(concurrency, repeats, dollars)


# Asking for a run


@transaction.atomic
def request_run(
    *,
    judge: Judge,
    subjects: Iterable[Any],
    reason: str,
    now: datetime,
    task: str = JudgeRun.Task.COVERAGE,
    requested_by: Any = None,
    options: ModelOptions | None = None,
    scope: Mapping[str, Any] | None = None,
    paused_because: str = "",
) -> JudgeRun | None:
    """Queue the subjects of a task that this judge has not done yet; None when there are none.

    Subjects are the summaries, responses or key points that the task is about; responses come with their
    questions. Support is asked of the points that the same judge extracted: a response without such points is not
    queued. `scope` says what they are, for people (`scopes.Scope.as_json`). A run that is
    `paused_because` of something waits until it is resumed, or asked by files (`batches`).

    Raises:
        JudgeUnavailable: the judge's verdicts can only be imported, its configuration cannot be used, or the task
            takes a model and it is none.
    """
    _check_available(judge, task)
    options = options or ModelOptions()
    repeats = repeats_of(judge=judge, task=task, wanted=options.repeats)
    kind, waiting = TASKS[task], missing(judge=judge, task=task, subjects=subjects, repeats=repeats)
    if not waiting:
        return None
    run = JudgeRun.objects.create(
        judge=judge,
        task=task,
        reason=reason,
        requested_by=requested_by,
        created_at=now,
        concurrency=options.concurrency,
        repeats=repeats,
        budget=options.budget,
        scope=dict(scope or {}),
        state=JudgeRun.State.PAUSED if paused_because else JudgeRun.State.PENDING,
        message=paused_because,
    )
    if requested_by is not None:
        counted = {"task": task, kind.subjects: len(waiting)}
        audit.record(actor=requested_by, action="run.requested", target=run, now=now, **counted)
    items = [JudgeRunItem(run=run, **kind.about(subject)) for subject in waiting]
    JudgeRunItem.objects.bulk_create(items, batch_size=500)
    group_run(run)
    return run


def request_again(*, run: JudgeRun, by: Any, now: datetime) -> JudgeRun | None:
    """Queue what the judge has not answered of a run's items, as the run asked; None when nothing is missing.

    Raises:
        JudgeUnavailable: as `request_run`.
    """
    kind = TASKS[run.task]
    keys = list(run.items.values_list(kind.subject, flat=True))
    return request_run(
        judge=run.judge,
        subjects=[subject for part in parts(keys) for subject in kind.read(part)],
        reason="again",
        now=now,
        task=run.task,
        requested_by=by,
        options=ModelOptions(run.concurrency, run.repeats, run.budget),
        scope=run.scope,
    )


@transaction.atomic
def request_score(
    *, judge: Judge, subtopic: Subtopic, text: str, reason: str, budget: Decimal | None, by: Any, now: datetime
) -> SentSummary:
    """Have a summary that a program sent judged, in the one run of this judge and `reason`; gives what is kept.

    Nothing is queued where all is answered, or waits in whichever run. `budget` is that of the whole run, which
    goes on with every further summary until somebody stops it.

    Raises:
        JudgeUnavailable: as `request_run`.
        RunStopped: the run is paused or was cancelled.
    """
    Judge.objects.select_for_update(no_key=True).get(pk=judge.pk)  # or two would begin a run, each with the budget
    row, _is_new = SentSummary.objects.select_related("subtopic").get_or_create(
        judge=judge,
        subtopic=subtopic,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        defaults={"text": text, "created_at": now},
    )
    task = JudgeRun.Task.SENT
    if not missing(judge=judge, task=task, subjects=[row]):
        return row
    run = JudgeRun._base_manager.select_for_update().filter(judge=judge, task=task, reason=reason).first()
    if run is None:
        options = ModelOptions(budget=budget)
        request_run(
            judge=judge, subjects=[row], reason=reason, now=now, task=task, requested_by=by, options=options
        )
        return row
    _check_available(judge, task)
    if run.state in {JudgeRun.State.PAUSED, JudgeRun.State.CANCELLED}:
        raise RunStopped(run)
    anew = {"state": JudgeRunItem.State.PENDING, "attempts": 0, "error": "", "claimed_at": None, "claimed_by": ""}
    run.items.update_or_create(other=row.pk, defaults=anew)
    if run.state == JudgeRun.State.DONE:
        run.state, run.finished_at = JudgeRun.State.PENDING, None
        run.save(update_fields=["state", "finished_at"])
    group_run(run)
    return row


def _check_available(judge: Judge, task: str) -> None:
    if judge.kind == Judge.Kind.IMPORTED:
        raise JudgeUnavailable(f"{judge} was imported; it cannot be asked again.")
    if judge.role != TASKS[task].role:
        raise JudgeUnavailable(f"{judge} is a {judge.role}; this task is for a {TASKS[task].role}.")
    if judge.archived_at is not None:
        raise JudgeUnavailable(f"{judge} was archived; it asks nothing more.")
    if judge.kind == Judge.Kind.OPENAI:
        try:
            sending.config_of(judge)
        except ValueError as error:
            raise JudgeUnavailable(f"{judge} cannot be asked: {error}") from error
    elif not TASKS[task].has_offline:
        raise JudgeUnavailable(f"{judge} is no model, and this task takes one.")
    elif judge.kind == Judge.Kind.JURY:
        if task != JudgeRun.Task.COVERAGE:
            raise JudgeUnavailable(f"{judge} is a jury; it judges the coverage of summaries only.")
        try:
            versions.members_of(judge)
        except WrongJury as error:
            raise JudgeUnavailable(str(error)) from error


def repeats_of(*, judge: Judge, task: str, wanted: int) -> int:
    """How many answers to a question count: only models are asked the same again, and not in every task."""
    return wanted if judge.kind == Judge.Kind.OPENAI and TASKS[task].has_repeats else 1


def missing(*, judge: Judge, task: str, subjects: Iterable[Any], repeats: int = 1) -> list[Any]:
    """Keep subjects without all answers of this judge that are not queued for it already."""
    wanted = {subject.pk: subject for subject in subjects}
    counts = TASKS[task].counts(judge=judge, subjects=list(wanted.values()), repeats=repeats)
    waiting = runs.waiting_items(judge=judge, task=task)
    queued = set(waiting.values_list(TASKS[task].subject, flat=True))
    unanswered = {pk for pk, count in counts.items() if count.n_there < count.n_asked} - queued
    return [subject for pk, subject in wanted.items() if pk in unanswered]


# Working on a run


def run_pending(
    *,
    run: JudgeRun,
    clock: Clock,
    progress: Callable[[RunProgress], None] | None = None,
    until: datetime | None = None,
) -> RunProgress:
    """Judge what is left of a run, batch by batch; stops early when the run is cancelled or paused.

    Nothing more is claimed after `until`.

    Items that the judge fails on are passed over, and the first error is raised when all others are done: calling
    it again tries them again, `runs.MAX_ATTEMPTS` times in all.
    """
    errors: dict[int, Exception] = {}
    of_kind = {Judge.Kind.OPENAI: BATCH_OF_MODELS, Judge.Kind.SEARCH: BATCH_OF_SEARCHES}
    n_most = of_kind.get(Judge.Kind(run.judge.kind), BATCH)
    is_begun = False

    def claim() -> list[JudgeRunItem]:
        nonlocal is_begun
        if until is not None and is_begun and clock() >= until:
            return []
        if is_begun and progress is not None:
            progress(runs.run_progress(run))
        is_begun = True
        return runs.claim(run=run, now=clock(), passed_over=errors, n_most=n_most)

    while items := claim():
        errors |= _judge_batch(run=run, items=items, clock=clock, more=claim)
    done = runs.finish(run=run, now=clock())
    for error in errors.values():
        raise error
    return done


def finish_runs(
    *,
    judge: Judge,
    clock: Clock,
    say: Callable[[str], object],
    progress: Callable[[JudgeRun, RunProgress], None] | None = None,
    task: str = "",
) -> list[JudgeRun]:
    """Work on all unfinished runs of a judge; what it fails on is tried again, then counted as failed."""
    uids = runs.unfinished_runs(now=clock(), judge=judge, task=task)
    finished = list(JudgeRun.objects.filter(uid__in=uids).select_related("judge").order_by("created_at"))
    for run in finished:
        report = partial(progress, run) if progress else None
        for attempt in range(1, runs.MAX_ATTEMPTS + 1):
            try:
                run_pending(run=run, clock=clock, progress=report)
                break
            except Exception as error:
                again = "tried again" if attempt < runs.MAX_ATTEMPTS else "given up"
                say(f"{type(error).__name__}: {error} ({again})")
        else:
            run_pending(run=run, clock=clock)
    return finished


def _judge_batch(
    *, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock, more: sending.Claims | None = None
) -> dict[int, Exception]:
    """Let the judge answer; an item that breaks its batch is found alone. Errors by item pk.

    A model goes on with `more` items of the run before these are all answered.
    """
    try:
        if run.judge.kind == Judge.Kind.OPENAI:
            failed = sending.answer_items(run=run, items=items, clock=clock, more=more)
        else:
            failed = _answer_offline(run=run, items=items, clock=clock)
    except (OperationalError, InterfaceError):  # the database, no fault of an item
        runs.let_go(run=run, items=items)
        raise
    except Exception as error:
        if len(items) > 1:
            failed = {}
            for item in items:
                failed |= _judge_batch(run=run, items=[item], clock=clock)
            return failed
        failed = {items[0].pk: error}
    except BaseException:  # interrupted
        runs.let_go(run=run, items=items)
        raise
    for item in run.items.filter(pk__in=failed):
        runs.put_back(item=item, error=failed[item.pk])
    return failed


def _answer_offline(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Ask outside any transaction, then store answers and item states together."""
    keep = runs.keeper(run=run, items=items, clock=clock)
    store = TASKS[run.task].answer_offline(judge=run.judge, items=items, keep=keep)
    with transaction.atomic():
        store(Origin(run, clock()))
        runs.mark_done(run=run, items=items)
    return {}
