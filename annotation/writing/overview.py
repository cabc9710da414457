"""How a writing study goes: tasks, time and cost of each person, the protocol, and what waits for an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, CreditRequest, Membership, Session, Study, WritingPlan
from annotation.studies.amounts import duration, money
from annotation.studies.overview import Card, Column, OverviewPage, Presence, Table
from annotation.writing import earnings
from annotation.writing.assigning import subtopics_of
from annotation.writing.earnings import Total
from annotation.writing.planning import limit_ms_of
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.web.lists import Column as ListColumn

STATES = (Assignment.State.ASSIGNED, Assignment.State.STARTED, Assignment.State.DONE)


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One annotator with what they have worked; None before the first session."""

    member: Any
    total: Total | None


def page_of(study: Study, now: datetime) -> OverviewPage:
    """The overview as a page shows it."""
    sessions = Session.objects.filter(assignment__study=study).select_related("assignment__study")
    earned = earnings.earnings_of(sessions, now)
    per_person, total = earnings.by_annotator(earned), earnings.by_study(earned).get(study)
    people = [PersonRow(member, per_person.get(member.annotator_id)) for member in _members(study)]
    states = tuple(zip(("To do", "Under way", _("Done")), STATES, strict=True))
    totals: list[tuple[str, str, Callable[[Total], str], Callable[[Total], Any]]] = [
        ("time", _("Active time"), lambda total: duration(total.active_ms), attrgetter("active_ms")),
        ("cost", "Cost so far", lambda total: money(total.amount, study.currency), attrgetter("amount")),
    ]
    tasks = [Column(state.value, label, attrgetter(f"member.n_{state}")) for label, state in states]
    work = [
        Column(name, label, partial(_total_cell, show), by=partial(_total_value, of))
        for name, label, show, of in totals
    ]
    rate = money(study.hourly_rate, study.currency)
    caption = f"Cost is active time at {rate} an hour, voided sessions included: work is paid."
    requests = CreditRequest.objects.unanswered().filter(session__assignment__study=study)
    plan = study.writing_plan
    return OverviewPage(
        cards=[
            *(Card(label, sum(getattr(row.member, f"n_{state}") for row in people)) for label, state in states),
            *(Card(label, show(total) if total else "–") for _name, label, show, _of in totals),
        ],
        tables=[
            Table(
                "people",
                "Annotators",
                caption,
                [*tasks, *work],
                people,
            )
        ],
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
        words = "%(time)s left" if session.state == Session.State.RUNNING else "paused, %(time)s left"
        note = f"{session.assignment.subtopic.name}, {words % {'time': duration(left)}}"
        present.append(
            Presence(session.annotator.label, note, reverse("annotation:session-results", args=[session.uid]))
        )
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
    "limit": ListColumn(gettext_lazy("Time limit"), "limit_ms", css="num", high_first=True),
    "tasks": ListColumn("Tasks", "n_tasks", css="num", high_first=True),
}
"""What of such a row people are sorted by."""


def _total_cell(show: Callable[[Total], str], row: PersonRow) -> str:
    return show(row.total) if row.total else "–"


def _total_value(of: Callable[[Total], Any], row: PersonRow) -> Any:
    return of(row.total) if row.total else None


def _members(study: Study) -> list[Membership]:
    return list(study.memberships.with_progress().order_by("number"))


def _facts(plan: WritingPlan) -> list[tuple[str, Any]]:
    documents = [plan.get_setting_display()]
    if plan.setting == WritingPlan.Setting.RANKING:
        documents = [f"{documents[0]}: {names_of([plan.retriever])[plan.retriever]}"]
    if plan.setting != WritingPlan.Setting.FULL:
        documents.append("%(n)s tokens" % {"n": f"{plan.token_budget:,}"})
    if plan.setting == WritingPlan.Setting.ORACLE:
        documents.append(
            "documents without an insight fill the budget"
            if plan.include_zero_insight
            else "only documents with an insight"
        )
    mark = f"a snapshot every {duration(plan.mark_every_ms)}"
    return [
        (_("Documents"), " · ".join(documents)),
        (_("Time limit"), f"{duration(plan.limit_ms)}, {mark}"),
        ("Protocol", plan.get_preset_display()),
        ("Pasted text", plan.get_paste_policy_display()),
        ("Closed page", plan.get_disconnect_policy_display()),
        ("Sessions per subtopic", plan.sessions_per_subtopic),
        *([("Parallel forms", "one session on each, in balanced order")] if plan.parallel_forms else []),
    ]
