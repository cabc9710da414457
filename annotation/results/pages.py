"""The page of results of a study of any kind, its files and addresses."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.kinds import kind_named
from annotation.models import Study
from annotation.results.study import note_seen
from annotation.results.study_results import StudyResults
from annotation.studies.kind import with_plans
from annotation.studies.rows import archive_name
from benchmarks.results.pages import sheet_file, shown_of, waiting_file, waiting_page
from benchmarks.results.stored import FILE_WAIT_S
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

HEAD = "annotation/_study_head.html"
LONGEST_NAME = 40
"""Of the name of a study in that of a file, in letters."""


def _study(request: HttpRequest, uid: uuid.UUID, part: str) -> tuple[Study, StudyResults[Any, Any]]:
    """A study that this researcher may read, and how its kind shows its results; 404 where it has none."""
    study = get_object_or_404(
        with_plans(Study.objects.readable_by(request.user).select_related("created_by")), uid=uid
    )
    results = kind_named(study.kind).results_of(study, part)
    if results is None:
        raise Http404
    return study, results


@requires("annotation.view_session")
@require_safe
def study_figures(request: HtmxHttpRequest, uid: uuid.UUID, part: str = "") -> HttpResponse:
    """The figures of a study, or of a part of its results, as they are stored, laid out as its kind says."""
    study, results = _study(request, uid, part)
    if home := _elsewhere(request, study, part):
        return _redirect(request, home)
    now = timezone.now()
    results.settle(study, now)
    options = results.options(study, request.GET)
    facts = results.computation.facts(options)
    shown, sheet = results.laid_out(study, options, request.GET, now=now, facts=facts)
    if shown.figures is None or sheet is None:
        before = {"study": study, "here": results.here}
        return waiting_page(request, shown, before, heading=str(results.heading), head=HEAD)
    results.was_read(request, study, shown.figures)
    if not part and shown.state == "fresh" and options == results.first(study):
        note_seen(request.session, study, (options, facts), now)
    name = f"{request.resolver_match.view_name}-file" if request.resolver_match else ""
    files_url = reverse(name, args=[study.uid, "x"]).removesuffix("x")
    context = {
        "study": study,
        "here": results.here,
        "head": HEAD,
        "heading": results.heading,
        "options": options,
        "shown": shown,
        **shown_of(sheet, request.GET),
        "files_url": "" if sheet.is_empty else files_url,
        "form_template": results.form_template,
        "downloads_template": results.downloads_template,
        "publishes": not part,
        **results.beside(request, study, options, shown.figures),
    }
    return page(request, "results/sheet.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def study_figures_file(request: HttpRequest, uid: uuid.UUID, name: str, part: str = "") -> HttpResponseBase:
    """All figures, or a table or a chart of them, as a file; people under their pseudonyms."""
    name = request.GET.get("file", name)
    study, results = _study(request, uid, part)
    if home := _elsewhere(request, study, part, name):
        return _redirect(request, home)
    now = timezone.now()
    results.settle(study, now)
    options = results.public(results.options(study, request.GET))
    shown, sheet = results.laid_out(study, options, request.GET, now=now, wait_s=FILE_WAIT_S)
    if shown.figures is None or sheet is None:
        return waiting_file(request, shown, name=name)
    results.was_read(request, study, shown.figures)
    as_json = results.as_json(shown.figures)
    if isinstance(as_json, dict):
        as_json = {"data_version": shown.version, **as_json}
    prefix = f"{archive_name(study)[:LONGEST_NAME]}-{results.called(shown.figures)}-{shown.version}-"
    computed_at = shown.result.computed_at
    origin = results.origin(study, shown.figures, version=shown.version, computed_at=computed_at)
    return sheet_file(request, sheet, name, as_json=as_json, prefix=prefix, about=study, origin=origin)


@requires("annotation.view_session")
@require_safe
def moved(request: HttpRequest, uid: uuid.UUID, to: str = "study-figures", name: str = "") -> HttpResponse:
    """Send who follows an old address of results to the page, or the file called `name`, where they are now."""
    get_object_or_404(Study.objects.readable_by(request.user), uid=uid)
    return _redirect(request, _address(f"annotation:{to}", uid, name))


def _elsewhere(request: HttpRequest, study: Study, part: str, name: str = "") -> str:
    """Where the results of this kind stand, or their file called `name`; empty if this is the address."""
    home, match = kind_named(study.kind).results_page, request.resolver_match
    here = match.view_name.removesuffix("-file") if match else home
    return "" if part or here == home else _address(home, study.uid, name)


def _address(page: str, uid: uuid.UUID, name: str) -> str:
    return reverse(f"{page}-file", args=[uid, name]) if name else reverse(page, args=[uid])


def _redirect(request: HttpRequest, place: str) -> HttpResponse:
    """Lead to another address with the same query, for good."""
    query = request.GET.urlencode()
    return redirect(f"{place}?{query}" if query else place, permanent=True)


def paths_of(part: str) -> list[URLPattern]:
    """The addresses of a part of the results of a study, and of its files."""
    start, chosen, name = f"studies/<uuid:uid>/{part}/", {"part": part}, f"study-{part}"
    return [
        path(start, study_figures, chosen, name=name),
        path(f"{start}files/<str:name>", study_figures_file, chosen, name=f"{name}-file"),
    ]


urlpatterns = [
    *paths_of("plan"),
    *paths_of("learning"),
    path("studies/<uuid:uid>/figures/", study_figures, name="study-figures"),
    path("studies/<uuid:uid>/figures/<str:name>", study_figures_file, name="study-figures-file"),
]
