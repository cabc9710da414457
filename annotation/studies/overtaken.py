"""Forms of what several people may change: whether somebody saved it while the page was open."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest

from annotation.models import Study

SEEN = "seen"
"""The hidden field with what the page showed when it was opened."""


def shown_by(form: forms.BaseForm) -> str:
    """A short hash of what an unbound form shows; the database may give what is chosen in any order."""
    values = "\n".join(f"{name}={_in_order(form[name].value())!r}" for name in form.fields)
    return hashlib.sha256(values.encode()).hexdigest()[:16]


def _in_order(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, list) else value


@contextmanager
def saving_alone(request: HttpRequest, study: uuid.UUID) -> Iterator[None]:
    """Where something is sent let nobody else save the study from before the check until it is stored."""
    if request.method != "POST":
        yield
        return
    with transaction.atomic():
        Study.objects.select_for_update().filter(uid=study).first()
        yield


def is_overtaken(request: HttpRequest, now_shown: str) -> bool:
    """Whether the page that sent this showed something else than is stored now."""
    return (request.POST.get(SEEN) or now_shown) != now_shown
