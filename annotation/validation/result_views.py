"""What validation found: the judge against people, on a page and as files."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotation.figures.tables import figure_column, stat_columns
from annotation.models import Study
from annotation.results.study import OfStudy, figures_file, waiting_for_study
from annotation.studies.scope import study_of
from annotation.validation.results import FIGURE_COLUMNS, VALIDATION, Item, Results, as_json, figure_rows
from benchmarks.results.stored import look_up
from benchmarks.scoring.evaluator import AgainstPerson, Pair
from benchmarks.scoring.stat import Stat
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from benchmarks.web.tables import Choice, Column, Search, Table

ON_A_PAGE = 50
AGAINST: Table[AgainstPerson] = Table(
    "against",
    {
        "name": Column(lambda one: one.name),
        "n": Column(lambda one: one.stats["accuracy"].n_items, high_first=True),
        **stat_columns(("accuracy", "accuracy_three", "cohen", "randolph", "randolph_three")),
    },
    prefix="against-",
)
"""The judge against each annotator."""
PAIRS: Table[Pair] = Table(
    "pairs-table",
    {
        "pair": Column(lambda pair: f"{pair.first} {pair.second}"),
        "n": Column(lambda pair: pair.stats["percent"].n_items, high_first=True),
        **stat_columns(("percent", "cohen", "randolph")),
    },
    prefix="pairs-",
)
"""Every two annotators."""
PART: Table[tuple[str, Stat]] = Table(
    "part",
    {
        "name": Column(lambda row: row[0]),
        "n": Column(lambda row: row[1].n_items, high_first=True),
        "accuracy": figure_column(lambda row: row[1]),
    },
)
"""Accuracy by category, domain, system or verdict."""
DISPUTED: Table[Item] = Table(
    "disputed",
    {
        "differing": Column(lambda item: item.n_differing, high_first=True),
        "point": Column(lambda item: item.key_point),
        "system": Column(lambda item: item.parts["system"]),
        "verdict": Column(lambda item: item.verdict),
    },
    default="differing",
    choices=[
        Choice("system", gettext_lazy("Response by"), lambda item: item.parts["system"]),
        Choice("category", gettext_lazy("Category"), lambda item: item.parts["category"]),
        Choice("domain", gettext_lazy("Domain"), lambda item: item.parts["domain"]),
        Choice("verdict", gettext_lazy("Judge"), lambda item: item.verdict),
    ],
    search=Search(gettext_lazy("Point"), lambda item: item.key_point),
)
"""Pairs on which somebody differs from the judge."""


@requires("annotation.view_session")
@require_safe
def results(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The judge against people, people among themselves, and where they differ."""
    study = study_of(request, uid, kind=Study.Kind.VALIDATION)
    shown = look_up(VALIDATION, OfStudy(study.pk), now=timezone.now())
    if shown.figures is None:
        return waiting_for_study(request, shown, study, here="results", heading=_("Results"))
    found = shown.figures
    disputed = DISPUTED.shown(found.disputed, request.GET)
    context = {
        "study": study,
        "shown": shown,
        "results": found,
        "evaluation": found.evaluation,
        "against": AGAINST.shown(found.evaluation.people, request.GET),
        "pairs": PAIRS.shown(found.evaluation.pairs, request.GET),
        "disputed": disputed,
        "items": Paginator(disputed.rows, ON_A_PAGE).get_page(request.GET.get("page")),
        "parts": [
            (title, PART.within(part).shown(tuple(stats.items()), request.GET))
            for part, title, stats in _parts(found)
        ],
    }
    return page(request, "annotation/validation_results.html", context)


@requires("annotation.view_session")
@require_safe
def files(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """Figures as JSON or CSV, under pseudonyms."""
    study = study_of(request, uid, kind=Study.Kind.VALIDATION)
    return figures_file(
        request, study, name, computation=VALIDATION, as_json=as_json, columns=FIGURE_COLUMNS, rows=figure_rows
    )


def _parts(found: Results) -> list[tuple[str, str, Mapping[str, Stat]]]:
    """Each division of the pairs: its name in addresses, its title, and the accuracy in each part."""
    titles = {"category": _("Category"), "domain": _("Domain"), "system": _("System")}
    return [
        ("verdict", _("Verdict"), found.evaluation.by_answer),
        *((part, titles[part], stats) for part, stats in found.parts.items() if len(stats) > 1),
    ]
