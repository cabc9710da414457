"""Erases a person, now or again after a restore: the account goes, the work is deleted or made anonymous.

Who was erased is listed in the database, for all machines; in a file of the machine that erased, in case the
database is lost; and beside each backup, so that an older backup that is restored loses these people at once. A
file has one line of JSON each: identifiers, the choice and the time; no name and no content.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
from axes.models import AccessAttempt
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from pydantic import TypeAdapter
from pydantic import ValidationError as SchemaError

from annotation.models import Annotator, Publication, Removal
from annotation.people.removal import forget_panel_ids, going_of, remove_work, totals
from annotation.studies.lifecycle import hand_over
from annotation.studies.members import leave_all
from annotation.studies.rows import in_words
from annotation.writing.sessions import pause_all
from benchmarks.audit import record
from benchmarks.models import AuditEvent
from benchmarks.results.stored import forget_all
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.accounts import accounts
from summhay_site.accounts.accounts import OwnAccount, keep_an_admin, lock
from summhay_site.accounts.logins import actor
from summhay_site.accounts.models import ADMIN, User
from summhay_site.accounts.people_views import SAY_LAST_ADMIN, person_of
from summhay_site.sqlite.base import DatabaseWrapper

logger = logging.getLogger(__name__)

FILE_NAME = "removals.jsonl"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A person was erased; `mode` says what became of their work, `by` which account did it."""

    uid: UUID
    at: datetime
    mode: str
    user: UUID
    annotator: UUID | None = None
    by: UUID | None = None


LINE = TypeAdapter(Tombstone)


class Damaged(Exception):
    """A line of the file cannot be read; the message names it."""


def tombstone_file() -> Path:
    return Path(settings.DATA_DIR) / FILE_NAME


def stored() -> list[Tombstone]:
    """Those that the database lists; none where it cannot be read, or has no such list yet."""
    table = Removal._meta.db_table
    try:
        with connection.cursor() as cursor:
            if table not in connection.introspection.table_names(cursor):
                return []
            columns = {column.name for column in connection.introspection.get_table_description(cursor, table)}
        if "account" not in columns:
            return []
        rows = Removal.objects.filter(account__isnull=False).order_by("at")
        columns_read = ("uid", "at", "mode", "account", "annotator__uid", "by__uid")
        listed: list[Any] = list(rows.values_list(*columns_read))
        return [Tombstone(*row) for row in listed]
    except DatabaseError as error:
        logger.warning("The list of erased people in the database cannot be read: %s", error)
        return []


