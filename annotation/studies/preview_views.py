"""The page of annotators as a researcher looks at it, of every kind of study; nothing is kept."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.studies.kind import has_plan, work_of
from annotation.studies.preview import NoPreview, PreviewPlace
from annotation.studies.scope import study_of
from benchmarks.web.exposure import saw_insights
from benchmarks.web.permissions import requires


@requires("annotation.view_study")
@require_safe
def preview(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """To the item with the number `n`, else to the first."""
    study = study_of(request, uid)
    wanted = request.GET.get("n", "")
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 8 else 1
    n = work_of(study).n_previews(study) if has_plan(study) else 0
    if not n:
        messages.info(request, "There is nothing to preview yet: choose what is to be worked on first.")
        return redirect("annotation:study", study.uid)
    return redirect("annotation:study-preview-item", study.uid, min(max(number, 1), n))


@requires("annotation.view_study")
@require_safe
@never_cache
def item(request: HttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """The page with one item of the study; whoever previews has seen the insights that its work shows."""
    place = _place(request, uid, number)
    work = work_of(place.study)
    saw_insights(request.user, *work.insights_in_files(place.study))
    try:
        return work.preview(request, place)
    except NoPreview as problem:
        messages.warning(request, str(problem))
        return redirect("annotation:study", place.study.uid)


@requires("annotation.view_study", json=True)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def act(request: HttpRequest, uid: uuid.UUID, number: int, name: str) -> HttpResponse:
    """Reply to the scripts of the page as if it had been stored."""
    place = _place(request, uid, number)
    payload, status = work_of(place.study).preview_act(request, place, name)
    return JsonResponse(payload, status=status)


def _place(request: HttpRequest, uid: uuid.UUID, number: int) -> PreviewPlace:
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    place = PreviewPlace(study, number, work_of(study).n_previews(study))
    if not 1 <= number <= place.n:
        raise Http404
    return place
