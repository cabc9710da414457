"""Reminders of due tasks: who gets one, the mails, and the page that sends them to the members of a study."""

from __future__ import annotations

import logging
import smtplib
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import messages
from django.core.mail import get_connection, send_mail
from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.db.models.functions import Lower
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.models import Annotator, Assignment, LabelTask, Study
from annotation.studies.amounts import in_figures
from annotation.studies.consent import free_to_work
from annotation.studies.kind import has_plan
from annotation.studies.scope import study_of
from benchmarks import audit
from benchmarks.engine.wakeup import enqueue
from benchmarks.models import AuditEvent
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

BEFORE = (timedelta(days=3), timedelta(days=1))
"""A person is reminded once from each of these times before a date on."""
AGAIN_AFTER = timedelta(hours=24)
BY_DAY = range(8, 19)
"""The hours at which mails go by themselves, in the person's time zone."""


@dataclass(frozen=True, slots=True)
class Open:
    """A study in which somebody has open tasks."""

    study: Study
    n: int


class Why(Enum):
    """Why somebody gets no mail now, of one and of several."""

    OPTED_OUT = ("person wants no reminders.", "people want no reminders.")
    NO_ADDRESS = ("person has no email address.", "people have no email address.")
    TODAY = ("person was reminded in the past 24 hours.", "people were reminded in the past 24 hours.")
    NOTHING = ("person has no open task.", "people have no open task.")


def open_tasks(annotators: Iterable[Annotator]) -> dict[int, list[Open]]:
    """{annotator pk: open tasks by study, those due first}; tasks that are barred count as none.

    Those who have withdrawn consent, and whose account is not active, have none to do. Four queries.
    """
    known = Annotator.objects.filter(pk__in=[annotator.pk for annotator in annotators])
    people = list(free_to_work(known).values_list("pk", flat=True))
    writing = Assignment.objects.filter(annotator__in=people, study__state=Study.State.OPEN).unfinished()
    labels = LabelTask.objects.filter(annotator__in=people, study__state=Study.State.OPEN).unfinished()
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for rows in (writing.with_barred().filter(is_barred=False), labels):
        for person, study, n in rows.order_by().values_list("annotator", "study").annotate(n=Count("pk")):
            counts[person, study] += n
    studies = Study.objects.in_bulk({study for _person, study in counts})
    open_by_person: dict[int, list[Open]] = defaultdict(list)
    for (person, study), n in counts.items():
        open_by_person[person].append(Open(studies[study], n))
    for rows_of in open_by_person.values():
        rows_of.sort(
            key=lambda open_work: (
                open_work.study.due_at is None,
                open_work.study.due_at or open_work.study.created_at,
            )
        )
    return dict(open_by_person)


def is_due(due_at: datetime | None, *, reminded_at: datetime | None, now: datetime) -> bool:
    """Whether a date is near enough for a reminder that was not sent yet; never after it."""
    if due_at is None or due_at <= now:
        return False
    passed = [due_at - before for before in BEFORE if due_at - before <= now]
    return bool(passed) and (reminded_at is None or reminded_at < max(passed))


def why_not(annotator: Annotator, tasks: list[Open], *, now: datetime) -> Why | None:
    """Why a person who can log in gets no mail; None if nothing stands against it."""
    if not tasks:
        return Why.NOTHING
    if not annotator.wants_reminders:
        return Why.OPTED_OUT
    if annotator.user is None or not annotator.user.email:
        return Why.NO_ADDRESS
    if annotator.reminded_at is not None and annotator.reminded_at > now - AGAIN_AFTER:
        return Why.TODAY
    return None


logger = logging.getLogger(__name__)

REMIND = "study.remind"
ASK_AGAIN_AFTER = timedelta(minutes=10)
"""Until then the reminders of a study that somebody asked for may be on their way."""


class AlreadyAsked(Exception):
    """Somebody has just asked for reminders of this study."""


def send_due(*, now: datetime) -> int:
    """Remind whoever has a task that is due soon; gives how many mails went. Nothing where mail is not set."""
    if not settings.EMAIL_IS_SET:
        return 0
    soon = Study.objects.filter(state=Study.State.OPEN, due_at__gt=now, due_at__lte=now + max(BEFORE))
    sent = 0
    for person, tasks in _with_tasks(soon):
        user = person.user
        wanted = any(is_due(task.study.due_at, reminded_at=person.reminded_at, now=now) for task in tasks)
        if user is None or not wanted or why_not(person, tasks, now=now) is not None:
            continue
        if now.astimezone(ZoneInfo(user.time_zone)).hour in BY_DAY:  # a mail then disturbs nobody
            sent += _send(person, tasks, now=now)
    return sent


def _with_tasks(studies: QuerySet[Study]) -> list[tuple[Annotator, list[Open]]]:
    """The members of these studies, each with their open tasks in any study."""
    people = list(
        Annotator.objects.active()
        .filter(memberships__study__in=studies, memberships__left_at=None)
        .distinct()
        .select_related("user")
        .order_by("pk")
    )
    # A mail to any account of an address counts for all of its accounts; one query.
    addresses = {person.user.email.lower() for person in people if person.user and person.user.email}
    rows = Annotator.objects.annotate(address=Lower("user__email")).filter(address__in=addresses).order_by()
    last = dict(rows.values_list("address").annotate(last=Max("reminded_at")))
    for person in people:
        if person.user and person.user.email:
            person.reminded_at = last.get(person.user.email.lower(), person.reminded_at)
    tasks = open_tasks(people)
    return [(person, tasks.get(person.pk, [])) for person in people]


