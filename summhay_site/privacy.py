"""Data held of people: its page, a person's own export, and what goes after the days that settings give."""

from __future__ import annotations

import secrets
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import orjson
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as LogIn
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import (
    Annotator,
    DraftRevision,
    LabelTask,
    Membership,
    PackedRows,
    Session,
    SessionEvent,
    Study,
    TurnedAway,
)
from annotation.people import held as annotation
from annotation.work.tasklist import contacts
from annotation.writing import packing
from benchmarks.access import sight
from benchmarks.audit import record
from benchmarks.models import AuditEvent
from benchmarks.models import personal as benchmarks
from benchmarks.personal import Acts, Erased, Held, Person, Reason, Seen, Subject
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.accounts.logins import actor
from summhay_site.accounts.models import ANNOTATOR, User
from summhay_site.models import Delivery, Token, Webhook
from summhay_site.operations.erasing import FORMER, leave_no_trace, make_nameless

ERASURE = "account.erase_asked"
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


_FAILED = gettext_lazy(
    "For one day after a failed login: the name that was typed, the network address and the browser."
)
_UNUSED = gettext_lazy("Further tables of logins that a package brings; this site leaves them empty.")
_GUESSING = gettext_lazy("To slow down whoever guesses passwords.")


def _unused(model: Any, name: str, more: str) -> Held:
    return Held.of(model, name, Subject.ACCOUNT, Seen.NOBODY, Erased.BY_ITSELF, _UNUSED, _GUESSING,
        technical=f"{_TYPED} http_accept path_info {more}")  # fmt: skip


HELD = (
    Held.of(User, "account", Subject.ACCOUNT, Seen.ADMINS, Erased.ALWAYS,
        gettext_lazy(
            "User name, name, email address, time zone, language and role; when the account was made and last "
            "used."
        ), gettext_lazy("To log in, to show dates and words rightly, and to reach the person."), user="",
        fields=(
            "username name email time_zone language groups__name is_active is_recruited subject date_joined "
            "last_login link_mailed_at"
        ), opens="password", technical="uid is_superuser is_staff links_made logins_ended user_permissions",
        setting="RETAIN_INACTIVE_DAYS"),
    Held.of(LogIn, "log_ins", Subject.ACCOUNT, Seen.NOBODY, Erased.BY_ITSELF,
        gettext_lazy("For up to two weeks: that a browser is logged in, and as whom."),
        gettext_lazy("So that nobody has to log in on every page."), opens="session_key session_data expire_date"),
    Held.of(AccessAttempt, "failed_log_ins", Subject.ACCOUNT, Seen.ADMINS, Erased.ALWAYS,
        _FAILED, _GUESSING, find=_attempts, fields=_TYPED,
        technical="http_accept path_info get_data post_data failures_since_start"),
    Held.of(Token, "tokens", Subject.ACCOUNT, Seen.SELF, Erased.ALWAYS,
        gettext_lazy("Tokens for programs: what the person called them, when they were made, used and end."),
        gettext_lazy("So that programs may read what the person may read, and nobody else."), user="user",
        fields="name scope budget made_at ends_at used_at revoked_at", opens="sha256", technical="uid",
        setting="RETAIN_INACTIVE_DAYS"),
    Held.of(Webhook, "webhooks", Subject.ACCOUNT, Seen.SELF, Erased.ALWAYS,
        gettext_lazy("Addresses that are told of events, and of which."),
        gettext_lazy("To tell programs of the person when something happens that they wait for."), user="user",
        fields="url events made_at", technical="uid seen_at", setting="RETAIN_INACTIVE_DAYS"),
    Held.of(Delivery, "webhook_deliveries", Subject.ACCOUNT, Seen.SELF, Erased.ALWAYS,
        gettext_lazy("For 30 days: what these addresses were told, and how that ended."),
        gettext_lazy("To try again, and to show what went wrong."), user="webhook__user",
        fields="event body made_at n_tries outcome done_at", technical="uid key next_at",
        setting="RETAIN_INACTIVE_DAYS"),
    _unused(AccessFailureLog, "failed_log_ins_more", "locked_out"),
    _unused(AccessLog, "log_ins_more", "logout_time session_hash"),
    Held.of(LogEntry, "changes_by_admins", Subject.RECORDS, Seen.ADMINS, Erased.ALWAYS,
        gettext_lazy("What an admin changed of the person by hand, on pages of the database, and when."),
        gettext_lazy("To trace who changed what."), find=_changes_to,
        fields="action_time action_flag object_repr change_message", others="user",
        technical="content_type object_id"),
    Held.of(LogEntry, "own_changes_as_admin", Subject.RECORDS, Seen.ADMINS, Erased.ALWAYS,
        gettext_lazy("What the person, as an admin, changed by hand on pages of the database, and when."),
        gettext_lazy("To trace who changed what."), user="user", fields="action_time action_flag",
        others="object_repr change_message content_type object_id"),
)  # fmt: skip


