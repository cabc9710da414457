"""The list of studies, setting a study up, its versioned texts, and its preview as annotators see it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_filters import ChoiceFilter, FilterSet

from annotation import kinds
from annotation.models import ConsentText, Guideline, LabelItem, Study, WritingPlan
from annotation.studies import consent, guidelines, lifecycle
from annotation.studies.amounts import in_figures
from annotation.studies.estimates import without_stale
from annotation.studies.forms import SEEN, BodyForm, initial_from, is_overtaken, name_for
from annotation.studies.kind import (
    NoPreview,
    NotPossible,
    NotReady,
    PreviewPlace,
    Recipe,
    Work,
    blocked_in,
    gaps_of,
    has_plan,
    work_of,
    works,
)
from annotation.studies.lifecycle import place_study
from annotation.studies.members import is_recruiting
from annotation.studies.scope import study_of, uid_in
from benchmarks.grouping import CannotMove
from benchmarks.models import Haystack
from benchmarks.questions.sets import sets
from benchmarks.web.groups import may_move
from benchmarks.web.lists import Column, ListPage, ListTable, Search
from benchmarks.web.pages import HtmxHttpRequest, page, render_markdown
from benchmarks.web.permissions import requires, saw_insights


class StudyTable(ListTable):
    name = Column("Name")
    kind = Column("Kind")
    state = Column("State")
    annotators = Column("Annotators", "n_annotators", css="num", high_first=True)
    done = Column("Tasks done", "n_done", high_first=True)
    due = Column("Due", "due_at")
    made = Column("Created", "created_at", high_first=True)


class StudyFilter(FilterSet):  # type: ignore[misc]
    """Studies by words, kind, state and material."""

    q = Search("Name or description", "name", "description")
    kind = ChoiceFilter(label="Kind", choices=kinds.choices)
    state = ChoiceFilter(label="State", choices=Study.State.choices)
    on = ChoiceFilter(label="Haystack or question set", choices=lambda: _material(), method="about")

    def about(self, studies: QuerySet[Study], _name: str, material: str) -> QuerySet[Study]:
        """The studies whose texts or items are of a haystack, by its uid, or of a question set, by its name."""
        of_set = Q(question__dataset=material) | Q(response__question__dataset=material)
        try:
            uid: Any = uuid.UUID(material)
        except ValueError:
            return studies.filter(pk__in=LabelItem.objects.order_by().filter(of_set).values("study"))
        plans = WritingPlan.objects.filter(subtopics__haystack__uid=uid).values("study")
        items = LabelItem.objects.order_by().filter(summary__haystack__uid=uid).values("study")
        return studies.filter(Q(pk__in=plans) | Q(pk__in=items))


class StudyList(ListPage):
    """Studies of this researcher; archived ones where one asks for that state."""

    template_name = "annotation/study_list.html"
    table_class = StudyTable
    filterset_class = StudyFilter

    def get_queryset(self) -> QuerySet[Study]:
        archived = Study.State.ARCHIVED
        shows_archive = self.request.GET.get("state") == archived
        self.extra_context = {"shows_archive": shows_archive}
        rows = Study.objects.for_user(self.request.user).with_progress()
        return (rows if shows_archive else rows.exclude(state=archived)).order_by("-created_at", "-pk")


def _material() -> Iterable[tuple[Any, str]]:
    """The haystacks and question sets that there are to choose from. Two queries."""
    yield from Haystack.objects.current().without_sources().order_by("title").values_list("uid", "title")
    yield from ((each.name, each.name) for each in sets() if not each.is_archived)


study_list = StudyList.for_users_with("annotation.view_study")


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


@requires("annotation.change_study")
@require_POST
def study_takes(request: HtmxHttpRequest, kind: str) -> HttpResponse:
    """The form of a study as it is filled in so far, with what that takes; nothing is stored."""
    work, uid = work_named(kind), request.GET.get("study")
    study = study_of(request, uid_in(uid), kind=kind) if uid else None
    sent = without_stale(work.new_form, request.POST, user=request.user)
    more = {} if study is None else {"study": study}
    form = work.new_form(sent, request.FILES, user=request.user, **more)
    form.is_valid()
    return form_page(request, work, form, study=study, status=200)


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
    """Initial values for the haystack or sources that the address names, else for the only haystack."""
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
    work, gaps = work_of(study), gaps_of(study)
    if not tasks and blocked_in(study, gaps, request.user):
        messages.warning(request, "The study is set up, but nobody could be given a task. The reasons are below.")
    elif not tasks:
        messages.success(request, "The study is set up. No tasks are assigned yet.")
    else:
        short = work.short_of(study, gaps)
        say = messages.warning if short else messages.success
        are_assigned = in_figures(len(tasks), "task is assigned", "tasks are assigned")
        people = in_figures(len(set(tasks)), "person", "people")
        text = f"The study is set up: {are_assigned}, to {people}. Check it, then open it."
        say(request, " ".join(filter(None, [text, short])))


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


@requires("annotation.view_study")
@require_safe
def preview(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """To the item with the number `n`, else to the first."""
    study = study_of(request, uid)
    wanted = request.GET.get("n", "")
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 8 else 1
    n = work_of(study).n_previews(study) if has_plan(study) else 0
    if not n:
        messages.info(request, "There is nothing to preview yet: choose what is to be worked on first.")
        return redirect("annotation:study", study.uid)
    return redirect("annotation:study-preview-item", study.uid, min(max(number, 1), n))


@requires("annotation.view_study")
@require_safe
@never_cache
def item(request: HttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """The page with one item of the study; whoever previews has seen the insights that its work shows."""
    place = _place(request, uid, number)
    work = work_of(place.study)
    saw_insights(request.user, *work.insights_in_files(place.study))
    try:
        return work.preview(request, place)
    except NoPreview as problem:
        messages.warning(request, str(problem))
        return redirect("annotation:study", place.study.uid)


@requires("annotation.view_study", json=True)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def act(request: HttpRequest, uid: uuid.UUID, number: int, name: str) -> HttpResponse:
    """Reply to the scripts of the page as if it had been stored."""
    place = _place(request, uid, number)
    payload, status = work_of(place.study).preview_act(request, place, name)
    return JsonResponse(payload, status=status)


def _place(request: HttpRequest, uid: uuid.UUID, number: int) -> PreviewPlace:
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    place = PreviewPlace(study, number, work_of(study).n_previews(study))
    if not 1 <= number <= place.n:
        raise Http404
    return place


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_edit(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Write a new version of a study's guidelines; the older ones stay readable."""
    study = study_of(request, uid)
    newest = guidelines.current_guideline(study)
    return _edit(
        request,
        "annotation/study_guidelines_edit.html",
        newest,
        newest.body if newest else "",
        publish=partial(guidelines.publish_guideline, study=study),
        said="Version {} applies from now on.",
        study=study,
        versions=study.guidelines.select_related("created_by").order_by("-version"),
    )


