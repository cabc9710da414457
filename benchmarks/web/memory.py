"""What pages computed, kept until the facts that it depends on change."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.core.cache import cache

KEPT_FOR_S = 3_600
T = TypeVar("T")


def remembered(name: str, facts: object, make: Callable[[], T]) -> T:
    """What `make` gives, kept until the `repr` of `facts`, everything that it depends on, is another."""
    key = f"{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()}"
    known: T | None = cache.get(key)
    if known is None:
        with _without_collecting():
            known = make()
        cache.set(key, known, KEPT_FOR_S)
    return known


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Collect no garbage meanwhile: figures make many objects and keep few; it takes a sixth of their time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
