"""Let a model judge the claimed items of a run: requests side by side, every verdict saved as it arrives.

The event loop runs only between the transactions, so that the database is used from one thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from benchmarks.engine import ledger, runs
from benchmarks.engine.answering import Answering, Clock, Waiting, kept_replies
from benchmarks.engine.ledger import Request
from benchmarks.judges.openai import AddressNotAllowed, ask, check_address, connected
from benchmarks.judges.questions import BadConfiguration, GeneratorConfig, ModelConfig
from benchmarks.judges.replies import Failure, Reply, Trouble
from benchmarks.models import Judge, JudgeCall, JudgeRun, JudgeRunItem
from benchmarks.summarizers.config import SummarizerConfig

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Claims = Callable[[], Sequence[JudgeRunItem]]
"""Claims the next items of a run; nothing when none is free."""

CONFIGS: dict[str, type[ModelConfig]] = {
    Judge.Role.SUMMARIZER: SummarizerConfig,
    Judge.Role.GENERATOR: GeneratorConfig,
}
"""How the configuration of a model is read, by its role; judges have a `ModelConfig`."""
MAX_SENT = 4
"""How often a request is sent that the server fails on, and how many foreign answers in a row pause a run."""
MAX_BUSY = 30
BACKOFF_S = 0.5
LOOK_AGAIN_S = 1.0
RENEW_S = 30.0
WAIT_FOR_ANSWERS_S = 0.2
"""Between looks at a budget that other workers' answers may leave room in."""


ON_FILE = "%d of its requests wait for replies in batch files. Read them or give them up, then resume the run."


class CallFailed(Exception):
    """A request got no answer, however often it was sent."""


@dataclass
class _Sent:
    waiting: Waiting
    request: Request
    call: JudgeCall


def config_of(judge: Judge) -> ModelConfig:
    """A judge's configuration, ready to be asked.

    Raises:
        BadConfiguration: it cannot be read.
        AddressNotAllowed: the settings do not allow its address.
    """
    config = CONFIGS.get(judge.role, ModelConfig).from_mapping(judge.config)
    return replace(config, base_url=check_address(config.base_url))


def answer_items(
    *, run: JudgeRun, items: Sequence[JudgeRunItem], clock: Clock, more: Claims | None = None
) -> dict[int, Exception]:
    """Ask what is missing on claimed items until all is answered, or the run stops; errors by item key.

    `more` claims items before these run out, so that as many requests as may be are always on their way.
    Afterwards nobody holds the items, unless it raises: then the caller, who still holds those it gave, looks for
    the one that it came from.
    """
    errors: dict[int, Exception] = {}
    try:
        config = config_of(run.judge)
    except (BadConfiguration, AddressNotAllowed) as error:
        runs.hold(run=run, message=str(error))
    else:
        with asyncio.Runner() as runner:
            sending = Sending(run=run, config=config, items=items, clock=clock, runner=runner, more=more)
            try:
                errors = sending.work()
            except BaseException:
                answered = {item.pk for item in items}
                runs.let_go(run=run, items=[item for item in sending.items.values() if item.pk not in answered])
                raise
            items = list(sending.items.values())
    runs.let_go(run=run, items=items)
    return errors


