"""The page of studies as in the papers, each a click away from a form that is filled in."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.studies.estimates import Estimate
from annotation.studies.kind import Work, works
from annotation.studies.recipes import Recipe
from annotation.studies.setup_views import recipe_named, work_named
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.add_study")
@require_safe
def recipes(request: HtmxHttpRequest) -> HttpResponse:
    """Every recipe of every kind; its row fetches what it takes here."""
    choices = [(work, recipe) for work in works() for recipe in work.recipes]
    return page(request, "annotation/recipes.html", {"recipes": choices})


@requires("annotation.add_study")
@require_safe
def recipe_row(request: HtmxHttpRequest, kind: str, key: str) -> HttpResponse:
    """The row of a recipe, with what it takes here and what of its data is missing; 404 for an unknown one."""
    work = work_named(kind)
    recipe = recipe_named(work, key)
    if recipe is None:
        raise Http404
    takes = takes_of(work, recipe, user=request.user)
    context = {"work": work, "recipe": recipe, "lacks": recipe.lacks(), "takes": takes, "is_reckoned": True}
    return render(request, "annotation/_recipe.html", context)


def takes_of(work: Work, recipe: Recipe, *, user: Any) -> Estimate | None:
    """What the form says that a recipe fills in, as it says it there; None where none of its data is here."""
    form = work.new_form(user=user, initial=recipe.initial())
    sent = QueryDict(mutable=True)
    for name in form.fields:
        value = form[name].value()
        if isinstance(value, list | tuple):
            sent.setlist(name, [str(item) for item in value])
        elif value not in (None, False, ""):
            sent[name] = str(value)
    return work.takes(sent, user=user, n_supposed=recipe.n_people)
