"""One request to a server that speaks the OpenAI protocol, and what came of it. The SDK is imported on use.

A client lives inside one event loop. Retrying, waiting and paying are the caller's: the SDK's own retries are
off, so that every request that is sent is counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

from benchmarks.judges.cleaning import MOST_BYTES, NOTE, clean, clean_text

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import APIStatusError, AsyncOpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "no-key-is-set"
MAX_WAIT_S = 300.0
MOST_TOKENS = 2**31 - 1
"""The largest count that is stored."""
_LOST_BEHIND_A_GATEWAY = {408, 502, 504}
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_DECODING_WORDS = ("top_k", "top_p")
"""A server that refuses one of these refuses every request with it, and none is paid: the run pauses."""
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "structured", "schema", "grammar")


class AddressNotAllowed(ValueError):
    """The address is not on the list of the settings."""


class Trouble(StrEnum):
    """What went wrong with a request, by what helps: waiting, another response format, a person, or nothing."""

    BUSY = "busy"
    TRANSIENT = "transient"
    FORMAT = "format"
    DENIED = "denied"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counts them; None where it does not say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Reply:
    """What the server answered; `text` is empty where it refused."""

    text: str
    raw: dict[str, Any]
    usage: Usage
    latency_ms: int
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    finish_reason: str = ""
    refusal: str = ""

    @property
    def is_cut_off(self) -> bool:
        """Whether the reply ended at its token limit."""
        return self.finish_reason == "length"

    @property
    def is_refused(self) -> bool:
        """Whether the model, or a filter, would not answer."""
        return bool(self.refusal) or self.finish_reason == "content_filter"


@dataclass(frozen=True)
class Failure:
    """No answer; `wait_s` is what the server asked for, where it did.

    `may_be_paid`: the server may have answered and counted it, and the reply was lost on the way.
    """

    trouble: Trouble
    message: str
    latency_ms: int
    status: int | None = None
    wait_s: float | None = None
    request_id: str = ""
    may_be_paid: bool = False


def check_address(base_url: str) -> str:
    """The address as it is used, if the settings allow it.

    Raises:
        AddressNotAllowed: it is not in `OPENAI_BASE_URLS`.
    """
    allowed = {address.rstrip("/") for address in settings.OPENAI_BASE_URLS}
    if base_url.rstrip("/") not in allowed:
        raise AddressNotAllowed(f"{base_url} is not allowed; OPENAI_BASE_URLS lists {', '.join(sorted(allowed))}.")
    return base_url.rstrip("/")


@cache
def _ssl_context() -> SSLContext:
    """The authorities that servers are checked by, read once in a process: reading takes longer than a request."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


@asynccontextmanager
async def connected(base_url: str, timeout_s: float) -> AsyncIterator[AsyncOpenAI]:
    """A client for a server; the key comes from the environment and goes nowhere else."""
    from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

    async with AsyncOpenAI(
        base_url=check_address(base_url),
        api_key=os.environ.get(KEY_VARIABLE, "").strip() or NO_KEY,
        timeout=timeout_s,
        max_retries=0,
        http_client=DefaultAsyncHttpx2Client(follow_redirects=False, verify=_ssl_context()),
    ) as client:
        yield client


async def ask(client: AsyncOpenAI, body: Mapping[str, Any]) -> Reply | Failure:
    """Send one request, once."""
    began = time.perf_counter()

    async def send() -> Reply:
        # As extra body, since the SDK would walk through every word of the messages and the schema
        raw = await client.chat.completions.with_raw_response.create(
            model=body["model"], messages=[], extra_body=dict(body)
        )
        return read_body(raw.http_response.content, raw.headers, _ms(began))

    return await _sent(client, send, began, what="a chat completion")


async def post(base_url: str, path: str, body: Mapping[str, Any], *, timeout_s: float) -> Any | Failure:
    """Send one request to another endpoint of a server, once; gives its JSON.

    Raises:
        AddressNotAllowed: the settings do not list it.
    """
    began = time.perf_counter()
    async with connected(base_url, timeout_s) as client:

        async def send() -> Any:
            return await client.post(path, body=dict(body), cast_to=object)

        return await _sent(client, send, began, what="JSON")


Got = TypeVar("Got")


