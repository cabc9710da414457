"""A model on what people label in a study: what a run would ask and cost, and its start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpResponse

from annotation.models import Study
from benchmarks.engine import judging, overview
from benchmarks.engine.scopes import Scope
from benchmarks.judging.runs import RunOptionsForm, estimated, start_run
from benchmarks.models import Judge
from benchmarks.web.pages import HtmxHttpRequest, page


def _models() -> list[tuple[str, str]]:
    rows = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [(str(judge.uid), str(judge)) for judge in rows]


class MachineRunForm(RunOptionsForm):
    """Which model works on the items of a study."""

    field_order = ("judge", "task")
    judge = forms.ChoiceField(label="Model", choices=_models)

    def judge_of(self) -> Judge:
        """The judge of a valid form."""
        return Judge.objects.get(uid=self.cleaned_data["judge"])


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRun:
    """What a kind says of such a run: its page, what it is about in words, and the tasks whose state is shown.

    A form without a field `task` is for the first of them.
    """

    study: Study
    here: str
    heading: str
    intro: str
    counted: str
    """What subjects are called, as a heading."""
    form: type[MachineRunForm]
    tasks: Sequence[str]
    subjects: Sequence[Any]


def machine_run(request: HtmxHttpRequest, run: MachineRun) -> HttpResponse:
    """Choose a model, see what a run would ask, and start it."""
    form = run.form(request.POST or (request.GET if "judge" in request.GET else None))
    if request.method == "POST" and form.is_valid():
        return start_run(
            request,
            judge=form.judge_of(),
            task=_task(run, form),
            subjects=run.subjects,
            options=form.options(),
            reason="person",
            back=f"{request.path}?{request.POST.urlencode()}",
            scope=Scope(study=(str(run.study.uid), run.study.name)).as_json(),
        )
    context: dict[str, Any] = {
        "study": run.study, "here": run.here, "run": run, "form": form, "has_models": bool(_models()),
    }  # fmt: skip
    if form.is_bound and form.is_valid():
        context |= _looked_at(run, form)
    status = 422 if request.method == "POST" else 200
    return page(request, "annotation/machine_run.html", context, status=status)


def _task(run: MachineRun, form: MachineRunForm) -> str:
    return str(form.cleaned_data.get("task", run.tasks[0]))


def _looked_at(run: MachineRun, form: MachineRunForm) -> dict[str, Any]:
    """How far the model is with the tasks, and what the run would ask."""
    judge, task, repeats = form.judge_of(), _task(run, form), form.cleaned_data["repeats"]
    return {
        "judge": judge,
        "states": [overview.task_state(judge=judge, task=name, subjects=run.subjects) for name in run.tasks],
        "n_waiting": len(judging.missing(judge=judge, task=task, subjects=run.subjects, repeats=repeats)),
        **estimated(judge, task, run.subjects, repeats),
    }