class Sending(Answering):
    """Asks a server on the claimed items of one worker, until all their questions are answered."""

    def __init__(
        self,
        *,
        run: JudgeRun,
        config: ModelConfig,
        items: Sequence[JudgeRunItem],
        clock: Clock,
        runner: asyncio.Runner,
        more: Claims | None = None,
    ) -> None:
        super().__init__(run=run, config=config, items=items, clock=clock)
        self.runner = runner
        self.more = more
        self.in_flight: dict[asyncio.Task[Reply | Failure], _Sent] = {}
        self.n_on_file = self.n_foreign = 0
        self.stopped = False
        self.renewed_at = time.monotonic()
        self.rests_until: datetime | None = None

    def work(self) -> dict[int, Exception]:
        """Send, wait, store, until nothing is left."""
        client_stack = AsyncExitStack()
        server = connected(self.config.base_url, self.config.timeout_s)
        client = self.runner.run(client_stack.enter_async_context(server))
        try:
            while self.in_flight or (self.queue and not self.stopped):
                self._top_up()
                self._fill(client)
                done = self.runner.run(self._wait())
                self._store(done)
        finally:
            ledger.let_go(calls=[sent.call for sent in self.in_flight.values()])
            for task in self.in_flight:
                task.cancel()
            self.runner.run(client_stack.aclose())
        if self.n_on_file:
            runs.hold(run=self.run, message=ON_FILE % self.n_on_file)
        return self.errors

    # Sending

    def _top_up(self) -> None:
        """Claim more items before the queue runs out, and forget those that are done."""
        while self.more is not None and not self.stopped and len(self.queue) < self.run.concurrency:
            items = self.more()
            if not items:
                self.more = None
            self.forget_closed()
            self.add(items)

    def _fill(self, client: AsyncOpenAI) -> None:
        """Claim and send as much as may be sent now."""
        now = self.clock()
        ready = self._ready()
        room = self.run.concurrency - len(self.in_flight)
        if self.stopped or not ready or room <= 0:
            return
        wanted = [(waiting, self.request_of(waiting)) for waiting in ready]
        with transaction.atomic():
            claim = ledger.claim(
                run=self.run, config=self.config, wanted=[request for _, request in wanted], room=room, now=now
            )
        by_request = {id(request): waiting for waiting, request in wanted}
        self.rests_until = claim.rests_until
        self.stopped = claim.is_stopped
        if claim.pause_because:
            runs.hold(run=self.run, message=claim.pause_because)
            self.stopped = True
        for request in claim.held:
            by_request[id(request)].not_before = time.monotonic() + 0.05
        if claim.is_short:
            for request in claim.no_room:
                by_request[id(request)].not_before = time.monotonic() + WAIT_FOR_ANSWERS_S
        self.queue.extendleft(by_request[id(request)] for request in reversed(claim.no_room))
        self.queue.extend(by_request[id(request)] for request in claim.held)
        self.n_on_file += len(claim.on_file)
        for request, call in claim.to_send:
            task = self.runner.get_loop().create_task(ask(client, request.body))
            self.in_flight[task] = _Sent(by_request[id(request)], request, call)
        kept = kept_replies([call for _, call in claim.answered])
        self.take([(by_request[id(request)], call, kept[call.pk]) for request, call in claim.answered])

    def _ready(self) -> list[Waiting]:
        """Take what may be sent by now from the front of the queue, at most as many as run at a time."""
        now = time.monotonic()
        ready: list[Waiting] = []
        later: list[Waiting] = []
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
        self.take(replies, closing=True)
        self.n_foreign = 0 if replies else self.n_foreign
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

    def _recover(self, waiting: Waiting, failure: Failure) -> None:
        """After a failure: wait, ask in another format, pause the run, or give the question up."""
        now = time.monotonic()
        self.n_foreign += failure.trouble is Trouble.FOREIGN
        if failure.trouble is Trouble.DENIED or self.n_foreign >= MAX_SENT:
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
        elif failure.trouble in {Trouble.TRANSIENT, Trouble.FOREIGN} and waiting.n_failed + 1 < MAX_SENT:
            waiting.n_failed += 1
            waiting.not_before = now + BACKOFF_S * 2 ** (waiting.n_failed - 1)
            self.queue.append(waiting)
        else:
            item = self.item_of(waiting.question)
            self.errors[item.pk] = CallFailed(failure.message)
            self.n_open[item.pk] -= 1

    def _step_down(self, refused: Waiting) -> None:
        """The server does not know this response format: the run does not ask in it any more."""
        below = refused.response_format.below
        if below is not None and refused.response_format is self.response_format:
            self.response_format = below
        self.queue.appendleft(refused)
        for waiting in self.queue:
            waiting.response_format = ledger.format_of(waiting.question, self.response_format)
