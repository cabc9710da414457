"""Decisions sent by a plain form: one that is delivered twice, also late, is stored once.

The form tells the newest decision that its page knew. What the same person decided after that in the same words is
this very form, delivered before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models.query import QuerySet
from django.http import QueryDict


def newest(history: Iterable[Any]) -> str:
    """What the form says of decisions, the newest first, that its page knows."""
    return str(next((row.pk for row in history), 0))


def seen_in(data: QueryDict) -> int | None:
    """What a form said; None where it told nothing."""
    text = data.get("seen", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def delivered(decisions: QuerySet[Any], *, by: Any, seen: int | None, **decision: Any) -> Any:
    """The decision on this item that the same form stored before; None where there is none."""
    if seen is None:
        return None
    return decisions.filter(pk__gt=seen, made_by=getattr(by, "pk", None), **decision).order_by("pk").first()
