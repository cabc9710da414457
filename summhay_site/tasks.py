"""Celery tasks: shells around verbs."""

from __future__ import annotations

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from summhay_site import privacy
from summhay_site.accounts.accounts import mail_forgotten, mail_new_link
from summhay_site.accounts.logins import purge_failed_logins
from summhay_site.api import webhooks
from summhay_site.operations import backups, doctor, erasing, system

__all__ = ["system"]
"""Its signals are those of workers and beat."""


@shared_task(name="summhay_site.purge_failed_logins")
def purge_failed_logins_task() -> None:
    purge_failed_logins(now=timezone.now())


@shared_task(name="summhay_site.purge_web_sessions")
def purge_web_sessions() -> None:
    call_command("clearsessions")


@shared_task(name="summhay_site.mail_forgotten")
def mail_forgotten_task(email: str, base_url: str, language: str = "") -> None:
    """Mail password links to whoever has this address; `language` is that of the page."""
    mail_forgotten(email=email, base_url=base_url, now=timezone.now(), language=language)


@shared_task(name="summhay_site.mail_new_link")
def mail_new_link_task(user_pk: int, base_url: str) -> None:
    mail_new_link(user_pk=user_pk, base_url=base_url, now=timezone.now())


@shared_task(name="summhay_site.make_backup")
def make_backup() -> None:
    backups.make_backup(now=timezone.now())


@shared_task(name="summhay_site.mail_alarms")
def mail_alarms() -> None:
    doctor.mail_alarms(now=timezone.now())


@shared_task(name="summhay_site.send_webhooks")
def send_webhooks() -> None:
    """Tell webhooks of what happened; beat calls it every minute."""
    webhooks.sweep(now=timezone.now())


@shared_task(name="summhay_site.let_go")
def let_go() -> None:
    privacy.let_go(now=timezone.now())


@shared_task(name="summhay_site.leave_no_trace")
def leave_no_trace() -> None:
    """Empty SQLite's log of what was deleted."""
    erasing.leave_no_trace()