ACTS: list[Acts] = [*annotation.ACTS, *benchmarks.ACTS]


def all_held() -> list[Held]:
    """All declarations, with those of kinds of study."""
    return [*HELD, *annotation.all_held(), *benchmarks.HELD]


def by_subject() -> list[tuple[Subject, list[Held]]]:
    """The declarations of each subject, in the order of `Subject`."""
    return [(subject, [held for held in all_held() if held.subject is subject]) for subject in Subject]


def days_of(held: Held) -> int:
    """After how many days it goes by the settings of this site; 0 means that it does not."""
    days: int = getattr(settings, held.setting) if held.setting else 0
    return days


SITE_NAME = "SummHay"
PIECE_BYTES = 64 * 1024
PACKED = {DraftRevision: PackedRows.Table.REVISIONS, SessionEvent: PackedRows.Table.EVENTS}
"""Tables of which rows of sessions that are over are compressed."""


def person_of(user: User) -> Person:
    """The account, and the annotator behind it if there is one."""
    return Person(user, Annotator.objects.filter(user=user).first())


def exported() -> list[Held]:
    return [held for held in all_held() if held.fields]


def reasons() -> list[tuple[Reason, list[str]]]:
    """Why which fields are not in it, by reason."""
    left_out: dict[Reason, list[str]] = {reason: [] for reason in Reason}
    for held in all_held():
        for reason, names in held.withheld.items():
            left_out[reason] += [f"{held.model.__name__}.{name}" for name in names]
    return [(reason, sorted(names)) for reason, names in left_out.items() if names]


def rows_of(held: Held, person: Person) -> Iterator[dict[str, Any]]:
    """The person's rows of one declaration, with its fields and no other."""
    if held.model in PACKED:
        yield from _with_packed(held, person)
        return
    rows = held.rows_of(person)
    if rows is not None:
        for row in rows.order_by("pk").values(*held.fields).iterator(chunk_size=200):
            pairs = (row[name].items() if name == held.spread else [(name, row[name])] for name in held.fields)
            yield dict(chain.from_iterable(pairs))


def _with_packed(held: Held, person: Person) -> Iterator[dict[str, Any]]:
    uids = dict(Session.objects.filter(annotator=person.annotator).values_list("pk", "uid"))
    names = [name for name in held.fields if name != "session__uid"]
    for row in packing.rows_of(PACKED[held.model], uids, names) if person.annotator else ():
        yield {"session__uid": uids[row["session_id"]], **{name: row[name] for name in names}}


