"""Let a model judge the claimed texts of a run: requests side by side, every verdict saved as it arrives.

The event loop runs only between the transactions, so that the database is used from one thread. What a request
is and what its answer means lives in `benchmarks.judges`; who may send it lives in `benchmarks.call_ledger`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from benchmarks import backgrounds, budgets, call_ledger, workers
from benchmarks.call_ledger import Request
from benchmarks.judges.base import CoverageVerdict, InsightRef, SummaryToJudge
from benchmarks.judges.openai import (
    AddressNotAllowed,
    Failure,
    Reply,
    Trouble,
    ask,
    check_address,
    open_client,
    read_reply,
)
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import (
    BadConfiguration,
    CoverageQuestion,
    ModelConfig,
    Question,
    Rung,
    questions_on,
)
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem, Verdict
from benchmarks.recall import asking

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_SENT = 4
"""How often a request is sent that the server fails on."""
MAX_BUSY = 30
BACKOFF_S = 0.5
LOOK_AGAIN_S = 1.0
RENEW_S = 30.0

Clock = Callable[[], datetime]
_GOING = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING]


class CallFailed(Exception):
    """A request got no answer, however often it was sent."""


@dataclass
class _Waiting:
    """A question on its way: in what shape, how often refused, and not before when (monotonic seconds)."""

    question: Question
    rung: Rung
    n_failed: int = 0
    n_busy: int = 0
    not_before: float = 0.0


@dataclass
class _Sent:
    waiting: _Waiting
    request: Request
    call: JudgeCall


@dataclass
class _State:
    """What is left of a batch."""

    queue: deque[_Waiting] = field(default_factory=deque)
    in_flight: dict[asyncio.Task[Reply | Failure], _Sent] = field(default_factory=dict)
    n_open: Counter[int] = field(default_factory=Counter)
    errors: dict[int, Exception] = field(default_factory=dict)
    stopped: bool = False
    renewed_at: float = field(default_factory=time.monotonic)
    rests_until: datetime | None = None


def config_of(judge: Judge) -> ModelConfig:
    """A judge's configuration, ready to be asked.

    Raises:
        BadConfiguration: it cannot be read.
        AddressNotAllowed: the settings do not allow its address.
    """
    config = ModelConfig.from_mapping(judge.config)
    return replace(config, base_url=check_address(config.base_url))


def judge_items(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Ask what is lacking on claimed items until all is answered, or the run stops; errors by item key."""
    try:
        config = config_of(run.judge)
    except (BadConfiguration, AddressNotAllowed) as error:
        pause(run=run, message=str(error))
        _release(run, items)
        return {}
    try:
        with asyncio.Runner() as runner:
            return _Batch(run=run, config=config, items=items, clock=clock, runner=runner).work()
    finally:  # what is still pending was interrupted or stopped: others need not wait for the lease
        _release(run, items)


def _release(run: JudgeRun, items: Sequence[JudgeRunItem]) -> None:
    held = run.items.filter(pk__in=[item.pk for item in items], state=JudgeRunItem.State.PENDING)
    held.filter(claimed_by=workers.my_name()).update(claimed_at=None, claimed_by="")


def pause(*, run: JudgeRun, message: str) -> None:
    """Stop a run until a person resumes it, and say why."""
    JudgeRun.objects.filter(pk=run.pk, state__in=_GOING).update(state=JudgeRun.State.PAUSED, message=message)


def open_questions(
    *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
) -> dict[int, list[CoverageQuestion]]:
    """What this judge has not answered on the items' summaries: {item key: questions}. Two queries."""
    summaries = {item.summary_id: item.summary for item in items}
    insights = backgrounds.insights_by_subtopic({summary.subtopic_id for summary in summaries.values()})
    rows = Verdict.objects.filter(judge=judge, summary__in=summaries, repeat__lt=repeats)
    there = set(rows.values_list("summary", "repeat", "insight"))
    found = {}
    for item in items:
        refs = tuple(InsightRef(str(pk), text) for pk, text in insights[item.summary.subtopic_id])
        lacking = {
            repeat: {ref.key for ref in refs if (item.summary_id, repeat, int(ref.key)) not in there}
            for repeat in range(repeats)
        }
        given = SummaryToJudge(str(item.summary_id), tuple(item.summary.lines), refs)
        found[item.pk] = list(questions_on(given, protocol=config.protocol, repeats=repeats, lacking=lacking))
    return found


def _open(
    *, run: JudgeRun, config: ModelConfig, items: Sequence[JudgeRunItem]
) -> Mapping[int, Sequence[Question]]:
    """What is lacking on the items of a run, whatever its task."""
    if run.task == JudgeRun.Task.COVERAGE:
        return open_questions(judge=run.judge, config=config, items=items, repeats=run.repeats)
    return asking.open_questions(judge=run.judge, config=config, items=items, repeats=run.repeats, task=run.task)