def members_to_remind(study: Study, *, now: datetime) -> tuple[list[tuple[Annotator, list[Open]]], dict[Why, int]]:
    """Who would get a mail about a study now, with their open tasks, and how many would not, by reason."""
    reachable, others = [], dict.fromkeys(Why, 0)
    for person, tasks in _with_tasks(Study.objects.filter(pk=study.pk)):
        about_this = tasks if any(task.study == study for task in tasks) else []
        reason = why_not(person, about_this, now=now)
        if reason is None:
            reachable.append((person, tasks))
        else:
            others[reason] += 1
    return reachable, {reason: n for reason, n in others.items() if n}


def asked_lately(study: Study, *, now: datetime) -> datetime | None:
    """When somebody last asked for reminders of a study, if that was a few minutes ago."""
    events = AuditEvent.objects.filter(action=REMIND, object_uid=str(study.uid), at__gt=now - ASK_AGAIN_AFTER)
    return events.values_list("at", flat=True).first()


@transaction.atomic
def ask_for_study(*, study: Study, by: Any, n: int, now: datetime) -> None:
    """Have a worker remind the members of a study, `n` as the researcher saw it. Raises `AlreadyAsked`."""
    Study.objects.select_for_update().get(pk=study.pk)  # of two who ask at once, one comes second
    if asked_lately(study, now=now):
        raise AlreadyAsked
    audit.record(actor=by, action=REMIND, target=study, now=now, n=n)
    enqueue("annotation.tasks.remind_study", str(study.uid))


def send_for_study(*, study: Study, now: datetime) -> int:
    """Remind the members of a study who have open tasks in it, of all that is open; gives how many mails went."""
    people, _others = members_to_remind(study, now=now)
    return sum(_send(person, tasks, now=now) for person, tasks in people)


def _send(person: Annotator, tasks: list[Open], *, now: datetime) -> bool:
    """Mail one person; False where the address had a mail meanwhile, or this one was not surely handed over.

    A mail that the server refused may be sent again at once. One of which nobody knows whether the server took it
    counts as sent: rather one reminder lost than the same one again with every try.
    """
    user: Any = person.user
    before = _claim(user.email, now=now)
    if before is None:
        return False
    language = user.reads_in or settings.LANGUAGE_CODE
    with timezone.override(ZoneInfo(user.time_zone)), translation.override(language):
        subject, text = _words(user, tasks)
    is_open = False
    try:
        with get_connection() as connection:
            is_open = True
            send_mail(subject, text, None, [user.email], connection=connection)
    except (OSError, smtplib.SMTPException) as error:
        logger.warning("a reminder could not be sent: %s", str(error) or type(error).__name__)
        if not is_open or isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused):
            _release(before, now=now)
        return False
    return True


@transaction.atomic
def _claim(address: str, *, now: datetime) -> dict[int, datetime | None] | None:
    """Mark all accounts of an address as reminded; gives when they were before, None if one was in 24 hours."""
    same = Annotator.objects.filter(user__email__iexact=address)
    rows = dict(same.select_for_update(of=("self",)).order_by("pk").values_list("pk", "reminded_at"))
    if any(at is not None and at > now - AGAIN_AFTER for at in rows.values()):
        return None
    Annotator.objects.filter(pk__in=rows).update(reminded_at=now)
    return rows


def _release(before: dict[int, datetime | None], *, now: datetime) -> None:
    for pk, at in before.items():
        Annotator.objects.filter(pk=pk, reminded_at=now).update(reminded_at=at)


def _words(user: Any, tasks: list[Open]) -> tuple[str, str]:
    """Subject and text. Both name studies and dates, never a login."""
    contacts = sorted({task.study.contact for task in tasks if task.study.contact})
    context = {
        "name": user.name,
        "tasks": tasks,
        "contacts": contacts,
        "work": urljoin(settings.SITE_ADDRESS, reverse("annotation:work")),
        "profile": urljoin(settings.SITE_ADDRESS, reverse("profile")),
    }
    return _("Your open tasks"), render_to_string("annotation/mail_reminder.txt", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_remind(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Say who would get a mail and who would not, and send it when asked; a worker does the sending."""
    study = study_of(request, uid)
    if not has_plan(study):
        raise Http404
    now = timezone.now()
    people, others = members_to_remind(study, now=now)
    asked_at = asked_lately(study, now=now)
    may_send = settings.EMAIL_IS_SET and study.state == Study.State.OPEN and people and not asked_at
    if request.method == "POST" and may_send:
        try:
            ask_for_study(study=study, by=request.user, n=len(people), now=now)
        except AlreadyAsked:
            return redirect("annotation:study-remind", uid=study.uid)
        messages.success(
            request, in_figures(len(people), "reminder is on its way.", "reminders are on their way.")
        )
        return redirect("annotation:study-annotators", uid=study.uid)
    context = {
        "study": study,
        "people": people,
        "others": [in_figures(n, *reason.value) for reason, n in others.items()],
        "mail_is_set": settings.EMAIL_IS_SET,
        "may_send": may_send,
        "asked_at": asked_at,
        "minutes": ASK_AGAIN_AFTER // timedelta(minutes=1),
    }
    return page(request, "annotation/study_remind.html", context, status=409 if request.method == "POST" else 200)


urlpatterns = [path("studies/<uuid:uid>/remind/", study_remind, name="study-remind")]