def pieces(person: Person, *, language: str, now: datetime) -> Iterator[bytes]:
    """The zip, piece by piece; its README is in `language`."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as zipped:  # type: ignore[call-overload]
        files: list[tuple[Held, int]] = []
        for held in exported():
            n = 0
            with zipped.open(_about(f"{held.name}.json", now), "w", force_zip64=True) as member:
                for n, row in enumerate(rows_of(held, person), 1):
                    member.write(b"[\n" if n == 1 else b",\n")
                    member.write(orjson.dumps(row, default=str))
                    if sink.n_bytes >= PIECE_BYTES:
                        yield sink.taken()
                member.write(b"\n]\n" if n else b"[]\n")
            files.append((held, n))
        with translation.override(language):
            context = {"files": files, "reasons": reasons(), "now": now, "site_name": SITE_NAME}
            zipped.writestr(_about("README.txt", now), render_to_string("site/own_data.txt", context))
    yield sink.taken()


def _about(name: str, now: datetime) -> zipfile.ZipInfo:
    about = zipfile.ZipInfo(name, date_time=(max(now.year, 1980), *now.timetuple()[1:6]))
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = 0o600 << 16
    return about


class _Sink:
    """The file that a zip is written to: bytes wait until they are taken, and nobody can seek in them."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.n_bytes = 0

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        self.n_bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is behind it."""

    def taken(self) -> bytes:
        """All that waits."""
        data = b"".join(self.waiting)
        self.waiting.clear()
        self.n_bytes = 0
        return data


FILES_AN_HOUR = 3


@requires(LOGGED_IN)
@require_safe
def privacy(request: HtmxHttpRequest) -> HttpResponse:
    """Show what is recorded of people, why, who sees it, and how long."""
    return _page(request)


@requires(LOGGED_IN)
@require_POST
def ask_erasure(request: HtmxHttpRequest) -> HttpResponse:
    """Ask the admins to be erased, with one's work (`work=1`) or without; once, until it is done."""
    user = actor(request)
    if asked_erasure(user) is None:
        record(
            actor=user, action=ERASURE, target=user, now=timezone.now(), with_work=request.POST.get("work") == "1"
        )
    return redirect("privacy")


def asked_erasure(user: User) -> AuditEvent | None:
    """The request of an account to be erased, if there is one."""
    newest: AuditEvent | None = AuditEvent.objects.filter(action=ERASURE, object_uid=str(user.uid)).first()
    return newest


@requires(LOGGED_IN)
@require_POST
@never_cache
def own_data(request: HtmxHttpRequest) -> HttpResponseBase:
    """Everything that the site holds of whoever asks, as a zip; a few times an hour."""
    user, now = actor(request), timezone.now()
    sight.lift()  # what is held of somebody does not end where their research group does
    taken = AuditEvent.objects.filter(actor=user, action="file.downloaded", object_uid=str(user.uid))
    if taken.filter(at__gt=now - timedelta(hours=1)).count() >= FILES_AN_HOUR:
        words = _("You have downloaded your data %(n)s times within an hour. Please try again later.")
        response = _page(request, status=429, refusal=words % {"n": FILES_AN_HOUR})
        response["Retry-After"] = "3600"
        return response
    content = pieces(person_of(user), language=get_language() or "en", now=now)
    return download(content, name="my-data.zip", content_type="application/zip", about=user)


def _page(request: HtmxHttpRequest, *, status: int = 200, refusal: str = "") -> HttpResponse:
    subjects = [
        (subject, [(held, days_of(held)) for held in {held.what: held for held in rows}.values()])
        for subject, rows in by_subject()
    ]
    person = Annotator.objects.filter(user=actor(request)).first()
    context = {
        "subjects": subjects,
        "asked": asked_erasure(actor(request)),
        "reasons": reasons(),
        "refusal": refusal,
        "contacts": contacts(person) if person else [],
    }
    return page(request, "site/privacy.html", context, status=status)


LET_GO = "data.let_go"
GONE = "gone-"
"""How the ids of people begin whose ids went."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of thing that goes: what is due at a time, and letting go of one row of it at another.

    Without its setting `RETAIN_…_DAYS` nothing goes. The audit log keeps how much went, and nothing of what it
    was; figures and disputes stay as they are.
    """

    name: str
    words: str
    setting: str
    due: Callable[[datetime], QuerySet[Any]]
    let_go: Callable[[Any, datetime], Any]

    @property
    def days(self) -> int:
        """After how many days it goes; 0 means that it stays."""
        days: int = getattr(settings, self.setting)
        return days

    def rows(self, now: datetime) -> QuerySet[Any]:
        rows = self.due(now - timedelta(days=self.days))
        return rows.order_by("pk") if self.days else rows.none()


