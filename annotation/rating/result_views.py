"""Runs of models on the summaries of a rating study."""

from __future__ import annotations

import uuid

from django import forms
from django.http import HttpResponse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.labelling import machines
from annotation.models import Study
from annotation.studies.scope import study_of
from benchmarks.judging.run_views import RUN
from benchmarks.models import JudgeRun, Summary
from benchmarks.web.pages import HtmxHttpRequest
from benchmarks.web.permissions import requires


class RatingRunForm(machines.MachineRunForm):
    """Which model rates the summaries of a study."""

    repeats = forms.IntegerField(
        label="Ratings per aspect",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="2 asks everything a second time. Figures take the first rating.",
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
        heading="Run a model on these summaries",
        intro=intro % {"n": len(summaries)},
        counted="Summaries",
        form=RatingRunForm,
        tasks=(JudgeRun.Task.RATINGS,),
        subjects=summaries,
    )
    return machines.machine_run(request, run)
