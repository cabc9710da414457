"""One piece of memory for all frames of a request.

Python keeps the frames of a thread in pieces of 16 KB. A call that does not fit asks the kernel for another piece,
and its return gives it back; a loop that happens to run at the end of a piece does so with each round. Requests
nest deeply enough to cross two or three such ends: pages took a tenth longer, some of them a quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

N_SLOTS = 66_000
"""Of eight bytes: over half a MiB, so that Python takes a piece of one MiB. What is not used is never mapped."""


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called in a piece of memory that has room for all frames of what it calls."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=N_SLOTS)
    return call
