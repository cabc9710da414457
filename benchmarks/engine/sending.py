"""Let a model judge the claimed items of a run: requests side by side, every verdict saved as it arrives.

The event loop runs only between the transactions, so that the database is used from one thread. What a request
is and what its answer means lives in `benchmarks.judges`; who may send it lives in `benchmarks.call_ledger`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import InterfaceError, OperationalError, transaction

from benchmarks.engine import ledger, runs
from benchmarks.engine.ledger import Request
from benchmarks.engine.task import Origin
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.cleaning import NOTE, clean_text
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
from benchmarks.judges.questions import BadConfiguration, ModelConfig, Question, ResponseFormat
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem

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
    """A question on its way: in what format, how often refused, and not before when (monotonic seconds)."""

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


def config_of(judge: Judge) -> ModelConfig:
    """A judge's configuration, ready to be asked.

    Raises:
        BadConfiguration: it cannot be read.
        AddressNotAllowed: the settings do not allow its address.
    """
    config = ModelConfig.from_mapping(judge.config)
    return replace(config, base_url=check_address(config.base_url))


def answer_items(*, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock) -> dict[int, Exception]:
    """Ask what is missing on claimed items until all is answered, or the run stops; errors by item key.

    Afterwards nobody holds the items, unless it raises: then the caller looks for the item that it came from.
    """
    errors: dict[int, Exception] = {}
    try:
        config = config_of(run.judge)
    except (BadConfiguration, AddressNotAllowed) as error:
        runs.hold(run=run, message=str(error))
    else:
        with asyncio.Runner() as runner:
            errors = _Batch(run=run, config=config, items=items, clock=clock, runner=runner).work()
    runs.let_go(run=run, items=items)
    return errors


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
        self.task = TASKS[run.task]
        self.queue: deque[_Waiting] = deque()
        self.in_flight: dict[asyncio.Task[Reply | Failure], _Sent] = {}
        self.n_open: Counter[int] = Counter()
        self.errors: dict[int, Exception] = {}
        self.stopped = False
        self.renewed_at = time.monotonic()
        self.rests_until: datetime | None = None
        remembered = ledger.remembered_format(config)
        asked = self.task.questions(judge=run.judge, config=config, items=items, repeats=run.repeats)
        for pk, questions in asked.items():
            self.n_open[pk] = len(questions)
            for question in questions:
                self.queue.append(_Waiting(question, ledger.format_of(question, remembered)))

    def work(self) -> dict[int, Exception]:
        """Send, wait, store, until nothing is left."""
        client_stack = AsyncExitStack()
        self._close_items([item for item in self.items.values() if not self.n_open[item.pk]])
        client = self.runner.run(client_stack.enter_async_context(open_client(self.config)))
        try:
            while self.in_flight or (self.queue and not self.stopped):
                self._fill(client)
                done = self.runner.run(self._wait())
                self._store(done)
        finally:
            ledger.let_go(calls=[sent.call for sent in self.in_flight.values()])
            for task in self.in_flight:
                task.cancel()
            self.runner.run(client_stack.aclose())
        return self.errors

    # Sending

    def _fill(self, client: AsyncOpenAI) -> None:
        """Claim and send as much as may be sent now."""
        now = self.clock()
        ready = self._ready()
        room = self.run.concurrency - len(self.in_flight)
        if self.stopped or not ready or room <= 0:
            return
        wanted = [
            (waiting, Request.of(self.config, waiting.question, waiting.response_format)) for waiting in ready
        ]
        with transaction.atomic():
            found = ledger.claim(
                run=self.run, config=self.config, wanted=[request for _, request in wanted], room=room, now=now
            )
        by_request = {id(request): waiting for waiting, request in wanted}
        self.rests_until = found.rests_until
        self.stopped = found.is_stopped
        if found.pause_because:
            runs.hold(run=self.run, message=found.pause_because)
            self.stopped = True
        for request in found.held:
            by_request[id(request)].not_before = time.monotonic() + 0.05
        if found.is_short:
            for request in found.no_room:
                by_request[id(request)].not_before = time.monotonic() + WAIT_FOR_ANSWERS_S
        self.queue.extendleft(by_request[id(request)] for request in reversed(found.no_room))
        self.queue.extend(by_request[id(request)] for request in found.held)
        for request, call in found.to_send:
            task = self.runner.get_loop().create_task(ask(client, request.body))
            self.in_flight[task] = _Sent(by_request[id(request)], request, call)
        kept = kept_replies([call for _, call in found.answered])
        self._take([(by_request[id(request)], call, kept[call.pk]) for request, call in found.answered])

    def _ready(self) -> list[_Waiting]:
        """Take what may be sent by now from the front of the queue, at most as many as run at a time."""
        now = time.monotonic()
        ready: list[_Waiting] = []
        later: list[_Waiting] = []
        while self.queue and len(ready) < self.run.concurrency:
            waiting = self.queue.popleft()
            (ready if waiting.not_before <= now else later).append(waiting)
        self.queue.extendleft(reversed(later))
        return ready

    async def _wait(self) -> list[tuple[_Sent, Reply | Failure]]:
        """Until an answer comes, or it is time to look again."""
        if not self.in_flight:
            await asyncio.sleep(self._pause_s())
            return []
        done, _ = await asyncio.wait(self.in_flight, timeout=LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED)
        return [(self.in_flight[task], task.result()) for task in done]

    def _pause_s(self) -> float:
        """Seconds until something can be sent, at most LOOK_AGAIN_S, so that a cancel is heard."""
        if not self.queue or self.stopped:
            return 0.0
        wait = min(waiting.not_before for waiting in self.queue) - time.monotonic()
        if self.rests_until is not None:
            wait = max(wait, (self.rests_until - self.clock()).total_seconds())
        return min(max(wait, 0.02), LOOK_AGAIN_S)

    # Storing

    def _store(self, done: Sequence[tuple[_Sent, Reply | Failure]]) -> None:
        """Write all that came back since the last look, and act on what failed."""
        replies = [(sent.waiting, sent.call, out) for sent, out in done if isinstance(out, Reply)]
        failures = [(sent, out) for sent, out in done if isinstance(out, Failure)]
        self._take(replies, closing=True)
        if failures:
            with transaction.atomic():
                ledger.close(outcomes=[(sent.call, out) for sent, out in failures], now=self.clock())
            for sent, failure in failures:
                self._recover(sent.waiting, failure)
        stored = {id(sent) for sent, _ in done}
        self.in_flight = {task: sent for task, sent in self.in_flight.items() if id(sent) not in stored}
        if time.monotonic() - self.renewed_at > RENEW_S:
            self.renewed_at = time.monotonic()
            runs.keep(run=self.run, items=self.items.values(), now=self.clock())

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
                ledger.close(outcomes=[(answer.call, reply) for answer, reply in read], now=now)
            final = [answer for answer, _ in read if answer.again is None and _is_answered(answer)]
            for answer in final:
                self.task.store(answer.waiting.question, answer.answers, Origin(self.run, now, answer.call))
            settled = Counter(self._item_of(answer.waiting.question).pk for answer in final)
            self._close_items(
                [item for item in self.items.values() if 0 < settled[item.pk] == self.n_open[item.pk]]
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
                ledger.let_go(calls=[answer.call])
                self.errors[self._item_of(question).pk] = second

    def _go_on(self, read: Sequence[_Answer]) -> None:
        """After storing: what cannot be used is asked again once, what is answered is settled."""
        for answer in read:
            item = self._item_of(answer.waiting.question)
            if item.pk in self.errors:
                self.n_open[item.pk] -= 1
            elif not _is_answered(answer):
                self.queue.append(answer.waiting)  # taken over by another worker, whose answer counts
            elif answer.again is not None:
                self.queue.appendleft(_Waiting(answer.again, answer.waiting.response_format))
            else:
                self.n_open[item.pk] -= 1

    def _recover(self, waiting: _Waiting, failure: Failure) -> None:
        """After a failure: wait, ask in another format, pause the run, or give the question up."""
        now = time.monotonic()
        if failure.trouble is Trouble.DENIED:
            runs.hold(run=self.run, message=failure.message)
            self.stopped = True
        elif failure.trouble is Trouble.BUSY and waiting.n_busy < MAX_BUSY:
            waiting.n_busy += 1
            waiting.not_before = now + (failure.wait_s or BACKOFF_S)
            self.queue.append(waiting)
        elif failure.trouble is Trouble.BUSY:
            runs.hold(run=self.run, message=f"The server stays busy. {failure.message}")
            self.stopped = True
        elif failure.trouble is Trouble.FORMAT and waiting.response_format.below is not None:
            self._step_down(waiting)
        elif failure.trouble is Trouble.TRANSIENT and waiting.n_failed + 1 < MAX_SENT:
            waiting.n_failed += 1
            waiting.not_before = now + BACKOFF_S * 2 ** (waiting.n_failed - 1)
            self.queue.append(waiting)
        else:
            item = self._item_of(waiting.question)
            self.errors[item.pk] = CallFailed(failure.message)
            self.n_open[item.pk] -= 1

    def _step_down(self, refused: _Waiting) -> None:
        """The server does not know this response format: nobody asks in it any more."""
        response_format, below = refused.response_format, refused.response_format.below
        self.queue.appendleft(refused)
        for waiting in self.queue:
            if below is not None and waiting.response_format is response_format:
                waiting.response_format = below

    def _item_of(self, question: Question) -> JudgeRunItem:
        return self.items[question.subject_key]

    def _close_items(self, items: Sequence[JudgeRunItem]) -> None:
        """Items without an open question are done, but for those of which one failed."""
        runs.mark_done(run=self.run, items=[item for item in items if item.pk not in self.errors])


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
