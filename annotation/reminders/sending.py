"""Send reminders: those that are due, and those that a researcher asks for."""

from __future__ import annotations

import logging
import smtplib
from datetime import datetime
from typing import Any
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from annotation.models import Annotator, Study
from annotation.reminders.choosing import AGAIN_AFTER, BEFORE, Open, Why, is_by_day, is_due, open_tasks, why_not

logger = logging.getLogger(__name__)


def send_due(*, now: datetime) -> int:
    """Remind whoever has a task that is due soon; gives how many mails went. Nothing where mail is not set."""
    if not settings.EMAIL_IS_SET:
        return 0
    soon = Study.objects.filter(state=Study.State.OPEN, due_at__gt=now, due_at__lte=now + max(BEFORE))
    sent = 0
    for person, own in _with_tasks(soon):
        user = person.user
        wanted = any(is_due(one.study.due_at, reminded_at=person.reminded_at, now=now) for one in own)
        if user is None or not wanted or why_not(person, own, now=now) is not None:
            continue
        if is_by_day(now, user.time_zone):
            sent += _send(person, own, now=now)
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
    tasks = open_tasks(people)
    return [(person, tasks.get(person.pk, [])) for person in people]


def members_to_remind(study: Study, *, now: datetime) -> tuple[list[tuple[Annotator, list[Open]]], dict[Why, int]]:
    """Who would get a mail about a study now, with their open tasks, and how many would not, by reason."""
    found, others = [], dict.fromkeys(Why, 0)
    for person, own in _with_tasks(Study.objects.filter(pk=study.pk)):
        about_this = own if any(one.study == study for one in own) else []
        reason = why_not(person, about_this, now=now)
        if reason is None:
            found.append((person, own))
        else:
            others[reason] += 1
    return found, {reason: n for reason, n in others.items() if n}


def send_for_study(*, study: Study, now: datetime) -> int:
    """Remind the members of a study who have open tasks in it, of all that is open; gives how many mails went."""
    people, _others = members_to_remind(study, now=now)
    return sum(_send(person, own, now=now) for person, own in people)


def _send(person: Annotator, tasks: list[Open], *, now: datetime) -> bool:
    """Mail one person; False where another process was faster, or the mail could not be handed over."""
    user: Any = person.user
    # compare-and-swap: of two workers only one mails
    fresh = Annotator.objects.filter(Q(reminded_at=None) | Q(reminded_at__lte=now - AGAIN_AFTER), pk=person.pk)
    if not fresh.update(reminded_at=now):
        return False
    language = user.reads_in or settings.LANGUAGE_CODE
    with timezone.override(ZoneInfo(user.time_zone)), translation.override(language):
        subject, text = _words(user, tasks)
    try:
        send_mail(subject, text, None, [user.email])
    except (OSError, smtplib.SMTPException) as error:
        logger.warning("a reminder could not be sent: %s", str(error) or type(error).__name__)
        Annotator.objects.filter(pk=person.pk, reminded_at=now).update(reminded_at=person.reminded_at)
        return False
    return True


def _words(user: Any, tasks: list[Open]) -> tuple[str, str]:
    """Subject and text. Both name studies and dates, never a login."""
    contacts = sorted({one.study.contact for one in tasks if one.study.contact})
    context = {
        "name": user.name,
        "tasks": tasks,
        "contacts": contacts,
        "work": urljoin(settings.SITE_ADDRESS, reverse("annotation:work")),
        "profile": urljoin(settings.SITE_ADDRESS, reverse("profile")),
    }
    return _("Your open tasks"), render_to_string("annotation/mail_reminder.txt", context)
