"""A page of this app that shows reference insights says so here; the app of people listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from benchmarks.models import Haystack

_listeners: list[Callable[..., None]] = []


def register(listener: Callable[..., None]) -> None:
    """Call `listener(user=, haystack=, reason=, now=)` at every exposure."""
    if listener not in _listeners:
        _listeners.append(listener)


def saw_insights(user: Any, haystack: Haystack, *, reason: str = "page") -> None:
    """Tell that this user is being shown reference insights of this haystack."""
    for listener in _listeners:
        listener(user=user, haystack=haystack, reason=reason, now=timezone.now())
