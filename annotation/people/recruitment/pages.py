"""Pages of recruitment links for researchers; the address for participants is the site's."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Recruitment, RecruitmentLink
from annotation.people.recruitment import links, outcomes
from annotation.people.recruitment.forms import LinkForm
from annotation.people.recruitment.links import submission_of
from annotation.people.recruitment.outcomes import (
    NOT_PASSED,
    SCREENED_OUT,
    SKIPPED,
    Progress,
    progress_of,
    state_of,
)
from annotation.states import RecruitmentOutcome
from annotation.studies.amounts import in_figures, pay
from annotation.studies.kind import has_plan
from annotation.studies.scope import study_of
from benchmarks.web.downloads import csv_download, download
from benchmarks.web.lists import Column, MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

IN_A_BATCH = 1_000
"""So many submissions are approved at once by the panel."""
IDLE = timedelta(days=1)
LABELS: dict[str, str | Promise] = {
    **{outcome.value: outcome.label for outcome in Recruitment.Outcome},
    SKIPPED: "skipped too many",
    SCREENED_OUT: "screened out",
    NOT_PASSED: "trial not passed",
}
BADGES = {"completed": "good", "failed_checks": "warn", SKIPPED: "warn", NOT_PASSED: "warn", "working": "accent"}
NOTHING = Progress(n=0, n_done=0, n_skipped=0)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who came by a link, with the outcome as it is shown."""

    link: RecruitmentLink
    panel_id: str
    references: dict[str, str]
    joined_at: datetime
    state: str
    ended_at: datetime | None
    progress: Progress

    @property
    def submission_id(self) -> str:
        return submission_of(self.link, self.references)

    @property
    def label(self) -> str:
        return str(LABELS[self.state])

    @property
    def badge(self) -> str:
        return BADGES.get(self.state, "")

    @property
    def amount(self) -> Decimal:
        """Pay for the time of work, as everywhere else: each session, and all labels, rounded by itself."""
        rate = self.link.study.hourly_rate
        return sum((pay(ms, rate) for ms in self.progress.paid_each), Decimal(0))

    @property
    def may_be_freed(self) -> bool:
        """Whether the person holds a place that is not used up."""
        return self.state in {Recruitment.Outcome.WORKING, SKIPPED, NOT_PASSED}

    def is_idle(self, now: datetime) -> bool:
        """Whether a place is held for a day in which nothing was done."""
        did_something = self.progress.n_done or self.progress.n_skipped or self.progress.worked_ms
        return self.may_be_freed and not did_something and self.joined_at <= now - IDLE


def people_of(link: RecruitmentLink, now: datetime) -> list[Person]:
    """Everybody who joined by a link, then those who were turned away, each in the order of coming."""
    outcomes.settle(link.recruitments.all(), now=now)
    rows = list(link.recruitments.select_related("participant__annotator", "link").order_by("pk"))
    progress = progress_of(study=link.study, annotators=[row.participant.annotator for row in rows])
    joined = [
        Person(
            link=link,
            panel_id=row.participant.panel_id,
            references=row.references,
            joined_at=row.joined_at,
            state=state_of(row, progress[row.participant.annotator_id]),
            ended_at=row.ended_at,
            progress=progress[row.participant.annotator_id],
        )
        for row in rows
    ]
    away = [
        Person(
            link=link,
            panel_id=row.panel_id,
            references=row.references,
            joined_at=row.at,
            state=SCREENED_OUT,
            ended_at=row.at,
            progress=NOTHING,
        )
        for row in link.turned_away.order_by("pk")
    ]
    return joined + away


def counts_of(link: RecruitmentLink) -> list[tuple[str, int]]:
    """How many people of a link have which outcome, in words; those of whom there are none are left out."""
    counts: Counter[str] = Counter(link.recruitments.order_by().values_list("outcome", flat=True))
    counts[SCREENED_OUT] = link.turned_away.count()
    return [(str(label), counts[state]) for state, label in LABELS.items() if counts[state]]


def approvable(people: list[Person]) -> list[list[str]]:
    """The panel's ids of the turns of those who completed, in batches as the panel takes them."""
    ids = [
        person.submission_id
        for person in people
        if person.state == Recruitment.Outcome.COMPLETED and person.submission_id
    ]
    return [ids[start : start + IN_A_BATCH] for start in range(0, len(ids), IN_A_BATCH)]


COLUMNS: dict[str, Callable[[Person], Any]] = {
    "participant_id": lambda person: person.panel_id,
    "submission_id": lambda person: person.submission_id,
    "references": lambda person: " ".join(f"{name}={value}" for name, value in person.references.items()),
    "joined_at": lambda person: person.joined_at.isoformat(),
    "outcome": lambda person: person.state,
    "ended_at": lambda person: person.ended_at.isoformat() if person.ended_at else "",
    "tasks": lambda person: person.progress.n,
    "tasks_done": lambda person: person.progress.n_done,
    "tasks_skipped": lambda person: person.progress.n_skipped,
    "checks": lambda person: person.progress.n_checks,
    "checks_right": lambda person: person.progress.n_checks_right,
    "minutes": lambda person: round(person.progress.worked_ms / 60_000, 2),
    "amount": lambda person: person.amount,
    "currency": lambda person: person.link.study.currency,
    "is_complete": lambda person: person.state == Recruitment.Outcome.COMPLETED,
}
"""The file of a link: a row for each person, without pseudonym."""


AT_MOST = 50
"""So many newcomers are counted that there would be tasks for; counting more takes long."""


