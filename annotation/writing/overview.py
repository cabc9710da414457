"""How a writing study goes: tasks, time and cost of each person, the protocol, and what waits for an answer."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Assignment, CreditRequest, Membership, Session, Study, WritingPlan
from annotation.studies.amounts import duration, in_figures, money
from annotation.studies.kind import ARCHIVED, gaps_of, held_in, is_over, work_of
from annotation.studies.overview import Card, Column, OverviewPage, Presence, Table
from annotation.studies.scope import study_of
from annotation.writing import assigning, results
from annotation.writing.assigning import blocked_in, subtopics_of
from annotation.writing.documentsets import NoDocuments
from annotation.writing.eligibility import NotEligible
from annotation.writing.planning import limit_ms_of
from annotation.writing.results import Total
from annotation.writing.study_forms import AssignForm, AssignOneForm, WithdrawForm
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.web.lists import Column as ListColumn
from benchmarks.web.lists import MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

STATES = (Assignment.State.ASSIGNED, Assignment.State.STARTED, Assignment.State.DONE)


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One annotator with what they have worked; None before the first session."""

    member: Any
    total: Total | None


def page_of(study: Study, now: datetime) -> OverviewPage:
    sessions = Session.objects.filter(assignment__study=study).select_related("assignment__study")
    earned = results.earnings_of(sessions, now)
    per_person, total = results.by_annotator(earned), results.total_of(earned)
    people = [PersonRow(member, per_person.get(member.annotator_id)) for member in _members(study)]
    states = tuple(zip(("To do", "Under way", "Done"), STATES, strict=True))

    def time(of: Total | None) -> str:
        return duration(of.active_ms) if of else "–"

    def cost(of: Total | None) -> str:
        return money(of.amount, study.currency) if of else "–"

    columns = [
        *(Column(state.value, label, attrgetter(f"member.n_{state}")) for label, state in states),
        Column(
            "time", "Active time", lambda row: time(row.total), by=lambda row: row.total and row.total.active_ms
        ),
        Column("cost", "Cost so far", lambda row: cost(row.total), by=lambda row: row.total and row.total.amount),
    ]
    rate = money(study.hourly_rate, study.currency)
    caption = f"Cost is active time at {rate} an hour, voided sessions included: work is paid."
    requests = CreditRequest.objects.unanswered().filter(session__assignment__study=study)
    plan = study.writing_plan
    return OverviewPage(
        cards=[
            *(Card(label, sum(getattr(row.member, f"n_{state}") for row in people)) for label, state in states),
            *(Card("Active time", time(total)), Card("Cost so far", cost(total))),
        ],
        tables=[Table("people", "Annotators", caption, columns, people)],
        facts=_facts(plan),
        context={
            "requests": requests.select_related("session__annotator", "session__assignment__subtopic"),
            "subtopics": subtopics_of(plan),
        },
    )


def on_now(study: Study, now: datetime) -> list[Presence]:
    """Whose session runs or is paused, with the active time that is left."""
    states = [Session.State.RUNNING, Session.State.PAUSED]
    rows = Session.objects.filter(assignment__study=study, state__in=states).select_related(
        "annotator", "assignment__subtopic"
    )
    present = []
    for session in rows.order_by("annotator__label"):
        left = session.limit_ms - session.active_ms_at(now)
        if left <= 0:
            continue
        paused = "" if session.state == Session.State.RUNNING else "paused, "
        note = f"{session.assignment.subtopic.name}, {paused}{duration(left)} left"
        url = reverse("annotation:session-results", args=[session.uid])
        present.append(Presence(session.annotator.label, note, url))
    return present


def member_rows(study: Study) -> list[dict[str, Any]]:
    """A row for each person with tasks and time limit."""
    plan = study.writing_plan
    return [
        {
            "member": member,
            "limit_ms": limit_ms_of(plan=plan, annotator=member.annotator, membership=member),
            "n_tasks": sum(getattr(member, f"n_{state}") for state in STATES),
        }
        for member in _members(study)
    ]


MEMBER_COLUMNS = {
    "limit": ListColumn("Time limit", "limit_ms", css="num", high_first=True),
    "tasks": ListColumn("Tasks", "n_tasks", css="num", high_first=True),
}
"""What of such a row people are sorted by."""