def _edit(
    request: HtmxHttpRequest,
    template: str,
    newest: Guideline | ConsentText | None,
    shown: str,
    *,
    publish: Callable[..., Guideline | ConsentText],
    said: str,
    **context: Any,
) -> HttpResponse:
    """The form for the next version of a text, with a preview; a conflict where somebody saved one meanwhile."""
    seen = str(newest.version if newest else 0)
    form = BodyForm(request.POST or None, initial={"body": shown})
    if overtaken := is_overtaken(request, seen):
        form.add_error(
            None,
            f"Somebody saved version {seen} while this page was open; it is in the list below. Save again to "
            "replace it by this text, which is not saved yet.",
        )
    if request.method == "POST" and form.is_valid():
        shown = form.cleaned_data["body"]
        if "preview" not in request.POST:
            version = publish(body=shown, by=request.user, now=timezone.now())
            messages.success(request, said.format(version.version))
            return redirect(request.path)
    context |= {"form": form, "newest": newest, "seen": seen, "html": render_markdown(shown)}
    return page(request, template, context, status=409 if overtaken else 422 if form.errors else 200)


@requires("annotation.view_study")
@require_safe
def guidelines_version(request: HtmxHttpRequest, uid: uuid.UUID, version: int) -> HttpResponse:
    study = study_of(request, uid)
    guideline = get_object_or_404(study.guidelines.select_related("created_by"), version=version)
    context = {
        "study": study,
        "guideline": guideline,
        "html": render_markdown(guideline.body),
    }
    return page(request, "annotation/study_guidelines_version.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def consent_edit(request: HtmxHttpRequest) -> HttpResponse:
    """Write a new version of the consent page, which everybody is then asked to agree to."""
    newest = consent.current_text()
    is_outdated = consent.has_former_wording(newest)
    shown = newest.body if newest and not is_outdated else consent.DEFAULT_BODY
    return _edit(
        request,
        "annotation/consent_edit.html",
        newest,
        shown,
        publish=consent.publish,
        said="Version {} applies; everybody is asked again.",
        is_outdated=is_outdated,
        versions=ConsentText.objects.with_counts(),
    )


@requires("annotation.view_study")
@require_safe
def consent_version(request: HtmxHttpRequest, version: int) -> HttpResponse:
    text = get_object_or_404(ConsentText.objects.with_counts(), version=version)
    context = {"text": text, "html": render_markdown(text.body)}
    return page(request, "annotation/consent_version.html", context)