def due(*, now: datetime) -> list[tuple[Part, int]]:
    """How much of each part would go now."""
    return [(part, part.rows(now).count()) for part in PARTS]


def let_go(*, now: datetime) -> dict[str, int]:
    """Let go of all that is due, row by row; gives how much of what went. Twice does no harm."""
    went: dict[str, int] = {}
    for part in PARTS:
        for pk in list(part.rows(now).values_list("pk", flat=True)):
            row = part.rows(now).filter(pk=pk).first()  # somebody may have come back meanwhile
            if row is not None:
                part.let_go(row, now)
                went[part.name] = went.get(part.name, 0) + 1
    if went:
        record(actor=None, action=LET_GO, target=None, now=now, **went)
        leave_no_trace()
    return went


def _events(before: datetime) -> QuerySet[Any]:
    packed = PackedRows.objects.filter(table=PackedRows.Table.EVENTS, n_rows__gt=0)
    return packed.filter(session__ended_at__lt=before)


def _forget_turned_away(row: TurnedAway, _now: datetime) -> None:
    row.panel_id = row.panel_key = f"{GONE}{secrets.token_hex(8)}"
    row.references = {}
    row.save(update_fields=["panel_id", "panel_key", "references"])


def _inactive(before: datetime) -> QuerySet[Any]:
    """Annotators who neither logged in nor worked since, and are in no study that is open."""
    of_person = {"annotator__user": OuterRef("pk")}
    at_work = (
        Membership.objects.filter(**of_person, left_at=None, study__state=Study.State.OPEN),
        LabelTask.objects.filter(**of_person, last_seen_at__gte=before),
        Session.objects.filter(**of_person, last_seen_at__gte=before),
    )
    people: QuerySet[Any] = User.objects.filter(
        Q(last_login=None) | Q(last_login__lt=before), date_joined__lt=before
    )
    people = people.filter(groups__name=ANNOTATOR, is_staff=False, is_superuser=False)
    people = people.exclude(
        Exists(User.groups.through.objects.filter(user=OuterRef("pk")).exclude(group__name=ANNOTATOR))
    )
    for rows in at_work:
        people = people.exclude(Exists(rows))
    return people.exclude(username__startswith=FORMER, name="", email="")


PARTS = (
    Part(
        "audit_details",
        "details in the audit log",
        "RETAIN_AUDIT_DETAILS_DAYS",
        lambda before: AuditEvent.objects.filter(at__lt=before).exclude(detail={}).exclude(action=LET_GO),
        lambda row, _now: AuditEvent.objects.filter(pk=row.pk).update(detail={}),
    ),
    Part(
        "search_words",
        "writing sessions whose search words go",
        "RETAIN_SEARCH_WORDS_DAYS",
        lambda before: _events(before).filter(search_words_gone_at=None),
        lambda row, now: packing.forget_search_words(pack_id=row.pk, now=now),
    ),
    Part(
        "session_events",
        "writing sessions whose events go, but for pastes and copies",
        "RETAIN_SESSION_EVENTS_DAYS",
        _events,
        lambda row, _now: packing.forget_events(pack_id=row.pk),
    ),
    Part(
        "turned_away",
        "people of a panel for whom there was no place",
        "RETAIN_TURNED_AWAY_DAYS",
        lambda before: TurnedAway.objects.filter(at__lt=before).exclude(panel_key__startswith=GONE),
        _forget_turned_away,
    ),
    Part(
        "inactive",
        "annotators whose name and address go",
        "RETAIN_INACTIVE_DAYS",
        _inactive,
        lambda row, now: make_nameless(user=row, now=now),
    ),
)
