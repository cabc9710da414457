"""A page of this app that shows reference insights says so here; the app of people listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from benchmarks.models import Haystack

_listeners: list[Callable[..., None]] = []


def register(listener: Callable[..., None]) -> None:
    """Call `listener(users=, haystacks=, reason=, now=)` at every exposure."""
    if listener not in _listeners:
        _listeners.append(listener)


def saw_insights(user: Any, *haystacks: Haystack, reason: str = "page") -> None:
    """Tell that this user is being shown reference insights of these haystacks."""
    for listener in _listeners:
        listener(users=[user], haystacks=haystacks, reason=reason, now=timezone.now())
