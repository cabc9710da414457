"""What validation found: the judge against people, on a page and as files."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.models import Study
from annotation.studies.scope import study_of
from annotation.validation.results import FIGURE_COLUMNS, as_json, figure_rows, results_of
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires

DISPUTED_SHOWN = 50


@requires("annotation.view_session")
@require_safe
def results(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The judge against people, people among themselves, and where they differ."""
    study = study_of(request, uid, kind=Study.Kind.VALIDATION)
    found = results_of(study)
    disputed = found.disputed
    context = {
        "study": study,
        "results": found,
        "evaluation": found.evaluation,
        "disputed": disputed[:DISPUTED_SHOWN],
        "n_disputed": len(disputed),
        "parts": [(_("Verdict"), found.evaluation.by_answer), *_parts(found.parts)],
    }
    return page(request, "annotation/validation_results.html", context)


@requires("annotation.view_session")
@require_safe
def files(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """Figures as JSON or CSV, under pseudonyms."""
    study = study_of(request, uid, kind=Study.Kind.VALIDATION)
    if name == "figures.json":
        values = as_json(results_of(study, public=True))
        return json_download(values, name=f"validation-{study.uid}.json", about=study)
    if name == "figures.csv":
        rows = figure_rows(results_of(study, public=True))
        return csv_download(FIGURE_COLUMNS, rows, name=f"validation-{study.uid}.csv", about=study)
    raise Http404


def _parts(parts: Any) -> list[tuple[str, Any]]:
    names = {"category": _("Category"), "domain": _("Domain"), "system": _("System")}
    return [(names[part], stats) for part, stats in parts.items() if len(stats) > 1]
