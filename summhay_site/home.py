"""What each role finds on its home page: how things stand and the next step. A few queries each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from annotation.models import Annotator, CreditRequest, Session, Study
from annotation.work.tasklist import Tally, tally_of
from benchmarks import question_sets
from benchmarks.models import Haystack, JudgeRun
from summhay_site.models import User


@dataclass(frozen=True)
class AnnotatorHome:
    """Tasks of one person; `running` is the session whose clock runs, if any."""

    tally: Tally
    running: Session | None
    questions: int
    """Finished sessions whose questions are open."""

    @property
    def open(self) -> int:
        """Tasks to do or begun."""
        return self.tally.open

    @property
    def done(self) -> int:
        """Tasks done."""
        return self.tally.done


@dataclass(frozen=True)
class ResearcherHome:
    """Corpora are shared, studies are one's own; admins see all."""

    haystacks: int
    question_sets: int
    has_corpus: bool
    annotators: int
    studies: int
    open_studies: int
    draft_studies: int
    tasks: int
    tasks_done: int
    sessions_running: int
    runs_waiting: int
    time_requests: list[CreditRequest]

    @property
    def is_set_up(self) -> bool:
        """Whether there is everything that work needs."""
        return bool(self.has_corpus and self.annotators and self.open_studies)


@dataclass(frozen=True)
class AdminHome:
    """Accounts at a glance."""

    people: int
    inactive: int
    never_logged_in: int


def read_annotator(user: Any) -> AnnotatorHome:
    """Four queries; tasks are counted as on the page of one's work."""
    sessions = Session.objects.for_writer(user)
    return AnnotatorHome(
        tally=tally_of(user),
        running=sessions.filter(state=Session.State.RUNNING).first(),
        questions=sessions.with_open_questions().count(),
    )


def read_researcher(user: Any) -> ResearcherHome:
    """Eight queries, whatever the number of studies; counts are those of the lists that they lead to."""
    studies = Study.objects.filter(pk__in=Study.objects.for_user(user).values("pk"))
    states = studies.aggregate(
        studies=Count("pk", filter=~Q(state=Study.State.ARCHIVED)),
        open_studies=Count("pk", filter=Q(state=Study.State.OPEN)),
        draft_studies=Count("pk", filter=Q(state=Study.State.DRAFT)),
    )
    progress = studies.filter(state=Study.State.OPEN).progress()
    haystacks = Haystack.objects.current().aggregate(
        all=Count("pk"), for_work=Count("pk", filter=Q(is_practice=False))
    )
    n_sets = sum(not one.is_archived for one in question_sets.sets())
    return ResearcherHome(
        haystacks=haystacks["all"],
        question_sets=n_sets,
        has_corpus=bool(n_sets or haystacks["for_work"]),
        tasks=progress.n_tasks,
        tasks_done=progress.n_done,
        annotators=Annotator.objects.active().count(),
        sessions_running=Session.objects.filter(
            state__in=[Session.State.RUNNING, Session.State.PAUSED], assignment__study__in=studies.values("pk")
        ).count(),
        runs_waiting=JudgeRun.objects.filter(state__in=[JudgeRun.State.PENDING, JudgeRun.State.RUNNING]).count(),
        time_requests=list(
            CreditRequest.objects.unanswered()
            .filter(session__assignment__study__in=studies.exclude(state=Study.State.ARCHIVED).values("pk"))
            .select_related("session__annotator", "session__assignment__study")
            .order_by("at", "pk")
        ),
        **states,
    )


def read_admin() -> AdminHome:
    """One query."""
    counts = User.objects.aggregate(
        people=Count("pk", filter=Q(is_active=True)),
        inactive=Count("pk", filter=Q(is_active=False)),
        never_logged_in=Count("pk", filter=Q(is_active=True, last_login=None)),
    )
    return AdminHome(**counts)
