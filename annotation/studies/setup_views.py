"""Setting a study of any kind up: its form, what that starts with, and what is said once it is there."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.models import Study
from annotation.studies import lifecycle
from annotation.studies.forms import initial_from, name_for
from annotation.studies.grouping import place_study
from annotation.studies.kind import (
    NotPossible,
    NotReady,
    Work,
    blocked_in,
    gaps_of,
    has_plan,
    work_of,
    works,
)
from annotation.studies.members import is_recruiting
from annotation.studies.overtaken import SEEN
from annotation.studies.recipes import Recipe
from annotation.studies.scope import study_of, uid_in
from benchmarks.grouping import CannotMove
from benchmarks.models import Haystack
from benchmarks.web.groups import may_move
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_create(request: HtmxHttpRequest, kind: str) -> HttpResponse:
    """Set up a study of a kind; `from` names a study whose settings it starts with."""
    work = work_named(kind)
    form = work.new_form(
        request.POST or None, request.FILES or None, user=request.user, initial=_initial(request, work)
    )
    if request.method == "POST" and form.is_valid():
        try:
            study = _created(work, form, by=request.user)
        except NotPossible as problem:
            form.add_error(problem.field, str(problem))
        except CannotMove as problem:
            form.add_error("group", str(problem))
        else:
            if request.POST.get("then") == "open":
                return _opened(request, study)
            _say_set_up(request, study)
            return redirect(work.tasks_page, uid=study.uid)
    return form_page(request, work, form)


@transaction.atomic
def _created(work: Work, form: Any, *, by: Any) -> Study:
    """The study of a valid form, in the research group that was chosen."""
    study: Study = work.create(form=form, by=by, now=timezone.now())
    place_study(study=study, group=form.chosen_group)
    return study


def form_page(
    request: HtmxHttpRequest,
    work: Work,
    form: Any,
    *,
    study: Study | None = None,
    status: int | None = None,
    **more: Any,
) -> HttpResponse:
    """The form of a new study of a kind, or of the settings of `study`."""
    recipe = recipe_named(work, request.GET.get("recipe") or request.POST.get("recipe", ""))
    context = {
        "kind": work,
        "form": form,
        "study": study,
        "recipe": recipe,
        "lacks": recipe.lacks() if recipe is not None else "",
        "may_move": study is not None and may_move(request.user),
        "seen": request.POST.get(SEEN, ""),
        **work.form_context(form, study),
        **more,
    }
    template = work.settings_template if study else work.form_template
    return page(request, template, context, status=status or (422 if form.errors else 200))


def recipe_named(work: Work, key: str) -> Recipe | None:
    """A recipe of a kind by its key."""
    return next((recipe for recipe in work.recipes if recipe.key == key), None)


def work_named(value: str) -> Work:
    """A kind of study that is set up here; 404 where there is none of that name."""
    for work in works():
        if work.value == value:
            return work
    raise Http404


def _initial(request: HttpRequest, work: Work) -> dict[str, Any]:
    source = request.GET.get("from", "")
    if not source:
        usual = {"guidelines": work.guidelines, "contact": request.user.email}  # type: ignore[union-attr]
        recipe = recipe_named(work, request.GET.get("recipe", ""))
        return usual | (_initial_on(request, work) if recipe is None else recipe.initial())
    study = study_of(request, uid_in(source), kind=work.value)
    return initial_from(study) | (work.initial_of(study, request.user) if has_plan(study) else {})


def _initial_on(request: HttpRequest, work: Work) -> dict[str, Any]:
    """What the form starts with for the haystack or sources that the address names, else for the only haystack."""
    if (sources := _sources_named(request)) and (values := work.initial_on_sources(sources)):
        return {"name": name_for(work.label, request.GET.get("dataset") or sources[0].title), **values}
    if values := work.initial_on_questions(request.GET.get("dataset", "")):
        return values
    rows = Haystack.objects.for_work()
    uid = request.GET.get("haystack", "")
    if uid:
        haystack = get_object_or_404(rows, uid=uid_in(uid))
        values = work.initial_on(haystack)
        return {"name": name_for(work.label, haystack.title), **values} if values else {}
    only = list(rows[:2])
    return work.initial_on(only[0]) if len(only) == 1 else {}


def _sources_named(request: HttpRequest) -> list[Haystack]:
    """The documents with reference summaries of the dataset that the address names, or the one that it names."""
    rows = Haystack.objects.current().sources().order_by("title", "pk")
    if dataset := request.GET.get("dataset", ""):
        return list(rows.filter(dataset=dataset))
    try:
        return list(rows.filter(uid=uuid.UUID(request.GET.get("haystack", ""))))
    except ValueError:
        return []


def _say_set_up(request: HttpRequest, study: Study) -> None:
    """Say how many tasks a new study has, and of how many people, or that it has none; its page says why not."""
    tasks = [*study.label_tasks.values_list("annotator"), *study.assignments.live().values_list("annotator")]
    n, people, work = len(tasks), len(set(tasks)), work_of(study)
    gaps = gaps_of(study)
    if not tasks and blocked_in(study, gaps, request.user):
        messages.warning(request, "The study is set up, but nobody could be given a task. The reasons are below.")
    elif not tasks:
        messages.success(request, "The study is set up. No tasks are assigned yet.")
    else:
        short = work.short_of(study, gaps)
        say = messages.warning if short else messages.success
        whose = ngettext("to %(n)d person", "to %(n)d people", people) % {"n": people}
        text = ngettext(
            "The study is set up: %(n)d task is assigned, %(whose)s. Check it, then open it.",
            "The study is set up: %(n)d tasks are assigned, %(whose)s. Check it, then open it.",
            n,
        )
        say(request, " ".join(filter(None, [text % {"n": n, "whose": whose}, short])))


def warn_if_short(request: HttpRequest, study: Study) -> None:
    """Say of a study that was opened that items have fewer people than planned, unless they are yet to come."""
    if not is_recruiting(study) and (short := work_of(study).short_of(study)):
        messages.warning(request, short)


def _opened(request: HttpRequest, study: Study) -> HttpResponse:
    """Open a study that was just set up, if nothing is missing; leads to its tasks where nobody could get one."""
    try:
        lifecycle.open_study(study=study, by=request.user, now=timezone.now())
    except NotReady as problem:
        messages.warning(request, "The study is set up but not open yet.")
        for text in problem.problems:
            messages.error(request, text)
    else:
        messages.success(request, "The study is open.")
        if study.memberships.exists() and not (study.assignments.exists() or study.label_tasks.exists()):
            messages.warning(request, "Nobody has a task yet. This page shows who can get which.")
            return redirect(work_of(study).tasks_page, uid=study.uid)
        warn_if_short(request, study)
    return redirect("annotation:study", uid=study.uid)
