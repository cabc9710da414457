"""The page of studies as in the papers, each a click away from a form that is filled in."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from annotation.studies.kind import works
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.add_study")
@require_safe
def recipes(request: HtmxHttpRequest) -> HttpResponse:
    """Every recipe of every kind, with what of its data is missing here."""
    choices = [(work, recipe, recipe.lacks()) for work in works() for recipe in work.recipes]
    return page(request, "annotation/recipes.html", {"recipes": choices})
