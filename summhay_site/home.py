"""What each role finds on its home page: how things stand and the next step. A few queries each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q

from annotation.models import Annotator, Assignment, CreditRequest, LabelTask, Session, Study
from benchmarks.models import Haystack, JudgeRun
from summhay_site.models import User


@dataclass(frozen=True)
class AnnotatorHome:
    """Tasks of one person; `running` is the session whose clock runs, if any."""

    to_do: int
    started: int
    done: int
    next_due_at: datetime | None
    running: Session | None
    questions: int
    """Finished sessions whose questions are open."""

    @property
    def open(self) -> int:
        """Tasks to do or begun."""
        return self.to_do + self.started


@dataclass(frozen=True)
class ResearcherHome:
    """Corpora are shared, studies are one's own; admins see all."""

    haystacks: int
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
        return bool(self.haystacks and self.annotators and self.open_studies)


@dataclass(frozen=True)
class AdminHome:
    """Accounts at a glance."""

    people: int
    inactive: int
    never_logged_in: int


def read_annotator(user: Any) -> AnnotatorHome:
    """Three queries. Every summary to label counts as a task."""
    tasks = Assignment.objects.for_annotator(user).visible().live()
    open_task = Q(state__in=["assigned", "started"])
    counts = tasks.aggregate(
        to_do=Count("pk", filter=Q(state="assigned")),
        started=Count("pk", filter=Q(state="started")),
        done=Count("pk", filter=Q(state="done")),
        next_due_at=Min("due_at", filter=open_task),
        questions=Count("pk", filter=Q(session__in=Session.objects.with_open_questions().values("pk"))),
    )
    labels = LabelTask.objects.for_annotator(user).visible().order_by()
    in_open_study = Q(study__state="open")
    more = labels.aggregate(
        to_do=Count("pk", filter=in_open_study & Q(state="todo")),
        started=Count("pk", filter=in_open_study & Q(state="begun")),
        done=Count("pk", filter=Q(state="done")),
        next_due_at=Min("study__due_at", filter=in_open_study & Q(state__in=["todo", "begun"])),
    )
    due = [found["next_due_at"] for found in (counts, more) if found["next_due_at"]]
    running = Session.objects.for_writer(user).filter(state=Session.State.RUNNING).first()
    return AnnotatorHome(
        to_do=counts["to_do"] + more["to_do"],
        started=counts["started"] + more["started"],
        done=counts["done"] + more["done"],
        next_due_at=min(due, default=None),
        running=running,
        questions=counts["questions"],
    )


def read_researcher(user: Any) -> ResearcherHome:
    """Seven queries, whatever the number of studies."""
    studies = Study.objects.filter(pk__in=Study.objects.for_user(user).values("pk"))
    states = studies.aggregate(
        studies=Count("pk", filter=~Q(state="archived")),
        open_studies=Count("pk", filter=Q(state="open")),
        draft_studies=Count("pk", filter=Q(state="draft")),
    )
    tasks = Assignment.objects.live().filter(study__in=studies.filter(state="open").values("pk"))
    progress = tasks.aggregate(tasks=Count("pk"), tasks_done=Count("pk", filter=Q(state="done")))
    return ResearcherHome(
        haystacks=Haystack.objects.for_work().count(),
        annotators=Annotator.objects.active().count(),
        sessions_running=Session.objects.filter(
            state__in=["running", "paused"], assignment__study__in=studies.values("pk")
        ).count(),
        runs_waiting=JudgeRun.objects.filter(state__in=["pending", "running"]).count(),
        time_requests=list(
            CreditRequest.objects.unanswered()
            .filter(session__assignment__study__in=studies.exclude(state="archived").values("pk"))
            .select_related("session__annotator", "session__assignment__study")
            .order_by("at", "pk")
        ),
        **states,
        **progress,
    )


def read_admin() -> AdminHome:
    """One query."""
    counts = User.objects.aggregate(
        people=Count("pk", filter=Q(is_active=True)),
        inactive=Count("pk", filter=Q(is_active=False)),
        never_logged_in=Count("pk", filter=Q(is_active=True, last_login=None)),
    )
    return AdminHome(**counts)
