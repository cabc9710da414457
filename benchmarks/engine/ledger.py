"""The ledger of requests to model servers: claimed before they are sent, closed when they are answered.

Everything happens under the lock of the server's row, so that all workers together keep its limit and the budget
of a run, and no request is sent by two of them. Locks are taken in one order: server, run, calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from benchmarks.engine import costs
from benchmarks.engine.runs import GOING, Lease, my_name
from benchmarks.judges.base import ResponseFormat
from benchmarks.judges.questions import ModelConfig, Question, cache_key, request_body
from benchmarks.judges.replies import Failure, Reply, Trouble
from benchmarks.models import Batch, Endpoint, JudgeCall, JudgeRun, LostReply

CALL_LEASE = Lease(timedelta(minutes=15))
"""Longer than any request may take."""
REST_WITHOUT_WORD = timedelta(seconds=1)


@dataclass(frozen=True)
class Request:
    """A question with the exact body that asks it."""

    question: Question
    response_format: ResponseFormat
    body: dict[str, Any]
    key: str

    @classmethod
    def of(cls, config: ModelConfig, question: Question, response_format: ResponseFormat) -> Request:
        body = request_body(config, question, response_format)
        return cls(
            question, response_format, body, cache_key(body, base_url=config.base_url, repeat=question.repeat)
        )


@dataclass
class Claim:
    """Requests that a worker wanted to send, by what became of them.

    `is_stopped`: the run is not going any more. `pause_because`: its budget, or its judge, lets nothing more.
    `is_short`: its budget has no room before answers come that are on their way. `on_file` was written to a file
    and waits for its reply.
    """

    to_send: list[tuple[Request, JudgeCall]] = field(default_factory=list)
    answered: list[tuple[Request, JudgeCall]] = field(default_factory=list)
    held: list[Request] = field(default_factory=list)
    on_file: list[Request] = field(default_factory=list)
    no_room: list[Request] = field(default_factory=list)
    rests_until: datetime | None = None
    is_stopped: bool = False
    pause_because: str = ""
    is_short: bool = False


def most_in_flight() -> int:
    """Requests that one server gets at a time from all workers together."""
    return int(settings.OPENAI_MAX_IN_FLIGHT)


def claim(
    *,
    run: JudgeRun,
    config: ModelConfig,
    wanted: Sequence[Request],
    room: int,
    now: datetime,
    batch: Batch | None = None,
    states: Collection[str] = GOING,
) -> Claim:
    """Claim requests in order, as many as `room`, the server's limit and the run's budget let; in a transaction.

    What was answered before costs nothing. What another worker is sending is held: ask again later. A request
    that failed, or whose worker ended, is claimed anew. State and budget of the run are read under its lock, so
    that nothing is sent after a pause or beyond a budget that was lowered. With a `batch` they are claimed for its
    files, whatever the server's limit.
    """
    endpoint = _locked(config.base_url)
    rows = JudgeRun.objects.select_for_update(no_key=True, of=("self",)).select_related("judge")
    current = rows.get(pk=run.pk)
    if current.state not in states:
        return Claim(no_room=list(wanted), is_stopped=True)
    if current.judge.archived_at is not None:
        return Claim(no_room=list(wanted), pause_because="The judge is archived and sends no more requests.")
    claim = Claim()
    flight = _in_flight(config.base_url, now)
    if batch is None:
        if endpoint.rests_until is not None and endpoint.rests_until > now:
            claim.rests_until, room = endpoint.rests_until, 0
        room = min(room, endpoint.limit_now - len(flight.alive))
    share = Decimal(1) if batch is None else batch.price_share
    budget = costs.Budget(run=current, config=config, gone=set(flight.gone.values()), now=now, price_share=share)
    # Without the replies, which are long: they are read when the locks are gone
    calls = JudgeCall.objects.filter(cache_key__in={r.key for r in wanted}).defer("reply")
    known = {call.cache_key: call for call in calls}
    fresh: dict[str, tuple[Request, JudgeCall]] = {}
    for request in wanted:
        call = known.get(request.key)
        if call is not None and call.state == JudgeCall.State.ANSWERED:
            claim.answered.append((request, call))
        elif call is not None and call.batch_id is not None and call.state == JudgeCall.State.ASKED:
            claim.on_file.append(request)
        elif request.key in flight.alive or request.key in fresh:
            claim.held.append(request)
        elif room <= 0:
            claim.no_room.append(request)
        elif not budget.admits(most := costs.worst_tokens(request.body)):
            room = 0  # in order: a small one does not overtake what waits for room in the budget
            claim.no_room.append(request)
            claim.pause_because, claim.is_short = budget.pause_because, not budget.pause_because
        else:
            room -= 1
            holder = _Holder(run, batch, now, most)
            if call is not None:
                claim.to_send.append((request, _taken_over(call, holder)))
            else:
                fresh[request.key] = (request, _new(config, request, holder))
    JudgeCall.objects.bulk_create([call for _, call in fresh.values()])
    claim.to_send += fresh.values()
    return claim


def _locked(base_url: str) -> Endpoint:
    Endpoint.objects.get_or_create(base_url=base_url, defaults={"limit_now": most_in_flight()})
    return Endpoint.objects.select_for_update().get(base_url=base_url)


@dataclass(frozen=True)
class _Flight:
    """{cache key: pk} of live requests to a server without a reply: a worker waits for it, or has ended."""

    alive: dict[str, int]
    gone: dict[str, int]


def _in_flight(base_url: str, now: datetime) -> _Flight:
    flight = _Flight({}, {})
    in_flight = JudgeCall.objects.filter(state=JudgeCall.State.ASKED, base_url=base_url, batch=None)
    for pk, key, is_gone in in_flight.annotate(is_gone=CALL_LEASE.free(now)).values_list(
        "pk", "cache_key", "is_gone"
    ):
        (flight.gone if is_gone else flight.alive)[key] = pk
    return flight


@dataclass(frozen=True)
class _Holder:
    """Who sends a request: a worker for a run, now or with the files of a batch, at most so many tokens."""

    run: JudgeRun
    batch: Batch | None
    now: datetime
    most: tuple[int, int]

    def take(self, call: JudgeCall) -> JudgeCall:
        """Write it on a call that is not stored yet."""
        call.state, call.run, call.claimed_at = JudgeCall.State.ASKED, self.run, self.now
        call.batch, call.claimed_by = self.batch, my_name() if self.batch is None else ""
        call.price_share = Decimal(1) if self.batch is None else self.batch.price_share
        call.most_prompt_tokens, call.most_completion_tokens = self.most
        return call


def _taken_over(call: JudgeCall, holder: _Holder) -> JudgeCall:
    if call.state == JudgeCall.State.ASKED:  # its worker ended; the server may have answered
        _lost(call).save()
    holder.take(call)
    call.n_sent += 1
    call.save(update_fields=[
        "state", "run", "batch", "price_share", "claimed_at", "claimed_by", "most_prompt_tokens",
        "most_completion_tokens", "n_sent",
    ])  # fmt: skip
    return call


def _lost(call: JudgeCall) -> LostReply:
    return LostReply(
        run_id=call.run_id,
        call=call,
        sent_at=call.claimed_at,
        most_prompt_tokens=call.most_prompt_tokens,
        most_completion_tokens=call.most_completion_tokens,
    )


def _new(config: ModelConfig, request: Request, holder: _Holder) -> JudgeCall:
    call = JudgeCall(
        cache_key=request.key,
        base_url=config.base_url,
        model=config.model,
        prompt_sha256=hashlib.sha256(
            request.body["messages"][0]["content"].encode("utf-8", "replace")
        ).hexdigest(),
        repeat=request.question.repeat,
        response_format=request.response_format.value,
        is_repair=request.question.repair is not None,
        temperature=request.body.get("temperature"),
        seed=request.body.get("seed"),
    )
    return holder.take(call)


_CLOSED = [
    "state", "answered_at", "reply", "model_returned", "fingerprint", "request_id", "latency_ms", "prompt_tokens",
    "cached_tokens", "completion_tokens", "reasoning_tokens", "status", "error",
]  # fmt: skip


def close(*, outcomes: Iterable[tuple[JudgeCall, Reply | Failure]], now: datetime) -> None:
    """Write down what came back; the server's limit follows. Call inside a transaction.

    A request that another worker took over in the meantime is that worker's: here it stays `asked`.
    """
    pairs = list(outcomes)
    for base_url in sorted({call.base_url for call, _out in pairs}):
        endpoint = _locked(base_url)
        here = [(call, out) for call, out in pairs if call.base_url == base_url]
        held = _still_held([call for call, _out in here])
        _close(endpoint, [(call, out) for call, out in here if call.pk in held], now)


def _still_held(calls: Collection[JudgeCall]) -> set[int]:
    """Keys of calls that are in flight as this worker sent them, and not sent again since."""
    rows = JudgeCall.objects.filter(
        pk__in=[call.pk for call in calls], state=JudgeCall.State.ASKED, claimed_by=my_name()
    )
    sent = {call.pk: call.n_sent for call in calls}
    return {pk for pk, n_sent in rows.values_list("pk", "n_sent") if sent[pk] == n_sent}


def _close(endpoint: Endpoint, pairs: Sequence[tuple[JudgeCall, Reply | Failure]], now: datetime) -> None:
    for call, outcome in pairs:
        _fill(call, outcome, now)
        call.save(update_fields=_CLOSED)  # many small updates are faster than one that tells rows apart
    lost = [call for call, out in pairs if isinstance(out, Failure) and out.may_be_paid]
    if lost:
        LostReply.objects.bulk_create([_lost(call) for call in lost])
    refused = [(call, out) for call, out in pairs if isinstance(out, Failure) and out.trouble is Trouble.BUSY]
    if refused:
        _slow_down(endpoint, refused, now)
    elif any(isinstance(out, Reply) for _call, out in pairs) and endpoint.limit_now < most_in_flight():
        endpoint.limit_now += 1
        endpoint.save(update_fields=["limit_now"])


def _fill(call: JudgeCall, outcome: Reply | Failure, now: datetime) -> None:
    call.latency_ms, call.request_id = outcome.latency_ms, outcome.request_id
    if isinstance(outcome, Failure):
        call.state, call.status, call.error = JudgeCall.State.FAILED, outcome.status, outcome.message
        return
    call.state, call.answered_at, call.reply, call.error = JudgeCall.State.ANSWERED, now, outcome.raw, ""
    call.status, call.model_returned, call.fingerprint = 200, outcome.model, outcome.fingerprint
    call.prompt_tokens, call.cached_tokens = outcome.usage.prompt_tokens, outcome.usage.cached_tokens
    call.completion_tokens, call.reasoning_tokens = (
        outcome.usage.completion_tokens,
        outcome.usage.reasoning_tokens,
    )


def close_on_file(*, batch: Batch, outcomes: Mapping[str, Reply | Failure], now: datetime) -> set[str]:
    """Write down what came back for the files of a batch, by cache key; the keys that had no answer before.

    A reply to a request that was given up counts; one to a request that was sent again since does not. Call inside
    a transaction.
    """
    _locked(batch.base_url)
    open_calls = JudgeCall.objects.filter(batch=batch, cache_key__in=outcomes).exclude(
        state=JudgeCall.State.ANSWERED
    )
    closed: set[str] = set()
    for call in open_calls.select_for_update():
        outcome = outcomes[call.cache_key]
        if isinstance(outcome, Failure) and call.state == JudgeCall.State.FAILED:
            continue
        call.lost_replies.filter(sent_at=call.claimed_at).delete()
        if isinstance(outcome, Failure) and outcome.may_be_paid:
            _lost(call).save()
        _fill(call, outcome, now)
        call.latency_ms = None
        call.save(update_fields=_CLOSED)
        closed.add(call.cache_key)
    return closed


@transaction.atomic
def give_up(*, batch: Batch, message: str, may_be_paid: bool) -> int:
    """Requests of a batch without a reply may be sent again; how many there were."""
    _locked(batch.base_url)
    waiting = list(JudgeCall.objects.select_for_update().filter(batch=batch, state=JudgeCall.State.ASKED))
    if may_be_paid:
        LostReply.objects.bulk_create([_lost(call) for call in waiting])
    rows = JudgeCall.objects.filter(pk__in=[call.pk for call in waiting])
    return rows.update(state=JudgeCall.State.FAILED, error=message)


def _slow_down(endpoint: Endpoint, refused: Sequence[tuple[JudgeCall, Failure]], now: datetime) -> None:
    """Rest as long as the server says; halve the limit, once for all requests sent since it was last halved."""
    waits = [timedelta(seconds=out.wait_s) for _call, out in refused if out.wait_s is not None]
    until = now + max(waits, default=REST_WITHOUT_WORD)
    endpoint.rests_until = max(until, endpoint.rests_until or until)
    last = endpoint.last_halved_at
    if last is None or any(call.claimed_at > last for call, _out in refused):
        n_alive = len(_in_flight(endpoint.base_url, now).alive)
        endpoint.limit_now = max(1, min(endpoint.limit_now, n_alive + len(refused)) // 2)
        endpoint.last_halved_at = now
    endpoint.save(update_fields=["rests_until", "limit_now", "last_halved_at"])


@transaction.atomic
def let_go(*, calls: Iterable[JudgeCall]) -> None:
    """Requests whose answers nobody will read any more may be sent again by anybody; they count as lost."""
    sent = list(calls)
    if not sent:
        return
    for base_url in sorted({call.base_url for call in sent}):
        _locked(base_url)
    held = _still_held(sent)
    LostReply.objects.bulk_create([_lost(call) for call in sent if call.pk in held])
    JudgeCall.objects.filter(pk__in=held).update(
        state=JudgeCall.State.FAILED, error="Interrupted before the answer came."
    )


def format_of(question: Question, remembered: ResponseFormat) -> ResponseFormat:
    """The format to ask a question in; free text names none."""
    return ResponseFormat.NONE if question.schema() is None else remembered


def remembered_format(config: ModelConfig) -> ResponseFormat:
    """The response format that this server and model last answered to; the strictest if it is new.

    Requests that name none, such as those for AutoDS scores, say nothing about it.
    """
    answered = JudgeCall.objects.filter(
        base_url=config.base_url, model=config.model, state=JudgeCall.State.ANSWERED
    ).exclude(response_format=ResponseFormat.NONE.value)
    response_format = answered.order_by("-answered_at").values_list("response_format", flat=True).first()
    return ResponseFormat(response_format) if response_format else ResponseFormat.SCHEMA