def _store_coverage(
    *, run: JudgeRun, question: Question, answers: Mapping[str, Any], call: JudgeCall, now: datetime
) -> None:
    assert isinstance(question, CoverageQuestion)  # noqa: S101  for the type checker
    rows = [_row(run, question, key, answer, call, now) for key, answer in answers.items()]
    Verdict.objects.bulk_create(rows, ignore_conflicts=True)


def _row(
    run: JudgeRun, question: CoverageQuestion, key: str, answer: Any, call: JudgeCall, now: datetime
) -> Verdict:
    said = answer if isinstance(answer, CoverageVerdict) else None
    return Verdict(
        judge_id=run.judge_id,
        summary_id=int(question.summary_key),
        insight_id=int(key),
        repeat=question.repeat,
        coverage=said.coverage if said else "",
        lines=list(said.lines) if said else [],
        is_linked=bool(said and said.lines),
        is_valid=said is not None,
        raw={"problem": answer.reason} if isinstance(answer, Problem) else {},
        input_sha256=question.input_of(key),
        run=run,
        call=call,
        created_at=now,
    )


class _Batch:
    """The claimed items of one worker, until all their questions are answered."""

    def __init__(
        self,
        *,
        run: JudgeRun,
        config: ModelConfig,
        items: Sequence[JudgeRunItem],
        clock: Clock,
        runner: asyncio.Runner,
    ) -> None:
        self.run, self.config, self.clock, self.runner = run, config, clock, runner
        self.items = {str(item.summary_id or item.response_id): item for item in items}
        self.state = _State()
        self.purse = budgets.Purse(run=run, config=config)
        rung = call_ledger.remembered_rung(config)
        for pk, asked in _open(run=run, config=config, items=items).items():
            self.state.n_open[pk] = len(asked)
            self.state.queue.extend(_Waiting(question, rung) for question in asked)

    def work(self) -> dict[int, Exception]:
        """Send, wait, store, until nothing is left."""
        state, client_stack = self.state, AsyncExitStack()
        with transaction.atomic():
            self._close_items([item for item in self.items.values() if not state.n_open[item.pk]])
        client = self.runner.run(client_stack.enter_async_context(open_client(self.config)))
        try:
            while state.in_flight or (state.queue and not state.stopped):
                self._fill(client)
                done = self.runner.run(self._wait())
                self._store(done)
        finally:
            call_ledger.let_go(calls=[sent.call for sent in state.in_flight.values()])
            for task in state.in_flight:
                task.cancel()
            self.runner.run(client_stack.aclose())
        return state.errors

    # Sending

    def _fill(self, client: AsyncOpenAI) -> None:
        """Claim and send as much as may be sent now."""
        state, now = self.state, self.clock()
        ready = self._ready()
        room = self.run.concurrency - len(state.in_flight)
        if state.stopped or not ready or room <= 0:
            return
        wanted = [(waiting, Request.of(self.config, waiting.question, waiting.rung)) for waiting in ready]
        with transaction.atomic():
            room = self._checked_room(room, wanted[0][1])
            if state.stopped:
                state.queue.extendleft(reversed(ready))
                return
            found = call_ledger.claim(
                run=self.run, config=self.config, wanted=[request for _, request in wanted], room=room, now=now
            )
        by_request = {id(request): waiting for waiting, request in wanted}
        state.rests_until = found.rests_until
        for request in found.held:
            by_request[id(request)].not_before = time.monotonic() + 0.05
        state.queue.extendleft(by_request[id(request)] for request in reversed(found.no_room))
        state.queue.extend(by_request[id(request)] for request in found.held)
        for request, call in found.to_send:
            task = self.runner.get_loop().create_task(ask(client, request.body))
            state.in_flight[task] = _Sent(by_request[id(request)], request, call)
        with transaction.atomic():
            for request, call in found.answered:
                self._take(by_request[id(request)], call, kept_reply(call))

    def _ready(self) -> list[_Waiting]:
        """Take what may be sent by now from the front of the queue, at most as many as run at a time."""
        state, now = self.state, time.monotonic()
        ready: list[_Waiting] = []
        later: list[_Waiting] = []
        while state.queue and len(ready) < self.run.concurrency:
            waiting = state.queue.popleft()
            (ready if waiting.not_before <= now else later).append(waiting)
        state.queue.extendleft(reversed(later))
        return ready

    def _checked_room(self, room: int, request: Request) -> int:
        """How many requests the run may send: none when it was stopped, or when its budget could be passed."""
        going = JudgeRun.objects.filter(pk=self.run.pk).values_list("state", flat=True).first() in _GOING
        if not going:
            self.state.stopped = True
            return 0
        allowed = self.purse.allows(request, now=self.clock())
        if allowed.pause_because and not self.state.in_flight:
            pause(run=self.run, message=allowed.pause_because)
            self.state.stopped = True
        return min(room, allowed.n_calls)

    async def _wait(self) -> list[tuple[_Sent, Reply | Failure]]:
        """Until an answer comes, or it is time to look again."""
        state = self.state
        if not state.in_flight:
            await asyncio.sleep(self._pause_s())
            return []
        done, _ = await asyncio.wait(state.in_flight, timeout=LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED)
        return [(state.in_flight[task], task.result()) for task in done]

    def _pause_s(self) -> float:
        """Seconds until something can be sent, at most LOOK_AGAIN_S, so that a cancel is heard."""
        state = self.state
        if not state.queue or state.stopped:
            return 0.0
        wait = min(waiting.not_before for waiting in state.queue) - time.monotonic()
        if state.rests_until is not None:
            wait = max(wait, (state.rests_until - self.clock()).total_seconds())
        return min(max(wait, 0.02), LOOK_AGAIN_S)

    # Storing

    def _store(self, done: Sequence[tuple[_Sent, Reply | Failure]]) -> None:
        """Write all that came back since the last look in one transaction."""
        if done:
            with transaction.atomic():
                call_ledger.close(outcomes=[(sent.call, outcome) for sent, outcome in done], now=self.clock())
                for sent, outcome in done:
                    if isinstance(outcome, Reply):
                        self._take(sent.waiting, sent.call, outcome)
                    else:
                        self._recover(sent.waiting, outcome)
            stored = {id(sent) for sent, _ in done}
            self.state.in_flight = {
                task: sent for task, sent in self.state.in_flight.items() if id(sent) not in stored
            }
        if time.monotonic() - self.state.renewed_at > RENEW_S:
            self.state.renewed_at = time.monotonic()
            mine = self.run.items.filter(pk__in=[item.pk for item in self.items.values()])
            mine.filter(claimed_by=workers.my_name()).update(claimed_at=self.clock())

    def _take(self, waiting: _Waiting, call: JudgeCall, reply: Reply) -> None:
        """Read an answer; one that cannot be used is asked again once, then stored as invalid."""
        question = waiting.question
        answers = refused_answers(question) if reply.is_refused else question.read(reply.text)
        if not reply.is_refused:
            again = question.repaired(reply=reply.text, answers=answers, longer=reply.is_cut_off)
            if again is not None:
                self.state.queue.appendleft(_Waiting(again, waiting.rung))
                return
        store = _store_coverage if isinstance(question, CoverageQuestion) else asking.store
        store(run=self.run, question=question, answers=answers, call=call, now=self.clock())
        self._settle(question)

    def _recover(self, waiting: _Waiting, failure: Failure) -> None:
        """After a failure: wait, ask in another shape, pause the run, or give the question up."""
        state, now = self.state, time.monotonic()
        if failure.trouble is Trouble.DENIED:
            pause(run=self.run, message=failure.message)
            state.stopped = True
        elif failure.trouble is Trouble.BUSY and waiting.n_busy < MAX_BUSY:
            waiting.n_busy += 1
            waiting.not_before = now + (failure.wait_s or BACKOFF_S)
            state.queue.append(waiting)
        elif failure.trouble is Trouble.BUSY:
            pause(run=self.run, message=f"The server stays busy. {failure.message}")
            state.stopped = True
        elif failure.trouble is Trouble.SHAPE and waiting.rung.below is not None:
            self._step_down(waiting)
        elif failure.trouble is Trouble.TRANSIENT and waiting.n_failed + 1 < MAX_SENT:
            waiting.n_failed += 1
            waiting.not_before = now + BACKOFF_S * 2 ** (waiting.n_failed - 1)
            state.queue.append(waiting)
        else:
            item = self.items[waiting.question.subject_key]
            state.errors[item.pk] = CallFailed(failure.message)
            self._settle(waiting.question)

    def _step_down(self, refused: _Waiting) -> None:
        """The server does not know this shape: nobody asks in it any more."""
        shape, below = refused.rung, refused.rung.below
        self.state.queue.appendleft(refused)
        for waiting in self.state.queue:
            if below is not None and waiting.rung is shape:
                waiting.rung = below

    def _settle(self, question: Question) -> None:
        """One question less; an item without any is done, or put back when one of them failed."""
        item = self.items[question.subject_key]
        self.state.n_open[item.pk] -= 1
        if self.state.n_open[item.pk] == 0:
            self._close_items([item])

    def _close_items(self, items: Sequence[JudgeRunItem]) -> None:
        fine = [item.pk for item in items if item.pk not in self.state.errors]
        self.run.items.filter(pk__in=fine).update(state=JudgeRunItem.State.DONE, error="")


def refused_answers(question: Question) -> dict[str, Any]:
    """The model would not answer: no repair helps, and every verdict is invalid."""
    return dict.fromkeys(question.keys, Problem("The model refused to answer."))


def kept_reply(call: JudgeCall) -> Reply:
    """The reply of an answered call, as it came."""
    return read_reply(call.reply, {}, call.latency_ms or 0)
