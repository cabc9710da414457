"""Pages of a study of any kind: settings, state, copy, delete, labels to download; recipes of the papers."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Study
from annotation.studies import lifecycle, progress
from annotation.studies.estimates import Estimate
from annotation.studies.forms import CloneForm, copy_name, is_overtaken, saving_alone, shown_by
from annotation.studies.gaps import keep_rows
from annotation.studies.guidelines import current_guideline
from annotation.studies.kind import (
    Frozen,
    NotReady,
    Recipe,
    Work,
    blocked_in,
    gaps_of,
    has_plan,
    held_in,
    label_formats,
    work_of,
    works,
)
from annotation.studies.lifecycle import move_study
from annotation.studies.pages import form_page, recipe_named, warn_if_short, work_named
from annotation.studies.progress import paces
from annotation.studies.rows import objects, origin_of
from annotation.studies.scope import study_of
from benchmarks.access import sight
from benchmarks.results.drawings import drawings_of
from benchmarks.results.pages import chart_file
from benchmarks.web.downloads import CONTENT_TYPE, csv_download, download, jsonl_download, parquet
from benchmarks.web.groups import move_page
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires, saw_insights

LIVE = "annotation/_study_live.html"
"""The part of an overview that refreshes itself."""
VERBS = {
    "open": lifecycle.open_study,
    "close": lifecycle.close_study,
    "archive": lifecycle.archive_study,
    "restore": lifecycle.restore_study,
}


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_group(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    study = study_of(request, uid)
    sight.begin(request.user)  # with the other groups of whoever moves it
    along = (
        "Its tasks, labels, sessions, results and approvals, with its recruitment links.",
        "Its haystacks and questions stay where they are; the group has to see them.",
        "Its annotators stay members. Researchers who are not in the group no longer see the study.",
    )
    return move_page(
        request,
        thing=study.name,
        group=study.group,
        along=along,
        back=reverse("annotation:study", args=[study.uid]),
        move=lambda to: move_study(study=study, to=to, by=request.user, now=timezone.now()),
    )


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_settings(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Change a study; what is frozen is shown and cannot be changed."""
    with saving_alone(request, uid):
        return _settings(request, study_of(request, uid))


def _settings(request: HtmxHttpRequest, study: Study) -> HttpResponse:
    work = work_of(study)
    stored = work.settings_form(user=request.user, study=study)
    seen = shown_by(stored)
    form = work.settings_form(request.POST, user=request.user, study=study) if request.POST else stored
    if is_overtaken(request, seen):
        form.add_error(
            None,
            (
                "Somebody changed these settings while this page was open. Save again to replace what they saved"
                " by what stands below, or open the page anew to see it."
            ),
        )
        return form_page(request, work, form, study=study, status=409, seen=seen)
    if request.method == "POST" and form.is_valid():
        try:
            work.update(form=form, study=study, by=request.user, now=timezone.now())
        except (Frozen, NotReady) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:study-settings", uid=study.uid)
    return form_page(request, work, form, study=study, seen=seen)