def enlist(tombstone: Tombstone) -> None:
    """Add one line, on the disk when this returns. Raises `OSError`.

    A line that a crash cut off goes: what it was about was never committed.
    """
    handle = os.open(tombstone_file(), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with open(handle, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
        file.write(orjson.dumps(tombstone) + b"\n")
        file.flush()
        os.fsync(handle)


def read_tombstones(file: Path) -> list[Tombstone]:
    """All tombstones of a file, none where there is no file; a line that was cut off is none. Raises `Damaged`."""
    if not file.is_file():
        return []
    *lines, _rest = file.read_bytes().split(b"\n")
    return [_parsed(line, number, file) for number, line in enumerate(lines, 1)]


def merge_tombstones(*lists: Iterable[Tombstone]) -> list[Tombstone]:
    """Each tombstone once, the oldest first."""
    by_uid = {tombstone.uid: tombstone for each in lists for tombstone in each}
    return sorted(by_uid.values(), key=lambda tombstone: (tombstone.at, tombstone.uid))


def write_tombstones(tombstones: Iterable[Tombstone], *, to: Path) -> None:
    """Write a whole file that only its owner can read, atomically."""
    partial = to.with_name(f".{to.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as out:
        out.writelines(orjson.dumps(tombstone) + b"\n" for tombstone in tombstones)
        out.flush()
        os.fsync(handle)
    partial.replace(to)


def _parsed(line: bytes, number: int, file: Path) -> Tombstone:
    try:
        return LINE.validate_json(line)
    except SchemaError as error:
        raise Damaged(f"Line {number} of {file} is no entry: {error.errors()[0]['msg']}.") from error


FORMER = "former-"
"""How user names begin of accounts that nobody uses any more and that have no name."""


@transaction.atomic
def erase(*, actor: User, user: User, now: datetime, mode: str = Removal.Mode.ANONYMOUS) -> Removal:
    """Remove a person: account, name and address go, from the audit log too.

    The work stays under a neutral label, or is deleted. Studies that nobody else could see any more pass to
    whoever erases. The tombstone is in its file before anything is committed.

    Raises `OwnAccount`, `LastAdmin`, and `OSError` where the file cannot be written; then nothing changed.
    """
    if actor.pk == user.pk:
        raise OwnAccount
    lock(user)
    if user.role == ADMIN:
        keep_an_admin(but=user)
    annotator = Annotator.objects.filter(user=user).first()
    tombstone = Tombstone(
        uid=uuid4(),
        at=now,
        mode=str(mode),
        user=user.uid,
        annotator=annotator.uid if annotator else None,
        by=actor.uid,
    )
    removal = _erase(tombstone, user=user, annotator=annotator, by=actor)
    enlist(tombstone)
    transaction.on_commit(cache.clear)
    transaction.on_commit(leave_no_trace)
    return removal


def leave_no_trace() -> None:
    """Empty SQLite's log of what went. If it is in use for long, beat does so within a minute."""
    database = connections[DEFAULT_DB_ALIAS]
    if isinstance(database, DatabaseWrapper):
        database.empty_log()


def erase_again(*, erased: Iterable[Tombstone]) -> int:
    """Erase those whom a restored database holds again, each in a transaction; gives how many."""
    done, n = set(Removal.objects.values_list("uid", flat=True)), 0
    for tombstone in erased:
        if tombstone.uid in done:
            continue
        with transaction.atomic():
            user = User.objects.filter(uid=tombstone.user).first()
            annotator = Annotator.objects.filter(uid__in=filter(None, [tombstone.annotator])).first()
            by = User.objects.filter(uid__in=filter(None, [tombstone.by])).first()
            if user is not None or annotator is not None:
                _erase(tombstone, user=user, annotator=annotator, by=by or _any_admin(but=user))
                n += 1
            else:  # nobody to erase here, but a later backup of this database may be restored over an older one
                Removal.objects.create(
                    uid=tombstone.uid, at=tombstone.at, mode=tombstone.mode, account=tombstone.user, by=by
                )
    leave_no_trace()
    return n


def _erase(tombstone: Tombstone, *, user: User | None, annotator: Annotator | None, by: Any) -> Removal:
    now = tombstone.at
    if user is not None and by is not None:
        hand_over(user=user, to=by, now=now)
    if annotator is not None:
        Publication.objects.forget(annotator, now=now, with_work=tombstone.mode == Removal.Mode.DELETED)
        _forget_name_of(annotator, label=f"Erased person {annotator.uid.hex[:6]}")
        pause_all(annotator=annotator, by=by, now=now)
        leave_all(annotator=annotator, reason="The person was erased.", by=by, now=now)
    removal = remove_work(
        annotator=annotator, mode=tombstone.mode, by=by, now=now, uid=tombstone.uid, account=tombstone.user
    )
    _forget_in_audit("summhay_site.user", str(tombstone.user), "Erased person")
    _forget_in_logs(user, annotator)
    record(
        actor=by,
        action="account.erased",
        target=annotator,
        now=now,
        uid=str(tombstone.user),
        mode=tombstone.mode,
        removed=totals(removal),
    )
    if user is not None:
        user.delete()
    return removal


@transaction.atomic
def make_nameless(*, user: User, now: datetime) -> None:
    """Take name, address and password from an account that nobody uses; the work and its remarks stay.

    The account stays without them, deactivated, because exposures hang on it.
    """
    lock(user)
    annotator = Annotator.objects.filter(user=user).first()
    if annotator is not None:
        Publication.objects.forget(annotator, now=now)
        _forget_name_of(annotator, label=f"Former annotator {annotator.uid.hex[:6]}")
        leave_all(annotator=annotator, reason="The account has no name any more.", by=None, now=now)
        forget_panel_ids(annotator)
    _forget_in_logs(user, annotator)
    user.tokens.all().delete()
    user.webhooks.all().delete()
    user.username = f"{FORMER}{user.uid.hex[:12]}"
    user.name = user.email = user.subject = ""
    user.is_active = False
    user.logins_ended += 1
    user.set_unusable_password()
    user.save()
    _forget_in_audit("summhay_site.user", str(user.uid), user.username)
    transaction.on_commit(forget_all)  # stored figures hold names
    transaction.on_commit(cache.clear)


def _forget_name_of(annotator: Annotator, *, label: str) -> None:
    annotator.label = label
    annotator.accommodation_note = ""
    annotator.preferences = {}
    annotator.is_active = False
    annotator.save(update_fields=["label", "accommodation_note", "preferences", "is_active"])
    _forget_in_audit(annotator._meta.label_lower, str(annotator.uid), annotator.label)


def _forget_in_logs(user: User | None, annotator: Annotator | None) -> None:
    """Forget what admins changed by hand of this person, and what failed when they logged in."""
    for row in filter(None, (user, annotator)):
        content_type = ContentType.objects.get_for_model(row)
        LogEntry.objects.filter(content_type=content_type, object_id=str(row.pk)).delete()
    for typed in filter(None, (user.username, user.email)) if user is not None else ():
        AccessAttempt.objects.filter(username__iexact=typed).delete()


def _any_admin(*, but: User | None) -> User | None:
    """Somebody to whom studies can pass where the admin of then is not there."""
    admins = User.objects.active_admins().exclude(pk__in=[but.pk] if but else [])
    admin: User | None = admins.order_by("pk").first()
    return admin


def _forget_in_audit(object_type: str, uid: str, name: str) -> None:
    AuditEvent.objects.filter(object_type=object_type, object_uid=uid).update(object_name=name)


class EraseForm(forms.Form):
    """The fate of the work, and the user name again, so that nobody is erased by a slip."""

    mode = forms.ChoiceField(
        label="Texts and labels",
        choices=(
            (Removal.Mode.ANONYMOUS, "Keep, without a name"),
            (Removal.Mode.DELETED, "Delete"),
        ),
        initial=Removal.Mode.ANONYMOUS,
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label="User name of the person to erase", max_length=150)

    def __init__(self, *args: Any, person: User, has_work: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person
        if not has_work:
            del self.fields["mode"]
        self.fields["username"].widget.attrs.update(autocomplete="off", autocapitalize="none")

    def clean_username(self) -> str:
        """Raise an error unless it is the user name on the page."""
        username: str = self.cleaned_data["username"].strip()
        if username != self.person.username:
            raise ValidationError("That is not the user name of this person.")
        return username


@requires("summhay_site.delete_user")
@require_http_methods(["GET", "HEAD", "POST"])
def person_erase(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Remove a person for good, after a look at what goes; the work stays without the name, or goes too."""
    shown = person_of(request, uid)
    if shown.pk == actor(request).pk:
        context = {"person": shown, "is_own": True}
        return page(request, "site/person_erase.html", context, status=422 if request.method == "POST" else 200)
    annotator = Annotator.objects.filter(user=shown).first()
    form = EraseForm(request.POST or None, person=shown, has_work=annotator is not None)
    if request.method == "POST" and form.is_valid():
        mode = form.cleaned_data.get("mode", Removal.Mode.ANONYMOUS)
        try:
            erase(actor=actor(request), user=shown, mode=mode, now=timezone.now())
        except accounts.LastAdmin:
            form.add_error(None, SAY_LAST_ADMIN)
        except OSError as error:
            form.add_error(
                None, "Nothing was erased: the list of removals cannot be written (%s)." % error.strerror
            )
        else:
            messages.success(request, "The person was erased.")
            return redirect("people")
    going = going_of(annotator) if annotator is not None else None
    context = {
        "person": shown,
        "form": form,
        "going": going,
        "rows": in_words(going.totals) if going else [],
    }
    return page(request, "site/person_erase.html", context, status=422 if form.errors else 200)
