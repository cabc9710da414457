"""A model on the key points of a study: what a run would ask and cost, and its start."""

from __future__ import annotations

import uuid

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.labelling import machines
from annotation.models import Study
from annotation.results.run_scopes import RunStudies
from annotation.studies.scope import study_of
from benchmarks.judging.run_views import RUN
from benchmarks.models import JudgeRun, KeyPoint
from benchmarks.web.pages import HtmxHttpRequest
from benchmarks.web.permissions import requires

TASKS = (JudgeRun.Task.VERIFICATION, JudgeRun.Task.AUTODS)


class PointRunForm(machines.MachineRunForm):
    """Which model gives which answers on the key points of a study."""

    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            (JudgeRun.Task.VERIFICATION, "both judgments: in the documents? a key point?"),
            (JudgeRun.Task.AUTODS, "AutoDS: how far the model prefers yes to no"),
        ],
    )
    repeats = forms.IntegerField(
        label="Answers per key point",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="2 asks everything a second time. Of AutoDS scores the newest counts, of judgments the first.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def machine_run(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose a model and a task, see what a run would ask, and start it."""
    study = study_of(request, uid, kind=Study.Kind.VERIFICATION)
    points = points_of(study)
    intro = ngettext(
        "The model answers the annotators' questions on the %(n)d key point of this study. Its answers are "
        "compared with theirs on the agreement page.",
        "The model answers the annotators' questions on the %(n)d key points of this study. Its answers are "
        "compared with theirs on the agreement page.",
        len(points),
    )
    run = machines.MachineRun(
        study=study,
        here="agreement",
        heading="Run a model on these key points",
        intro=intro % {"n": len(points)},
        counted="Key points",
        form=PointRunForm,
        tasks=TASKS,
        subjects=points,
    )
    return machines.machine_run(request, run)


def points_of(study: Study) -> list[KeyPoint]:
    """The key points of a study; attention checks are none of them."""
    points = RunStudies().key_points(str(study.uid))
    return list(points.select_related("question").order_by("question", "number"))
