"""Making a model, whether it judges or summarizes; a changed one is its next version."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from benchmarks.access.owning import NotYours, may_add
from benchmarks.judging.model_forms import ModelForm
from benchmarks.models import Judge
from benchmarks.web.pages import HtmxHttpRequest, page


def edit_model(
    request: HtmxHttpRequest,
    form: ModelForm,
    judge: Judge | None,
    *,
    save: Callable[..., Judge],
    template: str,
    then: str,
) -> HttpResponse:
    """Show the form of a model, or save it as a first or next version and go on to its page."""
    if judge is not None:
        if not may_add(request.user, type(judge).objects.filter(name=judge.name)):
            raise PermissionDenied("Whoever made this, or an admin, can edit it. Make one of another name.")
        form.fields["name"].disabled = True
    if request.method == "POST" and form.is_valid():
        try:
            saved = save(
                name=form.cleaned_data["name"],
                config=form.config(),
                note=form.cleaned_data["note"],
                by=request.user,
                now=timezone.now(),
            )
        except NotYours as refused:
            form.add_error("name", str(refused))
        else:
            return redirect(then, saved.uid)
    status = 422 if request.method == "POST" else 200
    return page(request, template, {"form": form, "judge": judge}, status=status)
