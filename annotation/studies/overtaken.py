"""Forms of what several people may change: whether somebody saved it while the page was open."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.http import HttpRequest

SEEN = "seen"
"""The hidden field with what the page showed when it was opened."""


def shown_by(form: forms.BaseForm) -> str:
    """A short hash of what an unbound form shows; the database may give what is chosen in any order."""
    values = "\n".join(f"{name}={_in_order(form[name].value())!r}" for name in form.fields)
    return hashlib.sha256(values.encode()).hexdigest()[:16]


def _in_order(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, list) else value


def is_overtaken(request: HttpRequest, now_shown: str) -> bool:
    """Whether the page that sent this showed something else than is stored now."""
    return (request.POST.get(SEEN) or now_shown) != now_shown
