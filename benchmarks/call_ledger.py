"""The book of requests to model servers: claimed before they are sent, closed when they are answered.

Everything happens under the lock of the server's row, so that all workers together keep its limit and no
request is sent by two of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from benchmarks import prepared, workers
from benchmarks.judges.openai import Failure, Reply, Trouble
from benchmarks.judges.questions import ModelConfig, Question, Rung, cache_key, request_body
from benchmarks.models import Endpoint, JudgeCall, JudgeRun

CALL_LEASE = timedelta(minutes=15)
"""Longer than any request may take."""
REST_WITHOUT_WORD = timedelta(seconds=1)


@dataclass(frozen=True)
class Request:
    """A question with the exact body that asks it."""

    question: Question
    rung: Rung
    body: dict[str, Any]
    key: str

    @classmethod
    def of(cls, config: ModelConfig, question: Question, rung: Rung) -> Request:
        """Word a question for a server."""
        body = request_body(config, question, rung)
        return cls(question, rung, body, cache_key(body, base_url=config.base_url, repeat=question.repeat))


@dataclass
class Claim:
    """What became of the requests that a worker wanted to send."""

    to_send: list[tuple[Request, JudgeCall]] = field(default_factory=list)
    answered: list[tuple[Request, JudgeCall]] = field(default_factory=list)
    held: list[Request] = field(default_factory=list)
    no_room: list[Request] = field(default_factory=list)
    rests_until: datetime | None = None


def most_in_flight() -> int:
    """Requests that one server gets at a time from all workers together."""
    return int(settings.OPENAI_MAX_IN_FLIGHT)


def claim(*, run: JudgeRun, config: ModelConfig, wanted: Sequence[Request], room: int, now: datetime) -> Claim:
    """Claim requests, as many as `room` and the server's limit let; call inside a transaction.

    What was answered before costs nothing. What another worker is sending is held: ask again later. A request
    that failed, or whose worker ended, is claimed anew.
    """
    endpoint = _locked(config.base_url)
    found = Claim()
    if endpoint.rests_until is not None and endpoint.rests_until > now:
        found.rests_until, room = endpoint.rests_until, 0
    room = min(room, endpoint.limit_now - _alive(now).filter(base_url=config.base_url).count())
    known = {call.cache_key: call for call in JudgeCall.objects.filter(cache_key__in={r.key for r in wanted})}
    alive = set(_alive(now).filter(cache_key__in=known).values_list("cache_key", flat=True))
    fresh: dict[str, tuple[Request, JudgeCall]] = {}
    for request in wanted:
        call = known.get(request.key)
        if call is not None and call.state == JudgeCall.State.ANSWERED:
            found.answered.append((request, call))
        elif request.key in alive or request.key in fresh:
            found.held.append(request)
        elif len(found.to_send) + len(fresh) >= room:
            found.no_room.append(request)
        elif call is not None:
            found.to_send.append((request, _taken_over(call, run=run, now=now)))
        else:
            fresh[request.key] = (request, _new(run=run, config=config, request=request, now=now))
    JudgeCall.objects.bulk_create([call for _, call in fresh.values()])
    found.to_send += fresh.values()
    return found


def _locked(base_url: str) -> Endpoint:
    Endpoint.objects.get_or_create(base_url=base_url, defaults={"limit_now": most_in_flight()})
    return Endpoint.objects.select_for_update().get(base_url=base_url)


def _alive(now: datetime) -> Any:
    """Requests in flight whose worker still waits for them."""
    return JudgeCall.objects.filter(state=JudgeCall.State.ASKED, claimed_at__gt=now - CALL_LEASE).exclude(
        claimed_by__in=workers.gone()
    )


def _taken_over(call: JudgeCall, *, run: JudgeRun, now: datetime) -> JudgeCall:
    call.state, call.run, call.claimed_at, call.claimed_by = JudgeCall.State.ASKED, run, now, workers.my_name()
    call.n_sent += 1
    call.save(update_fields=["state", "run", "claimed_at", "claimed_by", "n_sent"])
    return call


def _new(*, run: JudgeRun, config: ModelConfig, request: Request, now: datetime) -> JudgeCall:
    return JudgeCall(
        cache_key=request.key,
        run=run,
        base_url=config.base_url,
        model=config.model,
        prompt_sha256=hashlib.sha256(request.body["messages"][0]["content"].encode()).hexdigest(),
        repeat=request.question.repeat,
        rung=request.rung.value,
        is_repair=request.question.repair is not None,
        temperature=config.temperature,
        seed=request.body.get("seed"),
        claimed_at=now,
        claimed_by=workers.my_name(),
    )


_CLOSED = [
    "state", "answered_at", "reply", "model_returned", "fingerprint", "request_id", "latency_ms", "prompt_tokens",
    "cached_tokens", "completion_tokens", "reasoning_tokens", "status", "error",
]  # fmt: skip


def close(*, outcomes: Iterable[tuple[JudgeCall, Reply | Failure]], now: datetime) -> None:
    """Write down what came back; the server's limit follows. Call inside a transaction."""
    pairs = list(outcomes)
    for call, outcome in pairs:
        _fill(call, outcome, now)
        prepared.update(call, *_CLOSED)  # many small updates are faster than one that tells rows apart
    busy = [(call, out) for call, out in pairs if isinstance(out, Failure) and out.trouble is Trouble.BUSY]
    for base_url in {call.base_url for call, _ in pairs}:
        refused = [(call, out) for call, out in busy if call.base_url == base_url]
        if refused:
            _slow_down(base_url, refused, now)
        elif any(isinstance(out, Reply) and call.base_url == base_url for call, out in pairs):
            _speed_up(base_url)


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


def _slow_down(base_url: str, refused: Sequence[tuple[JudgeCall, Failure]], now: datetime) -> None:
    """Rest as long as the server says; halve the limit, once for all requests sent since it was last halved."""
    endpoint = _locked(base_url)
    waits = [timedelta(seconds=out.wait_s) for _, out in refused if out.wait_s is not None]
    until = now + max(waits, default=REST_WITHOUT_WORD)
    endpoint.rests_until = max(until, endpoint.rests_until or until)
    last = endpoint.last_halved_at
    if last is None or any(call.claimed_at > last for call, _ in refused):
        in_flight = _alive(now).filter(base_url=base_url).count() + len(refused)
        endpoint.limit_now = max(1, min(endpoint.limit_now, in_flight) // 2)
        endpoint.last_halved_at = now
    endpoint.save(update_fields=["rests_until", "limit_now", "last_halved_at"])


def _speed_up(base_url: str) -> None:
    endpoint = _locked(base_url)
    if endpoint.limit_now < most_in_flight():
        endpoint.limit_now += 1
        endpoint.save(update_fields=["limit_now"])


def let_go(*, calls: Iterable[JudgeCall]) -> None:
    """Requests whose answers nobody will read any more may be sent again by anybody."""
    JudgeCall.objects.filter(pk__in=[call.pk for call in calls], state=JudgeCall.State.ASKED).update(
        state=JudgeCall.State.FAILED, error="Interrupted before the answer came."
    )


def remembered_rung(config: ModelConfig) -> Rung:
    """The shape of replies that this server and model last answered to; the strictest if it is new."""
    rung = (
        JudgeCall.objects.filter(base_url=config.base_url, model=config.model, state=JudgeCall.State.ANSWERED)
        .order_by("-answered_at")
        .values_list("rung", flat=True)
        .first()
    )
    return Rung(rung) if rung else Rung.SCHEMA
