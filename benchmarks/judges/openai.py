"""One request to a server that speaks the OpenAI protocol, and what came of it. The SDK is imported on use.

A client lives inside one event loop. Retrying, waiting and paying are the caller's: the SDK's own retries are
off, so that every request that is sent is counted.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.conf import settings

from benchmarks.judges.questions import ModelConfig

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "no-key-is-set"
MAX_WAIT_S = 300.0
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "structured", "schema", "grammar")


class AddressNotAllowed(ValueError):
    """The address is not on the list of the settings."""


class Trouble(StrEnum):
    """What went wrong with a request, by what helps: waiting, another shape, a person, or nothing."""

    BUSY = "busy"
    TRANSIENT = "transient"
    SHAPE = "shape"
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
    """No answer; `wait_s` is what the server asked for, where it did."""

    trouble: Trouble
    message: str
    latency_ms: int
    status: int | None = None
    wait_s: float | None = None
    request_id: str = ""


def check_address(base_url: str) -> str:
    """The address as it is used, if the settings allow it.

    Raises:
        AddressNotAllowed: it is not in `OPENAI_BASE_URLS`.
    """
    allowed = {address.rstrip("/") for address in settings.OPENAI_BASE_URLS}
    if base_url.rstrip("/") not in allowed:
        raise AddressNotAllowed(f"{base_url} is not allowed; OPENAI_BASE_URLS lists {', '.join(sorted(allowed))}.")
    return base_url.rstrip("/")


@asynccontextmanager
async def open_client(config: ModelConfig) -> AsyncIterator[AsyncOpenAI]:
    """A client for this judge's server; the key comes from the environment and goes nowhere else."""
    from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

    async with AsyncOpenAI(
        base_url=check_address(config.base_url),
        api_key=os.environ.get(KEY_VARIABLE, "").strip() or NO_KEY,
        timeout=config.timeout_s,
        max_retries=0,
        http_client=DefaultAsyncHttpx2Client(follow_redirects=False),
    ) as client:
        yield client


async def ask(client: AsyncOpenAI, body: Mapping[str, Any]) -> Reply | Failure:
    """Send one request, once."""
    import openai

    began = time.perf_counter()
    try:
        async with asyncio.timeout(float(client.timeout) if isinstance(client.timeout, int | float) else None):
            # As extra body, since the SDK would walk through every word of the messages and the schema
            raw = await client.chat.completions.with_raw_response.create(
                model=body["model"], messages=[], extra_body=dict(body)
            )
        return read_reply(raw.http_response.json(), raw.headers, _ms(began))
    except openai.APIStatusError as error:
        return _failure(error, _ms(began))
    except (openai.APIConnectionError, TimeoutError) as error:
        slow = isinstance(error, TimeoutError | openai.APITimeoutError)
        said = "The server did not answer in time." if slow else f"The server could not be reached ({error})."
        return Failure(Trouble.TRANSIENT, said, _ms(began))
    except (ValueError, KeyError, TypeError, IndexError, openai.OpenAIError) as error:
        said = f"The server's answer is no chat completion ({type(error).__name__})."
        return Failure(Trouble.TRANSIENT, said, _ms(began))


def _ms(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)


def read_reply(data: dict[str, Any], headers: Mapping[str, str], latency_ms: int) -> Reply:
    """What a chat completion says; KeyError, IndexError or TypeError if it is none."""
    choice = data["choices"][0]
    message = choice["message"]
    usage = data.get("usage") or {}
    return Reply(
        text=str(message.get("content") or ""),
        raw=data,
        usage=Usage(
            prompt_tokens=_count(usage, "prompt_tokens"),
            cached_tokens=_count(usage.get("prompt_tokens_details"), "cached_tokens"),
            completion_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        ),
        latency_ms=latency_ms,
        model=str(data.get("model") or "")[:200],
        fingerprint=str(data.get("system_fingerprint") or "")[:100],
        request_id=str(headers.get("x-request-id") or data.get("id") or "")[:100],
        finish_reason=str(choice.get("finish_reason") or "")[:40],
        refusal=str(message.get("refusal") or ""),
    )


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _failure(error: APIStatusError, latency_ms: int) -> Failure:
    said = _said(error)
    return Failure(
        trouble=_trouble(error.status_code, str(error.code or ""), said),
        message=f"{error.status_code}: {said}",
        latency_ms=latency_ms,
        status=error.status_code,
        wait_s=_wait_s(error.response.headers.get("retry-after")),
        request_id=str(error.request_id or "")[:100],
    )


def _said(error: APIStatusError) -> str:
    """The server's words, without the key should it repeat it."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = str(message or error.message)[:500]
    key = os.environ.get(KEY_VARIABLE, "").strip()
    return text.replace(key, "…") if key else text


def _trouble(status: int, code: str, said: str) -> Trouble:
    if status in {401, 403} or code in _QUOTA:
        return Trouble.DENIED
    if status == 429:
        return Trouble.BUSY
    if status in {400, 422} and any(word in said.lower() for word in _FORMAT_WORDS):
        return Trouble.SHAPE
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
