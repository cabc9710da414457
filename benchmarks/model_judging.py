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
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import InterfaceError, OperationalError, transaction

from benchmarks import call_ledger, claims, workers
from benchmarks.call_ledger import Request
from benchmarks.judges.cleaning import NOTE, clean_text
from benchmarks.judges.openai import AddressNotAllowed, Failure, Reply, Trouble, ask, open_client, read_reply
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import BadConfiguration, ModelConfig, Question, ResponseFormat
from benchmarks.model_tasks import TASKS, config_of
from benchmarks.models import JudgeCall, JudgeRun, JudgeRunItem

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_SENT = 4
"""How often a request is sent that the server fails on."""
MAX_BUSY = 30
BACKOFF_S = 0.5
LOOK_AGAIN_S = 1.0
RENEW_S = 30.0
WAIT_FOR_ANSWERS_S = 0.2
"""Between looks at a budget that other workers' answers may leave room in."""

Clock = Callable[[], datetime]


class CallFailed(Exception):
    """A request got no answer, however often it was sent."""


@dataclass
class _Waiting:
    """A question on its way: in what shape, how often refused, and not before when (monotonic seconds)."""

    question: Question
    response_format: ResponseFormat
    n_failed: int = 0
    n_busy: int = 0
    not_before: float = 0.0


@dataclass
class _Sent:
    waiting: _Waiting
    request: Request
    call: JudgeCall


@dataclass(frozen=True)
class _Answer:
    """What a reply says: answers by key, or the question to ask again."""

    waiting: _Waiting
    call: JudgeCall
    answers: Mapping[str, Any]
    again: Question | None = None


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
            errors = _Batch(run=run, config=config, items=items, clock=clock, runner=runner).work()
    except Exception:
        raise  # the caller looks for the text that it came from, and still holds all of them
    except BaseException:  # interrupted: others need not wait for the lease
        _release(run, items)
        raise
    _release(run, items)
    return errors


def _release(run: JudgeRun, items: Sequence[JudgeRunItem]) -> None:
    held = run.items.filter(pk__in=[item.pk for item in items], state=JudgeRunItem.State.PENDING)
    held.filter(claimed_by=workers.my_name()).update(claimed_at=None, claimed_by="")