@requires("annotation.view_study")
@require_safe
def study_detail(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """How a study goes: progress, answers, time and cost of each annotator."""
    study = study_of(request, uid)
    work = work_of(study)
    now = timezone.now()
    keep_rows(study)
    overview, pace = work.overview(study, now), paces([study], now)[study.pk]
    may_read, gaps = request.user.has_perm("annotation.view_session"), gaps_of(study)
    charts = [] if wants_fragment(request) else progress.charts_of(study, work, pace)
    context = {
        "study": study,
        "kind": work,
        "overview": overview,
        "remarks": work.remarks(study),
        "tables": [
            (table, shown, table.head(shown), table.rows_of(shown.data))
            for table in overview.tables
            for shown in [table.shown(request.GET)]
        ],
        "on_now": work.on_now(study, now),
        "pace": pace,
        "charts": charts,
        "drawings": drawings_of(charts, now=now) if charts else {},
        "charts_url": reverse("annotation:study-progress", args=[study.uid, "x"]).removesuffix("x"),
        "now": now,
        "has_plan": has_plan(study),
        "short": work.short_of(study, gaps),
        "next_step": "" if wants_fragment(request) or not may_read else work.next_step(study, now),
        "blocked": [] if wants_fragment(request) else blocked_in(study, gaps, request.user),
        "held": [] if wants_fragment(request) else held_in(study, gaps),
        "guideline": current_guideline(study),
        "problems": work.opening_problems(study) if study.state == Study.State.DRAFT else [],
        **(overview.context or {}),
    }
    template = LIVE if wants_fragment(request) else work.overview_template
    return page(request, template, context)


@requires("annotation.view_study")
@require_safe
def study_progress(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    study, now = study_of(request, uid), timezone.now()
    charts = progress.charts_of(study, work_of(study), paces([study], now)[study.pk])
    return chart_file(request, charts, name, about=study, origin=replace(origin_of(study), computed_at=now))


@requires("annotation.change_study")
@require_POST
def study_state(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    study = study_of(request, uid)
    action = request.POST.get("action", "")
    if action == "archive" and study.state == Study.State.OPEN and request.POST.get("sure") != "1":
        return redirect("annotation:study-put-away", uid=study.uid)
    verb = VERBS.get(action)
    if verb is None:
        messages.error(request, "Nothing was changed. Choose what to do with the study.")
        return redirect("annotation:study", uid=study.uid)
    try:
        study = verb(study=study, by=request.user, now=timezone.now())
    except NotReady as problem:
        for text in problem.problems:
            messages.error(request, text)
    else:
        messages.success(request, f"The study is now {study.get_state_display()}.")
        if study.state == Study.State.OPEN:
            warn_if_short(request, study)
    return redirect("annotation:study", uid=study.uid)


@requires("annotation.change_study")
@require_safe
def study_put_away(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Ask before a study is archived, and say what ends with it."""
    study = study_of(request, uid)
    counted: Any = Study.objects.with_progress().get(pk=study.pk)
    context = {
        "study": study,
        "problems": work_of(study).archiving_problems(study),
        "n_left": counted.n_tasks - counted.n_done,
    }
    return page(request, "annotation/study_put_away.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_delete(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete a study that nobody has worked in, after a look at what goes with it."""
    study = study_of(request, uid)
    if request.method == "POST":
        try:
            lifecycle.delete_study(study=study, by=request.user, now=timezone.now())
        except NotReady as problem:
            messages.error(request, str(problem))
            return redirect("annotation:study-delete", uid=study.uid)
        messages.success(request, f"“{study.name}” was deleted.")
        return redirect("annotation:studies")
    context = {
        "study": study,
        "problems": lifecycle.deletion_problems(study),
        "n_tasks": study.assignments.count() + study.label_tasks.count(),
        "n_members": study.memberships.count(),
    }
    return page(request, "annotation/study_delete.html", context)


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_clone(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    study = study_of(request, uid)
    has_items = work_of(study).items_form is not None
    form = CloneForm(request.POST or None, initial={"name": copy_name(study)})
    if request.method == "POST" and form.is_valid():
        copy = lifecycle.clone_study(
            study=study,
            name=form.cleaned_data["name"],
            with_annotators=form.cleaned_data["with_annotators"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(
            request,
            "Copied. Choose its items under People; no tasks are assigned yet."
            if has_items
            else "Copied. No tasks are assigned yet.",
        )
        return redirect("annotation:study-settings", uid=copy.uid)
    context = {"study": study, "form": form, "has_items": has_items}
    return page(request, "annotation/study_clone.html", context, status=422 if form.errors else 200)


@requires("annotation.view_study")
@require_safe
def study_labels(request: HttpRequest, uid: uuid.UUID, file_format: str) -> HttpResponseBase:
    """Labels under pseudonyms as CSV, JSON lines or Parquet; `which` names a selection of those the kind has."""
    study = study_of(request, uid)
    work = work_of(study)
    selections = [which for which, _label in work.label_files]
    which = "history" if request.GET.get("history") == "1" else request.GET.get("which", "")
    if not selections or file_format not in label_formats():
        raise Http404
    which = which if which in selections else selections[0]
    saw_insights(request.user, *work.insights_in_files(study))
    name = f"labels-{study.uid}-{which}.{file_format}"
    if file_format == "parquet":
        content = parquet(work.label_columns, lambda: work.label_rows(study, which))
        return download(content, name=name, content_type=CONTENT_TYPE, about=study)
    rows = work.label_rows(study, which)
    if file_format == "csv":
        return csv_download(request, work.label_columns, work.label_cells(rows), name=name, about=study)
    return jsonl_download(objects(work.label_columns, rows), name=name, about=study)


@requires("annotation.view_study")
@require_safe
def moved(request: HttpRequest, uid: uuid.UUID, kind: str, to: str) -> HttpResponse:
    """Send who follows a link to a page that each kind once had of its own to the one that all share."""
    study_of(request, uid, kind=work_named(kind).value)
    return redirect(f"annotation:{to}", uid=uid, permanent=True)


@requires("annotation.add_study")
@require_safe
def recipes(request: HtmxHttpRequest) -> HttpResponse:
    """Every kind of study, and every recipe of each; its row fetches what it takes here."""
    choices = [(work, recipe) for work in works() for recipe in work.recipes]
    return page(request, "annotation/recipes.html", {"works": works(), "recipes": choices})


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
    """Estimate a recipe as the form that it fills in says it; None where none of its data is here."""
    form = work.new_form(user=user, initial=recipe.initial())
    sent = QueryDict(mutable=True)
    for name in form.fields:
        value = form[name].value()
        if isinstance(value, list | tuple):
            sent.setlist(name, [str(item) for item in value])
        elif value not in (None, False, ""):
            sent[name] = str(value)
    return work.takes(sent, user=user, n_supposed=recipe.n_people)
