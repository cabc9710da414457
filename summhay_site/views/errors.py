"""Error pages that say what happened, what is safe and what to do."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from benchmarks.web.permissions import public


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is missing or old, mostly after a new login in another tab."""
    if _wants_json(request):
        return JsonResponse({"code": "csrf", "message": "Your page is out of date; reload it."}, status=403)
    return render(request, "403_csrf.html", {"reason": reason}, status=403)
