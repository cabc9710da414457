"""The recruitment links of a study, who came by them, places to free, and the files for paying."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import RecruitmentLink, Study
from annotation.people.recruitment import links, outcomes, people
from annotation.people.recruitment.forms import LinkForm
from annotation.states import RecruitmentOutcome
from annotation.studies.kind import has_plan
from annotation.studies.scope import study_of
from benchmarks.web.downloads import csv_download, download
from benchmarks.web.lists import Column, MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

AT_MOST = 50
"""So many newcomers are counted that there would be tasks for; counting more takes long."""


class PeopleTable(MemoryTable):
    """What people are sorted, narrowed and found by."""

    person = Column("Participant", "panel_id", is_searched=True)
    submission = Column("Submission", "submission_id", is_searched=True, orderable=False)
    joined = Column("Joined", "joined_at", high_first=True)
    outcome = Column("Outcome", "label", is_filter=True)
    done = Column(gettext_lazy("Done"), "progress__n_done", css="num", high_first=True)
    skipped = Column(gettext_lazy("Skipped"), "progress__n_skipped", css="num", high_first=True)
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
        """Places that nobody has."""
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
        links.create_link(study=study, values=form.values(), by=request.user, now=timezone.now())
        messages.success(request, "The link was created. Open it when people may join.")
        return redirect("annotation:recruitment", uid=study.uid)
    rows = []
    for link in links.links_of(study):
        outcomes.settle(link.recruitments.all(), now=timezone.now())
        address = request.build_absolute_uri(reverse("join", args=[link.key])) + "?" + links.query_of(link)
        n_used = links.n_used(link)
        room = links.room_of(link, max(1, min(link.max_places - n_used, AT_MOST)))
        rows.append(Row(link, address, n_used, room, people.counts_of(link), link.allowed_ids.count()))
    context = {"study": study, "rows": rows, "form": form}
    return page(request, "annotation/recruitment.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment_link(request: HtmxHttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Change what a link says."""
    study = study_of(request, uid)
    row = _link(study, link)
    form = LinkForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        links.change_link(link=row, values=form.values(), by=request.user, now=timezone.now())
        messages.success(request, "The link was changed.")
        return redirect("annotation:recruitment", uid=study.uid)
    context = {"study": study, "link": row, "form": form}
    return page(request, "annotation/recruitment_link.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_POST
def recruitment_state(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Open a link with `open=1`, else close it."""
    row = _link(study_of(request, uid), link)
    is_open = request.POST.get("open") == "1"
    links.set_open(link=row, is_open=is_open, by=request.user, now=timezone.now())
    messages.success(request, "The link is open." if is_open else "The link is closed.")
    return redirect("annotation:recruitment", uid=uid)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def recruitment_people(request: HtmxHttpRequest, uid: uuid.UUID, link: uuid.UUID) -> HttpResponse:
    """Who came by a link and how it ended; frees the places named in `place`, or with `idle=1` all idle ones."""
    study, now = study_of(request, uid), timezone.now()
    row = _link(study, link)
    rows = _people(row)
    idle = [person.panel_id for person in rows if person.is_idle(now)]
    if request.method == "POST":
        panel_ids = idle if request.POST.get("idle") else request.POST.getlist("place")
        n = outcomes.free(link=row, panel_ids=panel_ids, by=request.user, now=now)
        if n:
            messages.success(request, ngettext("%(n)d place is free.", "%(n)d places are free.", n) % {"n": n})
        else:
            messages.info(request, "No place was freed: choose people who are at work.")
        return redirect("annotation:recruitment-people", uid=uid, link=link)
    context = {
        "study": study,
        "link": row,
        "n_idle": len(idle),
        "table": PeopleTable(rows, request.GET),
        "batches": [len(batch) for batch in people.approvable(rows)],
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
    study = study_of(request, uid)
    row = _link(study, link)
    rows = people.pay_rows(_people(row))
    return csv_download(request, people.COLUMNS, rows, name=f"participants-{row.panel}-{row.pk}.csv", about=study)


@requires("annotation.change_study")
@require_safe
def recruitment_approval(request: HttpRequest, uid: uuid.UUID, link: uuid.UUID, number: int) -> HttpResponseBase:
    """A batch of submissions to approve, one id a line: those of people who completed."""
    study = study_of(request, uid)
    row = _link(study, link)
    batches = people.approvable(_people(row))
    if not 1 <= number <= len(batches):
        raise Http404
    lines = (f"{submission}\n" for submission in batches[number - 1])
    name = f"approve-{row.panel}-{row.pk}-{number}.txt"
    return download(lines, name=name, content_type="text/plain; charset=utf-8", about=study)


def _people(link: RecruitmentLink) -> list[people.Person]:
    outcomes.settle(link.recruitments.all(), now=timezone.now())
    return people.people_of(link)


def _link(study: Study, uid: uuid.UUID) -> RecruitmentLink:
    link: RecruitmentLink = get_object_or_404(study.recruitment_links.select_related("study"), uid=uid)
    return link