def _members(study: Study) -> list[Membership]:
    return list(study.memberships.with_progress().order_by("number"))


def _facts(plan: WritingPlan) -> list[tuple[str, Any]]:
    documents = [plan.get_setting_display()]
    if plan.setting == WritingPlan.Setting.RANKING:
        documents = [f"{documents[0]}: {names_of([plan.retriever])[plan.retriever]}"]
    if plan.setting != WritingPlan.Setting.FULL:
        documents.append(f"{plan.token_budget:,} tokens")
    if plan.setting == WritingPlan.Setting.ORACLE:
        documents.append(
            "documents without an insight fill the budget"
            if plan.include_zero_insight
            else "only documents with an insight"
        )
    mark = f"a snapshot every {duration(plan.mark_every_ms)}"
    return [
        ("Documents", " · ".join(documents)),
        ("Time limit", f"{duration(plan.limit_ms)}, {mark}"),
        ("Protocol", plan.get_preset_display()),
        ("Pasted text", plan.get_paste_policy_display()),
        ("Closed page", plan.get_disconnect_policy_display()),
        ("Sessions per subtopic", plan.sessions_per_subtopic),
        *([("Parallel forms", "one session on each, in balanced order")] if plan.parallel_forms else []),
    ]


# Assignments


@requires("annotation.view_study")
@require_safe
def study_assignments(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The tasks of a study, and who may be given which subtopic or why not."""
    return _assignments_page(request, study_of(request, uid, kind=Study.Kind.WRITING))


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_assign(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show how the open places would be filled; then fill them."""
    study = study_of(request, uid, kind=Study.Kind.WRITING)
    if study.state == Study.State.ARCHIVED:
        return _refused(request, study)
    form = AssignForm(request.POST if request.method == "POST" else request.GET or None)
    is_fine = not form.is_bound or form.is_valid()
    max_tasks = form.cleaned_data.get("max_tasks") if form.is_bound and is_fine else None
    try:
        if request.method == "POST" and is_fine:
            made = assigning.assign(study=study, by=request.user, now=timezone.now(), max_tasks=max_tasks)
            messages.success(request, f"{in_figures(len(made), 'task', 'tasks')} assigned.")
            return redirect("annotation:study-assignments", uid=study.uid)
        proposal = assigning.propose(study, max_tasks=max_tasks) if is_fine else None
        problem = ""
    except NoDocuments as nothing:
        proposal, problem = None, str(nothing)
    context = {"study": study, "form": form, "proposal": proposal, "problem": problem, "max_tasks": max_tasks}
    return page(request, "annotation/study_assign.html", context, status=200 if is_fine and not problem else 422)


@requires("annotation.change_study")
@require_POST
def study_assign_one(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Give one person one subtopic, or say every reason why not."""
    study = study_of(request, uid, kind=Study.Kind.WRITING)
    if study.state == Study.State.ARCHIVED:
        return _refused(request, study)
    table = assigning.eligibility(study)
    form = AssignOneForm(request.POST, annotators=table.annotators, subtopics=table.subtopics)
    if form.is_valid():
        try:
            assigning.assign_one(study=study, by=request.user, now=timezone.now(), **form.cleaned_data)
        except NotEligible as refused:
            for obstacle in refused.obstacles:
                form.add_error(None, obstacle.text)
        except NoDocuments as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "The task was assigned.")
            return redirect("annotation:study-assignments", uid=study.uid)
    return _assignments_page(request, study, table=table, form=form, status=422)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def assignment_withdraw(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Take a task back and, if one likes, give its subtopic to somebody else."""
    scoped = Assignment.objects.filter(study__in=Study.objects.for_user(request.user))
    task = get_object_or_404(
        scoped.select_related("study__writing_plan", "annotator", "subtopic__haystack"), uid=uid
    )
    form = WithdrawForm(request.POST or None, study=task.study, without=task.annotator)
    if request.method == "POST" and form.is_valid() and _take_back(request, task, form):
        messages.success(request, "The task was withdrawn.")
        return redirect("annotation:study-assignments", uid=task.study.uid)
    context = {"study": task.study, "task": task, "form": form}
    return page(request, "annotation/assignment_withdraw.html", context, status=422 if form.errors else 200)


def _refused(request: HttpRequest, study: Study) -> HttpResponse:
    messages.error(request, ARCHIVED)
    return redirect("annotation:study-assignments", uid=study.uid)


def _take_back(request: HttpRequest, task: Assignment, form: WithdrawForm) -> bool:
    """Withdraw or reassign; False with errors in the form when that is refused."""
    values: dict[str, Any] = {"assignment": task, "reason": form.cleaned_data["reason"]}
    values |= {"by": request.user, "now": timezone.now()}
    to = form.cleaned_data["to"]
    try:
        if to is None:
            assigning.withdraw(**values)
        else:
            assigning.reassign(to=to, **values)
    except NotEligible as refused:
        for obstacle in refused.obstacles:
            form.add_error("to", obstacle.text)
    except (assigning.NotWithdrawable, NoDocuments) as problem:
        form.add_error(None, str(problem))
    return not form.errors


class TaskTable(MemoryTable):
    """Table of the tasks of a study: sorted, narrowed, searched."""

    subtopic = ListColumn("Subtopic", "subtopic__name", is_searched=True)
    haystack = ListColumn("Haystack", "subtopic__haystack__title", is_filter=True, visible=False)
    annotator = ListColumn("Annotator", "annotator__label", is_filter=True)
    state = ListColumn("State", "get_state_display", is_filter=True)
    documents = ListColumn("Documents", lambda task: len(task.document_numbers), css="num", high_first=True)
    words = ListColumn("Words", "n_words", css="num", high_first=True)
    insights = ListColumn("Insights", "n_insights_present", css="num", high_first=True)
    recall = ListColumn("Ceiling: recall", lambda task: task.ceiling.get("recall"), css="num", high_first=True)
    f1 = ListColumn("F1", lambda task: task.ceiling.get("f1"), css="num", high_first=True)
    due = ListColumn("Due", "due_at")


def _assignments_page(
    request: HtmxHttpRequest,
    study: Study,
    *,
    table: assigning.Eligibility | None = None,
    form: AssignOneForm | None = None,
    status: int = 200,
) -> HttpResponse:
    tasks = (
        study.assignments.with_sessions_in_short()
        .prefetch_related("annotator", "subtopic__haystack")  # many tasks have the same
        .order_by("subtopic__haystack", "subtopic__number", "pk")
    )
    live = [task for task in tasks if task.state != Assignment.State.WITHDRAWN]
    table = table or assigning.eligibility(study, live)
    shown = TaskTable(live, request.GET)
    shown.turn_to(request.GET.get(shown.prefixed_page_field))
    context = {
        "study": study,
        "tasks": shown,
        "withdrawn": [task for task in tasks if task.state == Assignment.State.WITHDRAWN],
        "table": table,
        "matrix": _matrix(study, table),
        "reasons": _reasons(table),
        "blocked": [] if is_over(study) else blocked_in(table),
        "held": held_in(study, gaps_of(study)),
        "kind": work_of(study),
        "short": work_of(study).short_of(study),
        "assign_form": AssignForm(),
        "form": form or AssignOneForm(annotators=table.annotators, subtopics=table.subtopics),
    }
    return page(request, "annotation/study_assignments.html", context, status=status)


def _matrix(study: Study, table: assigning.Eligibility) -> list[dict[str, Any]]:
    """One row per subtopic: how many people it has, and each annotator's task or reasons."""
    n_have = Counter(subtopic for _person, subtopic in table.live)
    return [
        {
            "subtopic": subtopic,
            "cells": [
                (table.live.get(pair), table.obstacles[pair])
                for pair in ((annotator.pk, subtopic.pk) for annotator in table.annotators)
            ],
            "n_have": n_have[subtopic.pk],
            "n_wanted": study.writing_plan.sessions_per_subtopic,
        }
        for subtopic in table.subtopics
    ]


def _reasons(table: assigning.Eligibility) -> list[dict[str, Any]]:
    """Each annotator's reasons, each once with the subtopics it holds for; own live tasks are no reason."""
    people = []
    for annotator in table.annotators:
        texts: dict[str, list[str]] = {}
        for subtopic in table.subtopics:
            pair = (annotator.pk, subtopic.pk)
            for obstacle in () if pair in table.live else table.obstacles[pair]:
                texts.setdefault(obstacle.text, []).append(subtopic.name)
        if texts:
            people.append({"annotator": annotator, "texts": texts, "n_subtopics": len(table.subtopics)})
    return people
