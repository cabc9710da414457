"""How a result stands, for the page that shows it; figures are shown by the pages they belong to."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from benchmarks.models import Result
from benchmarks.results import stored
from benchmarks.results.stored import Shown
from benchmarks.web.pages import STOP_POLLING, HtmxHttpRequest, page
from benchmarks.web.permissions import requires

READ = "benchmarks.view_judge"


@requires(READ)
@require_safe
def result_state(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The line above figures that says how they stand; once newer ones are there it fetches the page anew.

    Where there was nothing but this line (`whole`) the browser loads the page with its styles and scripts, as
    where the results were deleted meanwhile because somebody was erased: the page asks for new ones.
    """
    result = _result(uid)
    if result is None and request.htmx:
        return HttpResponseClientRefresh()
    if result is None:
        raise Http404
    shown: Shown[Any] = Shown(None, result, timezone.now())
    has_new = bool(result.version) and result.version != request.GET.get("version", "")
    is_whole = "whole" in request.GET
    if has_new and is_whole:
        return HttpResponseClientRefresh()
    here = request.htmx.current_url_abs_path or "/"
    context = {"shown": shown, "has_new": has_new, "here": here, "is_whole": is_whole}
    status = 200 if has_new or shown.is_waiting else STOP_POLLING
    return render(request, "benchmarks/_result_state.html", context, status=status)


@requires(READ)
@require_POST
def result_again(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Compute once more what failed, and go back to the page."""
    result = _result(uid)
    if result is None:
        raise Http404
    stored.try_again(row=result, now=timezone.now())
    here = request.POST.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(here, {request.get_host()}, require_https=request.is_secure())
    return redirect(here if is_safe else reverse("home"))


def _result(uid: uuid.UUID) -> Result | None:
    """A result of nothing but what is in sight, without its figures."""
    result = Result.objects.defer("figures").filter(uid=uid).first()
    return result if result is not None and stored.is_in_sight(result) else None


def waiting_page(
    request: HtmxHttpRequest,
    shown: Shown[Any],
    context: dict[str, Any],
    *,
    heading: str,
    head: str = "",
    region: str = "figures",
) -> HttpResponse:
    """A page of figures before there are any: it says so, and becomes the page once they are there.

    `head` is a template that stands above in place of the heading, `region` the id of what htmx swaps on the page.
    """
    context = {**context, "shown": shown, "heading": heading, "head": head, "region": region, "is_whole": True}
    return page(request, "benchmarks/result_waiting.html", context, part="figures")


def waiting_file(request: HttpRequest, shown: Shown[Any], *, name: str) -> HttpResponse:
    """In place of a file before there are figures: the browser asks again, and programs are told when to (503)."""
    context = {"shown": shown, "heading": name, "is_file": True}
    response = render(request, "benchmarks/result_waiting.html", context, status=503)
    response["Retry-After"] = "3"
    return response
