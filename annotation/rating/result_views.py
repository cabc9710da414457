"""What rating found: people among themselves, judges beside them and systems, on a page and as files."""

from __future__ import annotations

import uuid

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from annotation.labelling import machines
from annotation.models import Study
from annotation.rating.aspects import name_of
from annotation.rating.results import FIGURE_COLUMNS, RATING, as_json, figure_rows
from annotation.results.study import OfStudy, figures_file, waiting_for_study
from annotation.studies.scope import study_of
from benchmarks.judging.run_views import RUN
from benchmarks.models import JudgeRun, Summary
from benchmarks.results.stored import look_up
from benchmarks.scoring.likert import MEAN, MEASURES
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

DIFFERING_SHOWN = 50


class RatingRunForm(machines.MachineRunForm):
    """Which model rates the summaries of a study."""

    repeats = forms.IntegerField(
        label=gettext_lazy("Ratings per aspect"),
        min_value=1,
        max_value=20,
        initial=1,
        help_text=gettext_lazy("2 asks everything a second time. Figures take the first rating."),
    )


@requires("annotation.view_session")
@require_safe
def results(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """People among themselves, judges beside them, systems, and where people differ."""
    study = study_of(request, uid, kind=Study.Kind.RATING)
    shown = look_up(RATING, OfStudy(study.pk), now=timezone.now())
    if shown.figures is None:
        return waiting_for_study(request, shown, study, here="results", heading=_("Results"))
    found = shown.figures
    differing = found.differing
    context = {
        "study": study,
        "shown": shown,
        "results": found,
        "measures": [(name_of(one.measure), one, one.measure == MEAN) for one in found.report.measures],
        "names": [(measure, name_of(measure)) for measure in MEASURES],
        "invalid": [(name, n) for name, n in found.n_invalid.items() if n],
        "differing": [(one, name_of(one.aspect)) for one in differing[:DIFFERING_SHOWN]],
        "n_differing": len(differing),
    }
    return page(request, "annotation/rating_results.html", context)


@requires("annotation.view_session")
@require_safe
def files(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """Figures as JSON or CSV, under pseudonyms."""
    study = study_of(request, uid, kind=Study.Kind.RATING)
    return figures_file(
        request, study, name, computation=RATING, as_json=as_json, columns=FIGURE_COLUMNS, rows=figure_rows
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def machine_run(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose a model, see what rating these summaries would ask and cost, and start it."""
    study = study_of(request, uid, kind=Study.Kind.RATING)
    summaries = list(Summary.objects.filter(label_items__study=study).order_by("pk"))
    intro = ngettext(
        "The model rates the %(n)d summary of this study on the same aspects, with the same documents. Its "
        "ratings are compared with people's on the page of results.",
        "The model rates the %(n)d summaries of this study on the same aspects, with the same documents. Its "
        "ratings are compared with people's on the page of results.",
        len(summaries),
    )
    run = machines.MachineRun(
        study=study,
        here="results",
        heading=_("Run a model on these summaries"),
        intro=intro % {"n": len(summaries)},
        counted=_("Summaries"),
        form=RatingRunForm,
        tasks=(JudgeRun.Task.RATINGS,),
        subjects=summaries,
    )
    return machines.machine_run(request, run)
