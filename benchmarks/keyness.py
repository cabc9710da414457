"""AutoDS scores: how far a model prefers yes to no when asked whether a point is key, by log-probabilities.

A score is stored with its key point, the reply with the call, so that nothing is asked twice. A point of which the
server listed one answer only has bounds and no score; it stays without one, and is counted.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from benchmarks import call_ledger, workers
from benchmarks.judges.openai import Failure, Reply, Trouble, ask, open_client
from benchmarks.judges.prompts import text_of
from benchmarks.judges.questions import ModelConfig, cache_key
from benchmarks.model_judging import config_of
from benchmarks.models import Judge, JudgeCall, KeyPoint
from benchmarks.scoring import autods

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Clock = Callable[[], datetime]
N_LISTED = 20
"""Most likely first tokens that the server is asked to list."""
MAX_WAIT_S = 30.0
TRIES = 3


class ScoringStopped(Exception):
    """The server will not answer anybody; the message is its own."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of key points: scored, bounded on one side only, without either answer, without a reply."""

    n_scored: int
    n_bounded: int
    n_unanswered: int
    n_failed: int
    n_asked: int


def score_key_points(
    *, judge: Judge, key_points: Iterable[KeyPoint], clock: Clock, concurrency: int = 8
) -> Scored:
    """Give every key point a score that has none yet; `question` should be fetched with them.

    Raises:
        BadConfiguration, AddressNotAllowed: the judge cannot be asked.
        ScoringStopped: the key or the quota is refused; what was scored before stays.
    """
    config = config_of(judge)
    waiting = [point for point in key_points if point.autods is None]
    counts: Counter[str] = Counter()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        client = runner.run(stack.enter_async_context(open_client(config)))
        try:
            for start in range(0, len(waiting), concurrency):
                batch = waiting[start : start + concurrency]
                _score(batch, config=config, client=client, runner=runner, clock=clock, counts=counts)
        finally:
            runner.run(stack.aclose())
    names = ("scored", "bounded", "unanswered", "failed", "asked")
    return Scored(*(counts[name] for name in names))


def score_of(reply: Mapping[str, Any]) -> autods.Score:
    """The score that a stored chat completion holds; spellings of yes and of no are added up."""
    try:
        listed = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        pairs = [(str(one["token"]), float(one["logprob"])) for one in listed]
    except (KeyError, IndexError, TypeError, ValueError):
        return autods.Score(None, None, None, "the server lists no log-probabilities")
    sides: dict[str, list[float]] = {"yes": [], "no": []}
    for token, logprob in pairs:
        word = token.strip(" \t\n\r\"'.,:*_▁Ġ").lower()
        if word in sides:
            sides[word].append(logprob)
    least = min((logprob for _, logprob in pairs), default=None)
    return autods.score(sides["yes"], sides["no"], least_listed=least)


def _score(
    batch: Sequence[KeyPoint],
    *,
    config: ModelConfig,
    client: AsyncOpenAI,
    runner: asyncio.Runner,
    clock: Clock,
    counts: Counter[str],
) -> None:
    bodies = {point.pk: _body(config, point) for point in batch}
    keys = {pk: cache_key(body, base_url=config.base_url, repeat=0) for pk, body in bodies.items()}
    known = {
        call.cache_key: call.reply
        for call in JudgeCall.objects.filter(cache_key__in=keys.values(), state=JudgeCall.State.ANSWERED)
    }
    replies = {pk: known[key] for pk, key in keys.items() if key in known}
    lacking = {pk: body for pk, body in bodies.items() if pk not in replies}
    calls = {pk: _claimed(config, lacking[pk], keys[pk], clock()) for pk in lacking}
    counts["asked"] += len(lacking)
    outcomes = runner.run(_ask_all(client, lacking))
    with transaction.atomic():
        call_ledger.close(outcomes=[(calls[pk], outcome) for pk, outcome in outcomes.items()], now=clock())
    replies |= {pk: outcome.raw for pk, outcome in outcomes.items() if isinstance(outcome, Reply)}
    for point in batch:
        _store(point, replies.get(point.pk), counts)
    denied = [out for out in outcomes.values() if isinstance(out, Failure) and out.trouble is Trouble.DENIED]
    if denied:
        raise ScoringStopped(denied[0].message)


def _store(point: KeyPoint, reply: Mapping[str, Any] | None, counts: Counter[str]) -> None:
    if reply is None:
        counts["failed"] += 1
        return
    found = score_of(reply)
    if found.value is not None:
        KeyPoint.objects.filter(pk=point.pk, autods=None).update(autods=found.value)
        counts["scored"] += 1
    else:
        counts["bounded" if found.low is not None else "unanswered"] += 1


def _body(config: ModelConfig, point: KeyPoint) -> dict[str, Any]:
    asked = f"Question:\n{point.question.text}\nPoint:\n{point.text}\nAnswer:"
    return {
        "model": config.model,
        "messages": [{"role": "system", "content": text_of("autods")}, {"role": "user", "content": asked}],
        "max_completion_tokens": 1,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": N_LISTED,
    }


def _claimed(config: ModelConfig, body: Mapping[str, Any], key: str, now: datetime) -> JudgeCall:
    """The call on record, made or taken over."""
    call, is_new = JudgeCall.objects.get_or_create(
        cache_key=key,
        defaults={
            "base_url": config.base_url,
            "model": config.model,
            "prompt_sha256": hashlib.sha256(body["messages"][0]["content"].encode()).hexdigest(),
            "rung": "text",
            "temperature": body["temperature"],
            "claimed_at": now,
            "claimed_by": workers.my_name(),
        },
    )
    if not is_new:
        call.state, call.claimed_at, call.n_sent = JudgeCall.State.ASKED, now, call.n_sent + 1
        call.save(update_fields=["state", "claimed_at", "n_sent"])
    return call


async def _ask_all(client: AsyncOpenAI, bodies: Mapping[int, dict[str, Any]]) -> dict[int, Reply | Failure]:
    replies = await asyncio.gather(*(_ask(client, body) for body in bodies.values()))
    return dict(zip(bodies, replies, strict=True))


async def _ask(client: AsyncOpenAI, body: dict[str, Any]) -> Reply | Failure:
    """Ask up to three times where waiting can help."""
    outcome = await ask(client, body)
    for attempt in range(1, TRIES):
        if isinstance(outcome, Reply) or outcome.trouble not in {Trouble.BUSY, Trouble.TRANSIENT}:
            break
        await asyncio.sleep(min(outcome.wait_s if outcome.wait_s is not None else 0.5 * attempt, MAX_WAIT_S))
        outcome = await ask(client, body)
    return outcome