async def _sent(
    client: AsyncOpenAI, send: Callable[[], Awaitable[Got]], began: float, *, what: str
) -> Got | Failure:
    """What `send` gives, or why there is no answer."""
    import openai

    try:
        async with asyncio.timeout(float(client.timeout) if isinstance(client.timeout, int | float) else None):
            return await send()
    except openai.APIStatusError as error:
        return _failure(error, _ms(began))
    except (openai.APIConnectionError, TimeoutError) as error:
        slow = isinstance(error, TimeoutError | openai.APITimeoutError)
        message = "The server did not answer in time." if slow else f"The server could not be reached ({error})."
        return Failure(
            Trouble.TRANSIENT, clean_text(message), _ms(began), may_be_paid=not _was_never_connected(error)
        )
    except Exception as error:  # whatever a server sends, it is one failed attempt and no more
        message = f"The server's answer is not {what} ({type(error).__name__})."
        return Failure(Trouble.TRANSIENT, message, _ms(began), may_be_paid=True)


def _ms(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)


def _was_never_connected(error: BaseException) -> bool:
    """Whether no word of the request can have come to the server."""
    return type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout"}


def read_body(body: bytes, headers: Mapping[str, str], latency_ms: int) -> Reply:
    """What a server sent as a chat completion.

    One that is paid and can't be read at all, too long or nested without end, is a reply without a text.

    Raises:
        ValueError, KeyError, IndexError, TypeError, AttributeError: it is no chat completion.
    """
    if len(body) > MOST_BYTES:
        return _unreadable(f"The answer has {len(body):,} bytes; {MOST_BYTES:,} are read.", headers, latency_ms)
    try:
        data = json.loads(body.decode("utf-8", "replace"))
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        return _unreadable(f"The answer cannot be parsed ({type(error).__name__}).", headers, latency_ms)
    return read_reply(data, headers, latency_ms)


def _unreadable(reason: str, headers: Mapping[str, str], latency_ms: int) -> Reply:
    return read_reply({"choices": [{"message": {}}], NOTE: [reason]}, headers, latency_ms)


def read_reply(data: dict[str, Any], headers: Mapping[str, str], latency_ms: int) -> Reply:
    """What a chat completion says, without what cannot be stored; KeyError and the like if it is none."""
    notes: set[str] = set()
    data = clean(data, notes=notes)
    if notes:
        data[NOTE] = [*data.get(NOTE, ()), *sorted(notes)]
    choice = data["choices"][0]
    message = choice["message"]
    usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
    return Reply(
        text=str(message.get("content") or ""),
        raw=data,
        usage=Usage(
            prompt_tokens=_count(usage, "prompt_tokens"),
            cached_tokens=_cached(usage),
            completion_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        ),
        latency_ms=latency_ms,
        model=str(data.get("model") or "")[:200],
        fingerprint=str(data.get("system_fingerprint") or "")[:100],
        request_id=clean_text(str(headers.get("x-request-id") or data.get("id") or ""))[:100],
        finish_reason=str(choice.get("finish_reason") or "")[:40],
        refusal=str(message.get("refusal") or ""),
    )


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return min(value, MOST_TOKENS)


def _cached(usage: Mapping[str, Any]) -> int | None:
    """Tokens from the server's cache, which are a part of those of the prompt."""
    cached, prompt = _count(usage.get("prompt_tokens_details"), "cached_tokens"), _count(usage, "prompt_tokens")
    return cached if cached is None or prompt is None else min(cached, prompt)


def _failure(error: APIStatusError, latency_ms: int) -> Failure:
    message = _message(error)
    return Failure(
        trouble=_trouble(error.status_code, str(error.code or ""), message),
        message=f"{error.status_code}: {message}",
        latency_ms=latency_ms,
        status=error.status_code,
        wait_s=_wait_s(error.response.headers.get("retry-after")),
        request_id=clean_text(str(error.request_id or ""))[:100],
        may_be_paid=error.status_code in _LOST_BEHIND_A_GATEWAY,
    )


def _message(error: APIStatusError) -> str:
    """The server's words, without the key should it repeat it."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = clean_text(str(message or error.message)[:500])
    key = os.environ.get(KEY_VARIABLE, "").strip()
    return text.replace(key, "…") if key else text


def _trouble(status: int, code: str, message: str) -> Trouble:
    if status in {401, 403} or code in _QUOTA:
        return Trouble.DENIED
    if status == 429:
        return Trouble.BUSY
    if status in {400, 422} and any(word in message.lower() for word in _FORMAT_WORDS):
        return Trouble.FORMAT
    if status in {400, 422} and any(word in message.lower() for word in _DECODING_WORDS):
        return Trouble.DENIED
    if status in {408, 409} or status >= 500:
        return Trouble.TRANSIENT
    return Trouble.DENIED if status in {402, 404} else Trouble.REJECTED


def _wait_s(header: str | None) -> float | None:
    """Seconds of a Retry-After header; a date or nonsense counts as none."""
    try:
        seconds = float(header) if header else None
    except ValueError:
        return None
    return min(max(seconds, 0.0), MAX_WAIT_S) if seconds is not None and seconds == seconds else None
