"""One request to a server that speaks the OpenAI protocol, and what came of it. The SDK is imported on use.

A client lives inside one event loop. Retrying, waiting and paying are the caller's: the SDK's own retries are
off, so that every request that is sent is counted.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

from benchmarks.judges.parsing import clean_text
from benchmarks.judges.replies import Failure, Reply, Trouble, failure_of, read_body, read_failure

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import AsyncOpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
NO_KEY = "no-key-is-set"


class AddressNotAllowed(ValueError):
    """The address is not on the list of the settings."""


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

    async def send() -> Reply | Failure:
        # As extra body, since the SDK would walk through every word of the messages and the schema
        raw = await client.chat.completions.with_raw_response.create(
            model=body["model"], messages=[], extra_body=dict(body)
        )
        return read_body(raw.http_response.content, raw.headers, _ms(began))

    return await _sent(client, send, began, read_error=read_body)


async def post(base_url: str, path: str, body: Mapping[str, Any], *, timeout_s: float) -> Any | Failure:
    """Send one request to another endpoint of a server, once; gives its JSON.

    Raises:
        AddressNotAllowed: the settings do not list it.
    """
    began = time.perf_counter()
    async with connected(base_url, timeout_s) as client:

        async def send() -> Any:
            data: Any = await client.post(path, body=dict(body), cast_to=object)
            error = data.get("error") if isinstance(data, dict) else None
            return failure_of(error, {}, _ms(began)) if error else data

        return await _sent(client, send, began, read_error=read_failure)


Got = TypeVar("Got")


async def _sent(
    client: AsyncOpenAI,
    send: Callable[[], Awaitable[Got]],
    began: float,
    *,
    read_error: Callable[..., Got | Failure],
) -> Got | Failure:
    """Give the result of `send`, or why there is none; `read_error` reads one with another status than 200."""
    import openai

    try:
        async with asyncio.timeout(float(client.timeout) if isinstance(client.timeout, int | float) else None):
            outcome: Got | Failure = await send()
    except openai.APIStatusError as error:
        response = error.response
        outcome = read_error(response.content, response.headers, _ms(began), status=response.status_code)
    except (openai.APIConnectionError, TimeoutError) as error:
        slow = isinstance(error, TimeoutError | openai.APITimeoutError)
        message = "The server did not answer in time." if slow else f"The server could not be reached ({error})."
        # Where there never was a connection, no word of the request can have come to the server
        may_be_paid = type(error.__cause__).__name__ not in {"ConnectError", "ConnectTimeout"}
        outcome = Failure(Trouble.TRANSIENT, clean_text(message), _ms(began), may_be_paid=may_be_paid)
    except Exception as error:  # whatever a server sends, it is one failed attempt and no more
        message = f"The server's answer cannot be read ({type(error).__name__})."
        outcome = Failure(Trouble.TRANSIENT, message, _ms(began), may_be_paid=True)
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if key and isinstance(outcome, Failure):  # the server's words, should it repeat the key
        return replace(outcome, message=outcome.message.replace(key, "…"))
    return outcome


def _ms(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
