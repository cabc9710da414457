"""Requests to servers that embed or rerank, one after another, repeated where that helps.

Addresses must be on the list of the settings, the key comes from the environment: both as for judges.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from time import sleep
from typing import Any, TypeVar

from benchmarks.judges.openai import AddressNotAllowed, post
from benchmarks.judges.replies import Failure, Trouble
from benchmarks.retrieval.base import RetrievalFailed

Read = TypeVar("Read")
MOST_TRIES = 5
LONGEST_WAIT_S = 30.0
TIMEOUT_S = 60.0
HEALED_BY_WAITING = (Trouble.BUSY, Trouble.TRANSIENT, Trouble.FOREIGN)


def ask(
    base_url: str, path: str, body: Mapping[str, Any], *, read: Callable[[Any], Read], before: Callable[[], None]
) -> Read:
    """Post `body` and give what `read` makes of the JSON that comes back; it raises ValueError if that is no good.

    `before` is called before each time it is sent.

    What waiting may heal is tried again, after the time that the server asks for or else a longer one each time;
    an answer that cannot be read is such a failure.

    Raises:
        RetrievalFailed: the address is not allowed, the server refuses, or it keeps failing.
    """
    n_tried = 0
    while True:
        n_tried += 1
        before()
        answer = _once(base_url, path, body, read)
        if not isinstance(answer, Failure):
            return answer
        if answer.trouble not in HEALED_BY_WAITING or n_tried == MOST_TRIES:
            raise RetrievalFailed(answer.message)
        wait_s = 2.0 ** (n_tried - 1) if answer.wait_s is None else answer.wait_s
        sleep(min(LONGEST_WAIT_S, wait_s))


def _once(base_url: str, path: str, body: Mapping[str, Any], read: Callable[[Any], Read]) -> Read | Failure:
    try:
        answer = asyncio.run(post(base_url, path, body, timeout_s=TIMEOUT_S))
    except AddressNotAllowed as error:
        raise RetrievalFailed(str(error)) from error
    if isinstance(answer, Failure):
        return answer
    try:
        return read(answer)
    except ValueError as error:
        return Failure(Trouble.TRANSIENT, f"The server's answer cannot be used: {error}.", 0)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        message = f"The server's answer has not the expected form ({type(error).__name__})."
        return Failure(Trouble.TRANSIENT, message, 0)


def numbers(values: Sequence[Any]) -> list[float]:
    """The numbers of an answer; ValueError if one is none, or not finite as four bytes hold it."""
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        raise ValueError("not all values are numbers")
    if not all(math.isfinite(value) and abs(value) < 1e38 for value in values):
        raise ValueError("not all values are finite numbers")
    return [float(value) for value in values]


def check_server(*, base_url: str, model: str) -> None:
    """ValueError unless a server and its model are named."""
    if not base_url or not model:
        raise ValueError("base_url and model are needed.")
