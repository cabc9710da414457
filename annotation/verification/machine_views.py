"""A model on the key points of a study: what a run would ask and cost, and its start."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotation.models import LabelItem, Study
from annotation.verification.research_views import verification_study
from benchmarks.engine import judging, overview
from benchmarks.judge_forms import RunOptionsForm
from benchmarks.models import Judge, JudgeRun, KeyPoint
from benchmarks.views.judges import estimated
from benchmarks.views.runs import RUN, start_run
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

TASKS = (JudgeRun.Task.VERIFICATION, JudgeRun.Task.AUTODS)


def _models() -> list[tuple[str, str]]:
    rows = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [(str(judge.uid), str(judge)) for judge in rows]


class MachineRunForm(RunOptionsForm):
    """Which model gives which answers on the key points of a study."""

    field_order = ("judge", "task")
    judge = forms.ChoiceField(label=_("Model"), choices=_models)
    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            (JudgeRun.Task.VERIFICATION, _("both judgments: in the documents? a key point?")),
            (JudgeRun.Task.AUTODS, _("AutoDS: how far the model prefers yes to no")),
        ],
    )
    repeats = forms.IntegerField(
        label=_("Answers per key point"),
        min_value=1,
        max_value=20,
        initial=1,
        help_text=_(
            "2 asks everything a second time. Of AutoDS scores the newest counts, of judgments the first."
        ),
    )

    def judge_of(self) -> Judge:
        """The judge of a valid form."""
        return Judge.objects.get(uid=self.cleaned_data["judge"])


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def machine_run(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose a model and a task, see what a run would ask, and start it."""
    study = verification_study(request, uid)
    form = MachineRunForm(request.POST or (request.GET if "judge" in request.GET else None))
    points = points_of(study)
    if request.method == "POST" and form.is_valid():
        return start_run(
            request,
            judge=form.judge_of(),
            task=form.cleaned_data["task"],
            subjects=points,
            options=form.options(),
            reason="person",
            back=f"{reverse('annotation:verification-machine-run', args=[study.uid])}?{request.POST.urlencode()}",
        )
    context: dict[str, Any] = {
        "study": study, "here": "agreement", "form": form, "n_points": len(points), "has_models": bool(_models()),
    }  # fmt: skip
    if form.is_bound and form.is_valid():
        context |= _looked_at(form, points)
    status = 422 if request.method == "POST" else 200
    return page(request, "annotation/verification_machine_run.html", context, status=status)


def points_of(study: Study) -> list[KeyPoint]:
    """The key points of a study; attention checks are none of them."""
    items = LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY).values("key_point")
    return list(KeyPoint.objects.filter(pk__in=items).select_related("question").order_by("question", "number"))


def _looked_at(form: MachineRunForm, points: list[KeyPoint]) -> dict[str, Any]:
    """How far the model is with both tasks, and what the run would ask."""
    judge, task, repeats = form.judge_of(), form.cleaned_data["task"], form.cleaned_data["repeats"]
    return {
        "judge": judge,
        "states": [overview.task_state(judge=judge, task=name, subjects=points) for name in TASKS],
        "n_waiting": len(judging.missing(judge=judge, task=task, subjects=points, repeats=repeats)),
        **estimated(judge, task, points, repeats),
    }
