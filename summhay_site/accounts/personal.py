"""What accounts hold of people, and what packages store beside them: failed log-ins, log-ins, Django's own log."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as LogIn
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from benchmarks.personal import Erased, Held, Person, Seen, Subject
from summhay_site.accounts.models import User

_TYPED = "username ip_address user_agent attempt_time"


def _attempts(person: Person) -> QuerySet[Any]:
    names = Q(username__iexact=person.user.username)
    if person.user.email:
        names |= Q(username__iexact=person.user.email)
    attempts: QuerySet[Any] = AccessAttempt.objects.filter(names)
    return attempts


def _changes_to(person: Person) -> QuerySet[Any]:
    condition = Q(pk__in=())
    for row in filter(None, (person.user, person.annotator)):
        condition |= Q(content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk))
    return LogEntry.objects.filter(condition)


_FAILED = _("For one day after a failed login: the name that was typed, the network address and the browser.")
_UNUSED = _("Further tables of logins that a package brings; this site leaves them empty.")
_GUESSING = _("To slow down whoever guesses passwords.")


def _unused(model: Any, name: str, more: str) -> Held:
    return Held.of(model, name, Subject.ACCOUNT, Seen.NOBODY, Erased.BY_ITSELF, _UNUSED, _GUESSING,
        technical=f"{_TYPED} http_accept path_info {more}")  # fmt: skip


HELD = (
    Held.of(User, "account", Subject.ACCOUNT, Seen.ADMINS, Erased.ALWAYS,
        _(
            "User name, name, email address, time zone, language and role; when the account was made and last "
            "used."
        ), _("To log in, to show dates and words rightly, and to reach the person."), user="",
        fields=(
            "username name email time_zone language groups__name is_active is_recruited subject date_joined "
            "last_login link_mailed_at"
        ), opens="password", technical="uid is_superuser is_staff links_made logins_ended user_permissions",
        setting="RETAIN_INACTIVE_DAYS"),
    Held.of(LogIn, "log_ins", Subject.ACCOUNT, Seen.NOBODY, Erased.BY_ITSELF,
        _("For up to two weeks: that a browser is logged in, and as whom."),
        _("So that nobody has to log in on every page."), opens="session_key session_data expire_date"),
    Held.of(AccessAttempt, "failed_log_ins", Subject.ACCOUNT, Seen.ADMINS, Erased.ALWAYS,
        _FAILED, _GUESSING, find=_attempts, fields=_TYPED,
        technical="http_accept path_info get_data post_data failures_since_start"),
    _unused(AccessFailureLog, "failed_log_ins_more", "locked_out"),
    _unused(AccessLog, "log_ins_more", "logout_time session_hash"),
    Held.of(LogEntry, "changes_by_admins", Subject.RECORDS, Seen.ADMINS, Erased.ALWAYS,
        _("What an admin changed of the person by hand, on pages of the database, and when."),
        _("To trace who changed what."), find=_changes_to,
        fields="action_time action_flag object_repr change_message", others="user",
        technical="content_type object_id"),
    Held.of(LogEntry, "own_changes_as_admin", Subject.RECORDS, Seen.ADMINS, Erased.ALWAYS,
        _("What the person, as an admin, changed by hand on pages of the database, and when."),
        _("To trace who changed what."), user="user", fields="action_time action_flag",
        others="object_repr change_message content_type object_id"),
)  # fmt: skip
