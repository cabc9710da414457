"""Frames of a request stay in one piece of memory."""

import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from summhay_site.serving.stack import with_room

N_CALLS, DEEPEST = 500, 300


def _leaf() -> None:
    """A call whose frame is larger than one more step down, so that some depth has no room for it."""


_leaf.__code__ = _leaf.__code__.replace(co_stacksize=64)


def _page_faults(depth: int) -> int:
    """How often the kernel gave memory to a loop of calls at this depth."""
    if depth:
        return _page_faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(N_CALLS):
        _leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def _worst() -> int:
    return max(_page_faults(depth) for depth in range(DEEPEST))


def _in_a_thread(function: Callable[[], int]) -> int:
    """What it gives where nothing was called before it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function).result()


def test_no_depth_makes_a_loop_ask_for_memory_with_every_call() -> None:
    assert _in_a_thread(_worst) >= N_CALLS
    assert _in_a_thread(with_room(_worst)) < N_CALLS / 2


def test_arguments_and_errors_pass() -> None:
    assert with_room(divmod)(7, 2) == (3, 1)
    assert with_room(int)("11", base=2) == 3
