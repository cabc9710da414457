"""The first page after the login, by role: how things stand and the next step. A few queries each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.timezone import localdate
from django.views.decorators.http import require_safe

from annotation.kinds import Waiting, kind_named, kinds
from annotation.leaderboard.board import LEADERBOARD
from annotation.models import Annotator, CreditRequest, LabelTask, Session, Study
from annotation.results.study import has_changed, headlines
from annotation.studies.amounts import in_figures
from annotation.studies.progress import SHOWN_DAYS, Pace, paces
from benchmarks.models import AuditEvent, Haystack, JudgeRun, JudgeRunItem, Result
from benchmarks.questions import sets as question_sets
from benchmarks.results.judged import Judged, approval_notes
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.accounts.models import User
from summhay_site.operations.erasing import FORMER
from summhay_site.operations.system import read_alarm
from summhay_site.privacy import ERASURE

RESULTS_SHOWN = 3
MOST_LOOKED_AT = 20
"""Studies, and boards that were opened, of which the home says what is worth a look."""
BAR_STEP, BAR_HEIGHT = 14, 48


def read_researcher(user: Any, session: Mapping[str, Any]) -> dict[str, Any]:
    """How studies stand: one's own, for admins all; corpora are shared. A session knows which results it opened.

    A fixed number of queries for any number of studies; counts are those of the lists that they lead to.
    """
    rows = Study.objects.for_user(user).exclude(state=Study.State.ARCHIVED).order_by("due_at", "-created_at")
    studies = {study.pk: study for study in rows}
    worked = [study for study in studies.values() if study.kind != Study.Kind.EXTERNAL]
    pace = paces(worked, timezone.now())
    opened = [pace[study.pk] for study in worked if study.state == Study.State.OPEN]  # those due first on top
    drafts = [study for study in worked if study.state == Study.State.DRAFT]
    lines = [(study, pace[study.pk]) for study in worked if study.state in {Study.State.OPEN, Study.State.DRAFT}]
    haystacks = list(Haystack.objects.current().without_sources().values_list("is_practice", flat=True))
    n_sets = sum(not question_set.is_archived for question_set in question_sets.sets())
    has_corpus = bool(n_sets or not all(haystacks))
    n_people = Annotator.objects.reachable().visible_to(user).count()
    running = [Session.State.RUNNING, Session.State.PAUSED]
    unfinished = [JudgeRun.State.PENDING, JudgeRun.State.RUNNING]
    requests = CreditRequest.objects.unanswered().filter(session__assignment__study__in=studies)
    bars = _bars([of_study for _study, of_study in lines])
    return {
        "haystacks": len(haystacks),
        "question_sets": n_sets,
        "has_corpus": has_corpus,
        "annotators": n_people,
        "is_set_up": bool(has_corpus and n_people and opened),
        "studies": len(studies),
        "lines": lines,
        "drafts": drafts,
        "tasks": sum(each.n_tasks for each in opened),
        "tasks_done": sum(each.n_done for each in opened),
        "bars": bars,
        "done_lately": sum(bar["n"] for bar in bars),
        "sessions_running": Session.objects.filter(state__in=running, assignment__study__in=studies).count(),
        "runs_waiting": JudgeRun.objects.filter(state__in=unfinished).count(),
        "time_requests": list(
            requests.select_related("session__annotator", "session__assignment__study").order_by("at", "pk")
        ),
        "waiting": waiting_for(user, studies),
        "results": _results([study for study in worked if pace[study.pk].n_done]),
        "notable": [
            *_worth_a_look([study for study in studies.values() if study.state != Study.State.DRAFT], session),
            *_judges_to_test(user),
        ],
    }


def _worth_a_look(studies: list[Study], session: Mapping[str, Any]) -> Iterator[Waiting]:
    """People of the newest studies who stand out, and figures that changed since this log-in saw them."""
    newest = sorted(studies, key=lambda study: study.created_at, reverse=True)[:MOST_LOOKED_AT]
    for study, shown in headlines(newest, now=timezone.now()).items():
        kind = kind_named(study.kind)
        url, people_url = (reverse(page, args=[study.uid]) for page in (kind.results_page, kind.study_page))
        if shown.figures:
            yield from (Waiting(person, url, study.name) for person in shown.figures.notable)
            yield from (Waiting(person, f"{people_url}#people", study.name) for person in shown.figures.paced)
        if has_changed(study, shown, session):
            yield Waiting("New figures since you last looked", url, study.name)


def _judges_to_test(user: Any) -> list[Waiting]:
    """Judges by whose scores leaderboards were opened, and that no test against people approves."""
    boards = Result.objects.filter(name=LEADERBOARD.name).order_by("-looked_at").values_list("options", flat=True)
    judges = tuple(dict.fromkeys(options["judge"] for options in boards[:MOST_LOOKED_AT]))
    return [
        Waiting(f"Test {note.judge}", note.url, "the leaderboard stands on its scores")
        for note in approval_notes(Judged(judges), reader=user)
        if note.url and (note.is_expired or not note.is_on_record)
    ]


def _bars(shown: list[Pace]) -> list[dict[str, Any]]:
    """Tasks done in these studies on each of the last 14 days, as bars of a small plot (in pixels)."""
    today = localdate()
    days = [today - timedelta(days=ago) for ago in range(SHOWN_DAYS - 1, -1, -1)]
    counts = [sum(pace.by_day.get(day, 0) for pace in shown) for day in days]
    most = max(counts) or 1
    heights = [n * BAR_HEIGHT // most for n in counts]
    return [
        {"day": day, "n": n, "x": at * BAR_STEP, "y": BAR_HEIGHT - height, "height": height}
        for at, (day, n, height) in enumerate(zip(days, counts, heights, strict=True))
    ]


def _results(studies: list[Study]) -> list[tuple[str, str]]:
    """The newest studies with something done: their names and where their results are."""
    newest = sorted(studies, key=lambda study: study.created_at, reverse=True)[:RESULTS_SHOWN]
    pages = [(study, kind_named(study.kind).results_page) for study in newest]
    return [(study.name, reverse(place, args=[study.uid])) for study, place in pages if place]


def erasures_asked() -> list[Waiting]:
    """Accounts whose owners ask to be erased, until that is done."""
    requests = AuditEvent.objects.filter(action=ERASURE)
    with_work = {event.object_uid: event.detail.get("with_work") for event in requests}
    return [
        Waiting(
            "Somebody asks to be erased",
            reverse("person-erase", args=[user.uid]),
            f"{user.username}, {'with' if with_work[str(user.uid)] else 'without'} texts and labels",
        )
        for user in User.objects.filter(uid__in=with_work).exclude(username__startswith=FORMER)
    ]


def model_runs() -> list[Waiting]:
    """Runs that are paused, or that ended with items that failed, the newest first; at most ten."""
    failed = JudgeRunItem.objects.filter(run=OuterRef("pk"), state=JudgeRunItem.State.FAILED)
    rows = JudgeRun.objects.filter(
        Q(state=JudgeRun.State.PAUSED) | (Q(state=JudgeRun.State.DONE) & Exists(failed))
    ).select_related("judge")
    return [
        Waiting(
            "A model run is paused" if run.state == JudgeRun.State.PAUSED else "A model run has failed items",
            reverse("benchmarks:judge-run", args=[run.uid]),
            str(run.judge),
        )
        for run in rows.order_by("-created_at")[:10]
    ]


def waiting_for(user: Any, studies: Mapping[int, Study]) -> list[Waiting]:
    """All that this user may look at: what waits in their studies, and runs that need somebody."""
    remarks = LabelTask.objects.filter(study__in=studies).unanswered().order_by().values_list("study")
    waiting = [
        Waiting(
            in_figures(n, "remark to answer", "remarks to answer"),
            f"{reverse('annotation:study-work', args=[studies[pk].uid])}?remarks=unanswered",
            studies[pk].name,
        )
        for pk, n in remarks.annotate(n=Count("pk"))
    ]
    for kind in kinds():
        of_kind = {pk: study for pk, study in studies.items() if study.kind == kind.value}
        if of_kind:
            waiting += kind.waiting(of_kind)
    runs = model_runs() if user.has_perm("benchmarks.view_judge") else []
    return [*(erasures_asked() if user.has_perm("summhay_site.delete_user") else []), *waiting, *runs]


@requires(LOGGED_IN)
@require_safe
def home(request: HtmxHttpRequest) -> HttpResponse:
    """Show each role its next steps; annotators find theirs on the page of their work."""
    user = request.user
    context: dict[str, Any] = {}
    if user.has_perm("annotation.do_work") and not user.has_perm("annotation.view_study"):
        return redirect("annotation:work")
    if user.has_perm("annotation.view_study"):
        context["research"] = read_researcher(user, request.session)
    if user.has_perm("summhay_site.view_user"):
        context["people"] = User.objects.aggregate(
            people=Count("pk", filter=Q(is_active=True)),
            inactive=Count("pk", filter=Q(is_active=False)),
            never_logged_in=Count("pk", filter=Q(is_active=True, last_login=None)),
        )
    if user.has_perm("summhay_site.view_workerheartbeat"):
        context["alarm"] = read_alarm(now=timezone.now())
    return page(request, "site/home.html", context)
