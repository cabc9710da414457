"""A model on what people label in a study: what a run would ask and cost, and its start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from annotation.models import Study
from annotation.studies.scope import study_of
from benchmarks.engine import judging, overview
from benchmarks.engine.scopes import Scope
from benchmarks.judging.runs import RUN, RunOptionsForm, estimated, start_run
from benchmarks.models import Judge
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


def _models() -> list[tuple[str, str]]:
    rows = Judge.objects.filter(archived_at=None, kind=Judge.Kind.OPENAI)
    return [(str(judge.uid), str(judge)) for judge in rows]


class MachineRunForm(RunOptionsForm):
    """Which model works on the items of a study."""

    FIRST = ("judge", "task", "budget")
    field_order = ("judge", "task")
    judge = forms.ChoiceField(label="Model", choices=_models)

    def judge_of(self) -> Judge:
        return Judge.objects.get(uid=self.cleaned_data["judge"])


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRun:
    """A page of a kind: which items a model works on, what it is asked, and the tasks whose state is shown.

    A form without a field `task` is for the first of them.
    """

    kind: str
    here: str
    items: tuple[str, str]
    """One and several in words."""
    intro: str
    """With `{items}`."""
    repeats: tuple[str, str]
    """Label and help of the number of answers."""
    tasks: Sequence[str]
    subjects: Callable[[Study], Sequence[Any]]
    form: type[MachineRunForm] = MachineRunForm


def page_of(run: MachineRun) -> Callable[..., HttpResponse]:
    """The view that lets researchers choose a model, see what a run would ask and cost, and start it."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @requires(RUN)
    def machine_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
        study = study_of(request, uid, kind=run.kind)
        subjects = run.subjects(study)
        form = run.form(request.POST or (request.GET if "judge" in request.GET else None))
        form.fields["repeats"].label, form.fields["repeats"].help_text = run.repeats
        if request.method == "POST" and form.is_valid():
            return start_run(
                request,
                judge=form.judge_of(),
                task=_task(run, form),
                subjects=subjects,
                options=form.options(),
                reason="person",
                back=f"{request.path}?{request.POST.urlencode()}",
                scope=Scope(study=(str(study.uid), study.name)).as_json(),
            )
        items = f"{len(subjects)} {run.items[len(subjects) != 1]}"
        context = {"study": study, "run": run, "form": form, "has_models": bool(_models()),
                   "intro": run.intro.format(items=items)}  # fmt: skip
        if form.is_bound and form.is_valid():
            context |= _waiting(run, form, subjects)
        status = 422 if request.method == "POST" else 200
        return page(request, "annotation/machine_run.html", context, status=status)

    return machine_run


def _task(run: MachineRun, form: MachineRunForm) -> str:
    return str(form.cleaned_data.get("task", run.tasks[0]))


def _waiting(run: MachineRun, form: MachineRunForm, subjects: Sequence[Any]) -> dict[str, Any]:
    """How far the model is with the tasks, and what the run would ask."""
    judge, task, repeats = form.judge_of(), _task(run, form), form.cleaned_data["repeats"]
    return {
        "judge": judge,
        "states": [overview.task_state(judge=judge, task=name, subjects=subjects) for name in run.tasks],
        "n_waiting": len(judging.missing(judge=judge, task=task, subjects=subjects, repeats=repeats)),
        **estimated(judge, task, subjects, repeats),
    }