class PeopleTable(MemoryTable):
    person = Column("Participant", "panel_id", is_searched=True)
    submission = Column("Submission", "submission_id", is_searched=True, orderable=False)
    joined = Column("Joined", "joined_at", high_first=True)
    outcome = Column("Outcome", "label", is_filter=True)
    done = Column("Done", "progress__n_done", css="num", high_first=True)
    skipped = Column("Skipped", "progress__n_skipped", css="num", high_first=True)
    checks = Column("Checks right", "progress__n_checks_right", css="num", high_first=True)
    amount = Column("Amount", css="num", high_first=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A link as its researchers see it; `room` is for how many more people there are tasks, at most `AT_MOST`."""

    link: RecruitmentLink
    address: str
    n_used: int
    room: int
    counts: list[tuple[str, int]]
    n_allowed: int

    @property
    def n_free(self) -> int:
        return max(0, self.link.max_places - self.n_used)

    @property
    def room_is_counted(self) -> bool:
        """Whether `room` says all there is."""
        return self.room < AT_MOST

    @property
    def lacks_tasks(self) -> bool:
        """Whether there are more places than people there are tasks for."""
        return self.room < min(self.n_free, AT_MOST)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The links with their places, and a form for another one."""
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    form = LinkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        allowed_ids = form.cleaned_data["allowed_ids"]
        links.create_link(
            study=study, values=form.values(), allowed_ids=allowed_ids, by=request.user, now=timezone.now()
        )
        messages.success(request, "The link was created. Open it when people may join.")
        return redirect("annotation:recruitment", uid=study.uid)
    rows = []
    for link in study.recruitment_links.select_related("study").order_by("pk"):
        outcomes.settle(link.recruitments.all(), now=timezone.now())
        address = request.build_absolute_uri(reverse("join", args=[link.key])) + "?" + links.query_of(link)
        n_used = links.n_used(link)
        room = len(links.shares_of(link, max(1, min(link.max_places - n_used, AT_MOST))))
        rows.append(Row(link, address, n_used, room, counts_of(link), link.allowed_ids.count()))
    context = {"study": study, "rows": rows, "form": form}
    return page(request, "annotation/recruitment.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment_link(request: HtmxHttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    row = _link(request, uid, link)
    form = LinkForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        allowed_ids = form.cleaned_data["allowed_ids"]
        links.change_link(
            link=row, values=form.values(), allowed_ids=allowed_ids, by=request.user, now=timezone.now()
        )
        messages.success(request, "The link was changed.")
        return redirect("annotation:recruitment", uid=uid)
    context = {"study": row.study, "link": row, "form": form}
    return page(request, "annotation/recruitment_link.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_POST
def recruitment_state(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Open a link with `open=1`, else close it."""
    row = _link(request, uid, link)
    is_open = request.POST.get("open") == "1"
    links.set_open(link=row, is_open=is_open, by=request.user, now=timezone.now())
    messages.success(request, "The link is open." if is_open else "The link is closed.")
    return redirect("annotation:recruitment", uid=uid)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment_people(request: HtmxHttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Who came by a link and how it ended; frees the places named in `place`, or with `idle=1` all idle ones."""
    row, now = _link(request, uid, link), timezone.now()
    rows = people_of(row, now)
    idle = [person.panel_id for person in rows if person.is_idle(now)]
    if request.method == "POST":
        panel_ids = idle if request.POST.get("idle") else request.POST.getlist("place")
        n = outcomes.free(link=row, panel_ids=panel_ids, by=request.user, now=now)
        if n:
            messages.success(request, in_figures(n, "place is free.", "places are free."))
        else:
            messages.info(request, "No place was freed: choose people who are at work.")
        return redirect("annotation:recruitment-people", uid=uid, link=link)
    context = {
        "study": row.study,
        "link": row,
        "n_idle": len(idle),
        "table": PeopleTable(rows, request.GET),
        "batches": [len(batch) for batch in approvable(rows)],
        "n_without_submission": sum(
            person.state == RecruitmentOutcome.COMPLETED and not person.submission_id for person in rows
        ),
        "may_free": any(person.may_be_freed for person in rows),
    }
    return page(request, "annotation/recruitment_people.html", context)


@requires("annotation.change_study")
@require_safe
def recruitment_file(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponseBase:
    """Participants' ids with outcome, tasks, time and amount, as CSV; without pseudonyms."""
    row = _link(request, uid, link)
    rows = ([value(person) for value in COLUMNS.values()] for person in people_of(row, timezone.now()))
    name = f"participants-{row.panel}-{row.pk}.csv"
    return csv_download(request, tuple(COLUMNS), rows, name=name, about=row.study)


@requires("annotation.change_study")
@require_safe
def recruitment_approval(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID, number: int) -> HttpResponseBase:
    """A batch of submissions to approve, one id a line: those of people who completed."""
    row = _link(request, uid, link)
    batches = approvable(people_of(row, timezone.now()))
    if not 1 <= number <= len(batches):
        raise Http404
    lines = (f"{submission}\n" for submission in batches[number - 1])
    name = f"approve-{row.panel}-{row.pk}-{number}.txt"
    return download(lines, name=name, content_type="text/plain; charset=utf-8", about=row.study)


def _link(request: HttpRequest, study: uuid.UUID, uid: uuid.UUID) -> RecruitmentLink:
    link: RecruitmentLink = get_object_or_404(study_of(request, study).recruitment_links, uid=uid)
    return link


LINKS = "studies/<uuid:uid>/recruitment/"
LINK = LINKS + "<uuid:link>/"

urlpatterns = [
    path(LINKS, recruitment, name="recruitment"),
    path(LINK, recruitment_people, name="recruitment-people"),
    path(LINK + "settings/", recruitment_link, name="recruitment-link"),
    path(LINK + "state/", recruitment_state, name="recruitment-state"),
    path(LINK + "participants.csv", recruitment_file, name="recruitment-file"),
    path(LINK + "approve-<int:number>.txt", recruitment_approval, name="recruitment-approval"),
]
