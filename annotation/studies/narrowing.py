"""Forms whose choices depend on what is chosen above them, while they are being filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from django import forms
from django.http import HttpRequest

Form = TypeVar("Form", bound=forms.Form)


def without_stale(form: Callable[..., Form], request: HttpRequest, names: Iterable[str]) -> Form:
    """The form that was sent, without values of these fields that it offers no longer."""
    sent = request.POST.copy()
    fields = form(sent, user=request.user).fields
    for name in names:
        known = {str(value) for value, _label in fields[name].choices}  # type: ignore[attr-defined]
        sent.setlist(name, [value for value in sent.getlist(name) if value in known])
    return form(sent, request.FILES, user=request.user)