def pause(*, run: JudgeRun, message: str) -> None:
    """Stop a run until a person resumes it, and say why."""
    going = JudgeRun.objects.filter(pk=run.pk, state__in=claims.GOING)
    going.update(state=JudgeRun.State.PAUSED, message=message)


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
        self.items = {str(item.subject_id): item for item in items}
        self.state, self.task = _State(), TASKS[run.task]
        remembered = call_ledger.remembered_format(config)
        asked = self.task.questions(judge=run.judge, config=config, items=items, repeats=run.repeats)
        for pk, questions in asked.items():
            self.state.n_open[pk] = len(questions)
            for question in questions:
                response_format = ResponseFormat.NONE if question.shape() is None else remembered
                self.state.queue.append(_Waiting(question, response_format))

    def work(self) -> dict[int, Exception]:
        """Send, wait, store, until nothing is left."""
        state, client_stack = self.state, AsyncExitStack()
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
        wanted = [
            (waiting, Request.of(self.config, waiting.question, waiting.response_format)) for waiting in ready
        ]
        with transaction.atomic():
            found = call_ledger.claim(
                run=self.run, config=self.config, wanted=[request for _, request in wanted], room=room, now=now
            )
        by_request = {id(request): waiting for waiting, request in wanted}
        state.rests_until = found.rests_until
        state.stopped = found.is_stopped
        if found.pause_because:
            pause(run=self.run, message=found.pause_because)
            state.stopped = True
        for request in found.held:
            by_request[id(request)].not_before = time.monotonic() + 0.05
        if found.is_short:
            for request in found.no_room:
                by_request[id(request)].not_before = time.monotonic() + WAIT_FOR_ANSWERS_S
        state.queue.extendleft(by_request[id(request)] for request in reversed(found.no_room))
        state.queue.extend(by_request[id(request)] for request in found.held)
        for request, call in found.to_send:
            task = self.runner.get_loop().create_task(ask(client, request.body))
            state.in_flight[task] = _Sent(by_request[id(request)], request, call)
        kept = kept_replies([call for _, call in found.answered])
        self._take([(by_request[id(request)], call, kept[call.pk]) for request, call in found.answered])

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
        """Write all that came back since the last look, and act on what failed."""
        replies = [(sent.waiting, sent.call, out) for sent, out in done if isinstance(out, Reply)]
        failures = [(sent, out) for sent, out in done if isinstance(out, Failure)]
        self._take(replies, closing=True)
        if failures:
            with transaction.atomic():
                call_ledger.close(outcomes=[(sent.call, out) for sent, out in failures], now=self.clock())
            for sent, failure in failures:
                self._recover(sent.waiting, failure)
        stored = {id(sent) for sent, _ in done}
        self.state.in_flight = {
            task: sent for task, sent in self.state.in_flight.items() if id(sent) not in stored
        }
        if time.monotonic() - self.state.renewed_at > RENEW_S:
            self.state.renewed_at = time.monotonic()
            mine = self.run.items.filter(pk__in=[item.pk for item in self.items.values()])
            mine.filter(claimed_by=workers.my_name()).update(claimed_at=self.clock())

    def _take(self, replies: Sequence[tuple[_Waiting, JudgeCall, Reply]], *, closing: bool = False) -> None:
        """Read replies, outside of any transaction, and store them in one; `closing` closes their calls too.

        Where the database refuses something, every reply is stored alone, and the one that it refuses becomes
        an invalid answer.
        """
        if not replies:
            return
        read = [(read_answer(waiting, call, reply), reply) for waiting, call, reply in replies]
        try:
            self._write(read, closing=closing)
        except (OperationalError, InterfaceError):  # no fault of a reply
            raise
        except Exception:
            for answer, reply in read:
                self._write_alone(answer, reply, closing=closing)
                self._go_on([answer])
        else:
            self._go_on([answer for answer, _ in read])

    def _write(self, read: Sequence[tuple[_Answer, Reply]], *, closing: bool) -> None:
        now = self.clock()
        with transaction.atomic():
            if closing:
                call_ledger.close(outcomes=[(answer.call, reply) for answer, reply in read], now=now)
            final = [answer for answer, _ in read if answer.again is None and _is_answered(answer)]
            for answer in final:
                question = answer.waiting.question
                self.task.store(run=self.run, question=question, answers=answer.answers, call=answer.call, now=now)
            settled = Counter(self._item_of(answer.waiting.question).pk for answer in final)
            self._close_items(
                [item for item in self.items.values() if 0 < settled[item.pk] == self.state.n_open[item.pk]]
            )

    def _write_alone(self, answer: _Answer, reply: Reply, *, closing: bool) -> None:
        question = answer.waiting.question
        try:
            self._write([(answer, reply)], closing=closing)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            reason = f"The answer cannot be stored ({type(error).__name__})."
            bare = read_reply({"choices": [{"message": {}}], NOTE: [reason]}, {}, reply.latency_ms)
            invalid = _Answer(answer.waiting, answer.call, dict.fromkeys(question.keys, Problem(reason)))
            try:
                self._write([(invalid, bare)], closing=closing)
            except (OperationalError, InterfaceError):
                raise
            except Exception as second:
                call_ledger.let_go(calls=[answer.call])
                self.state.errors[self._item_of(question).pk] = second

    def _go_on(self, read: Sequence[_Answer]) -> None:
        """After storing: what cannot be used is asked again once, what is answered is settled."""
        for answer in read:
            item = self._item_of(answer.waiting.question)
            if item.pk in self.state.errors:
                self.state.n_open[item.pk] -= 1
            elif not _is_answered(answer):
                self.state.queue.append(answer.waiting)  # taken over by another worker, whose answer counts
            elif answer.again is not None:
                self.state.queue.appendleft(_Waiting(answer.again, answer.waiting.response_format))
            else:
                self.state.n_open[item.pk] -= 1

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
        elif failure.trouble is Trouble.SHAPE and waiting.response_format.below is not None:
            self._step_down(waiting)
        elif failure.trouble is Trouble.TRANSIENT and waiting.n_failed + 1 < MAX_SENT:
            waiting.n_failed += 1
            waiting.not_before = now + BACKOFF_S * 2 ** (waiting.n_failed - 1)
            state.queue.append(waiting)
        else:
            item = self._item_of(waiting.question)
            state.errors[item.pk] = CallFailed(failure.message)
            state.n_open[item.pk] -= 1

    def _step_down(self, refused: _Waiting) -> None:
        """The server does not know this shape: nobody asks in it any more."""
        shape, below = refused.response_format, refused.response_format.below
        self.state.queue.appendleft(refused)
        for waiting in self.state.queue:
            if below is not None and waiting.response_format is shape:
                waiting.response_format = below

    def _item_of(self, question: Question) -> JudgeRunItem:
        return self.items[question.subject_key]

    def _close_items(self, items: Sequence[JudgeRunItem]) -> None:
        """Items without an open question are done, but for those of which one failed."""
        fine = [item.pk for item in items if item.pk not in self.state.errors]
        if fine:
            self.run.items.filter(pk__in=fine).update(state=JudgeRunItem.State.DONE, error="")


def _is_answered(answer: _Answer) -> bool:
    return answer.call.state == JudgeCall.State.ANSWERED


def read_answer(waiting: _Waiting, call: JudgeCall, reply: Reply) -> _Answer:
    """What a reply says; a refusal, and what no parser can stand, is an invalid answer."""
    question = waiting.question
    if reply.is_refused:
        return _Answer(waiting, call, dict.fromkeys(question.keys, Problem("The model refused to answer.")))
    try:
        answers = question.read(reply.text, reply.raw)
        again = question.repaired(reply=reply.text, answers=answers, longer=reply.is_cut_off)
    except Exception as error:  # whatever a reply does to its parser, it is one unusable answer
        problem = Problem(clean_text(f"The reply cannot be read ({type(error).__name__})."))
        return _Answer(waiting, call, dict.fromkeys(question.keys, problem))
    return _Answer(waiting, call, answers, again)


def kept_replies(calls: Sequence[JudgeCall]) -> dict[int, Reply]:
    """The replies of answered calls as they came, by the key of the call; one query."""
    rows = JudgeCall.objects.filter(pk__in=[call.pk for call in calls]) if calls else JudgeCall.objects.none()
    return {
        pk: read_reply(reply, {}, latency_ms or 0)
        for pk, reply, latency_ms in rows.values_list("pk", "reply", "latency_ms")
    }
