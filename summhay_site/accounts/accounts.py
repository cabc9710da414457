"""The life of an account: made, given a role, switched off. Every act is in the audit log, in one transaction with
what it did. Below, one-time links by which a person sets a password: shown once, or sent by mail. The end of an
account is in `operations.erasing`.
"""

from __future__ import annotations

import smtplib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from annotation.models import Annotator
from annotation.writing.sessions import pause_all
from benchmarks.audit import record
from benchmarks.grouping import join
from summhay_site.accounts.models import ADMIN, ANNOTATOR, BY_RANK, User


class UsernameTaken(Exception):
    """Accounts with these user names exist already; nothing was made."""

    def __init__(self, usernames: Sequence[str]) -> None:
        super().__init__(", ".join(usernames))
        self.usernames = list(usernames)


class NotAllowed(Exception):
    """The actor's role does not reach this far."""


class LastAdmin(Exception):
    """Without this account nobody could look after the site."""


class OwnAccount(Exception):
    """One cannot do this to oneself."""


class AccountChanged(Exception):
    """The account is not as it was when the request began: another role, a newer link, switched off."""


@dataclass(frozen=True)
class NewAccount:
    """Data of a new account; the password is set later through a link.

    `language` is that of an annotator's mails and pages, such as “de”; empty is up to the person's browser, and
    mails are in English until they set a password.
    """

    username: str
    name: str
    email: str = ""
    language: str = ""


def create_accounts(
    *, actor: User | None, rows: Sequence[NewAccount], role: str, now: datetime, group_id: int | None = None
) -> list[User]:
    """Make accounts without a password, all or none, as members of a research group if one is given.

    `actor` is None for commands. Raises `NotAllowed` where the actor may not give this role and
    `UsernameTaken` where a name exists, in whatever case.
    """
    if actor is not None and not may_create(actor, role=role):
        raise NotAllowed
    try:
        with transaction.atomic():
            users = _create(actor=actor, rows=rows, role=role, now=now)
            join(group_id=group_id, people=users)
            return users
    except IntegrityError as error:  # somebody else took a name between the check and the insert
        raise UsernameTaken(_taken(rows)) from error


def create_account(
    *, actor: User | None, row: NewAccount, role: str, now: datetime, group_id: int | None = None
) -> User:
    return create_accounts(actor=actor, rows=[row], role=role, now=now, group_id=group_id)[0]


def may_create(actor: User, *, role: str) -> bool:
    """Admins give any role; whoever may add annotators gives that one."""
    if actor.has_perm("summhay_site.add_user"):
        return True
    return role == ANNOTATOR and actor.has_perm("annotation.add_annotator")


def _taken(rows: Sequence[NewAccount]) -> list[str]:
    taken = User.objects.taken(row.username for row in rows)
    return [row.username for row in rows if row.username.lower() in taken]


def _create(*, actor: User | None, rows: Sequence[NewAccount], role: str, now: datetime) -> list[User]:
    if taken := _taken(rows):
        raise UsernameTaken(taken)
    users: list[User] = User.objects.bulk_create(
        [
            User(
                username=User.normalize_username(row.username),
                name=row.name,
                email=row.email,
                language=row.language,
                password=make_password(None),
                is_staff=role == ADMIN,
                date_joined=now,
            )
            for row in rows
        ]
    )
    group = Group.objects.get(name=role)
    through = User.groups.through
    through.objects.bulk_create([through(user_id=user.pk, group_id=group.pk) for user in users])
    if role == ANNOTATOR:
        Annotator.objects.bulk_create(
            [Annotator(user=user, label=user.display_name[:120], created_at=now) for user in users]
        )
    for user in users:
        record(actor=actor, action="account.created", target=user, now=now, role=role)
    return users


@transaction.atomic
def change_role(*, actor: User | None, user: User, role: str, now: datetime) -> None:
    """Give a user exactly this role. Who stops being an annotator gets no new work; what was done stays.

    All log-ins and open password links of the account end. A higher role also ends the password: whoever made
    the account may know it, and only the person who is meant may have the new one.
    """
    lock(user)
    before = user.role
    if before == role:
        return
    if before == ADMIN:
        keep_an_admin(but=user)
    user.groups.set([Group.objects.get(name=role)])
    user.is_superuser = user.is_superuser and role == ADMIN
    user.is_staff = role == ADMIN
    if not before or BY_RANK.index(role) < BY_RANK.index(before):
        user.set_unusable_password()
    user.save(update_fields=["is_superuser", "is_staff", "password"])
    _end_access(user)
    if role == ANNOTATOR:
        Annotator.objects.update_or_create(
            user=user,
            defaults={"is_active": True},
            create_defaults={"label": user.display_name[:120], "created_at": now},
        )
    else:
        Annotator.objects.filter(user=user).update(is_active=False)
    record(actor=actor, action="account.role", target=user, now=now, before=before, after=role)


@transaction.atomic
def deactivate(*, actor: User, user: User, now: datetime) -> None:
    """Switch an account off: its log-ins and open password links end, also for the time after a reactivation.

    A clock that runs is paused, as its page cannot be opened to do so.
    """
    if actor.pk == user.pk:
        raise OwnAccount
    lock(user)
    if not user.is_active:
        return
    if user.role == ADMIN:
        keep_an_admin(but=user)
    user.is_active = False
    user.save(update_fields=["is_active"])
    _end_access(user)
    for annotator in Annotator.objects.filter(user=user):
        pause_all(annotator=annotator, by=actor, now=now)
    record(actor=actor, action="account.deactivated", target=user, now=now)


@transaction.atomic
def reactivate(*, actor: User, user: User, now: datetime) -> None:
    """Switch an account on again; the old password works."""
    if user.is_active:
        return
    user.is_active = True
    user.save(update_fields=["is_active"])
    record(actor=actor, action="account.reactivated", target=user, now=now)


@transaction.atomic
def set_accommodation(
    *,
    actor: User,
    annotator: Annotator,
    limit_factor: Decimal,
    may_paste: bool,
    accommodation_note: str,
    now: datetime,
) -> None:
    """Give an annotator more time (1 to 10 times the limit) or leave to paste; applies to sessions not yet begun.

    The note may say something of a person's health, so it stays out of the audit log.
    """
    annotator.limit_factor, annotator.may_paste = limit_factor, may_paste
    annotator.accommodation_note = accommodation_note
    annotator.save(update_fields=["limit_factor", "may_paste", "accommodation_note"])
    detail = {"limit_factor": str(limit_factor), "may_paste": may_paste}
    record(actor=actor, action="annotator.accommodation", target=annotator, now=now, **detail)


@transaction.atomic
def update_profile(
    *,
    user: User,
    name: str,
    time_zone: str,
    now: datetime,
    language: str | None = None,
    reminders: bool | None = None,
) -> None:
    """Change one's own name and time zone and, unless they are None, language and whether one wants reminders."""
    if reminders is not None:
        Annotator.objects.filter(user=user).update(wants_reminders=reminders)
    user.time_zone = time_zone
    user.language = user.language if language is None else language
    user.save(update_fields=["time_zone", "language"])
    update_details(actor=user, user=user, name=name, email=user.email, now=now)


def keep_language(*, user: User, language: str) -> None:
    """Let the language of the page on which somebody comes in be theirs, unless they have chosen one."""
    if not user.language:
        user.language = language
        user.save(update_fields=["language"])


@transaction.atomic
def store_password(*, user: User, replacing: str, by: str, now: datetime) -> None:
    """Keep the password that was set on `user`, in the place of the hash `replacing`.

    `by` says how: `link` or `change`. Raises `AccountChanged`, and keeps the old one, where the account changed
    since `user` was read.
    """
    # compare-and-swap: a link that died while its form was being checked sets nothing
    unchanged = {"links_made": user.links_made, "logins_ended": user.logins_ended, "is_active": True}
    same = User.objects.filter(pk=user.pk, password=replacing, **unchanged)
    if not same.update(password=user.password):
        raise AccountChanged
    record(actor=user, action="account.password", target=user, now=now, by=by)


@transaction.atomic
def update_details(*, actor: User, user: User, name: str, email: str, now: datetime) -> None:
    """Mend name and mail address; the label that researchers see follows where it was the name.

    The audit log says which of the two changed, not what they were. Another address ends open password links.
    """
    changed = [field for field, new in (("name", name), ("email", email)) if getattr(user, field) != new]
    if not changed:
        return
    before = user.display_name
    user.name, user.email = name, email
    user.save(update_fields=["name", "email"])
    if "email" in changed:  # else a link would live again with the address that it was made for
        User.objects.filter(pk=user.pk).update(links_made=F("links_made") + 1)
    Annotator.objects.filter(user=user, label=before[:120]).update(label=user.display_name[:120])
    record(actor=actor, action="account.details", target=user, now=now, changed=changed)


def lock(user: User) -> None:
    """Read the account again, locked, and all admins with it, so that two of them cannot remove each other."""
    admins = User.objects.active_admins().values("pk")
    rows = User.objects.select_for_update().filter(Q(pk=user.pk) | Q(pk__in=admins))
    list(rows.order_by("pk").values_list("pk"))  # in one order, or two requests wait for each other
    user.refresh_from_db()


def _end_access(user: User) -> None:
    """End the log-ins and the open password links of an account that is locked."""
    user.links_made += 1
    user.logins_ended += 1
    user.save(update_fields=["links_made", "logins_ended"])


def keep_an_admin(*, but: User) -> None:
    """Raise `LastAdmin` where no other admin is active; inside `lock`."""
    if not User.objects.active_admins().exclude(pk=but.pk).exists():
        raise LastAdmin


MAIL_AGAIN_AFTER = timedelta(minutes=10)


class NoMail(Exception):
    """The mail could not be handed over; the link is still good."""


class LinkTokens(PasswordResetTokenGenerator):
    """Tokens that die with use (the password changes), with the next link, and with age."""

    key_salt = "summhay_site.links"

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        return f"{super()._make_hash_value(user, timestamp)}{user.links_made}"


tokens = LinkTokens()


@dataclass(frozen=True)
class PasswordLink:
    """A link of one person; whoever holds it can set the password."""

    user: User
    url: str
    expires_at: datetime


@transaction.atomic
def make_link(*, actor: User | None, user: User, base_url: str, now: datetime) -> PasswordLink:
    """Make a new link and cancel those made before. `actor` is None for commands. Raises `NotAllowed`."""
    if not may_make_link(actor, user=User.objects.select_for_update().get(pk=user.pk)):
        raise NotAllowed
    User.objects.filter(pk=user.pk).update(links_made=F("links_made") + 1)
    user.refresh_from_db(fields=["links_made", "password"])
    return _issue(actor, user=user, base_url=base_url, now=now)


@transaction.atomic
def hand_out_links(
    *, actor: User | None, users: Iterable[User], base_url: str, now: datetime, anew: bool = False
) -> list[PasswordLink]:
    """Give links to the accounts for which the actor may make one, and to no other; only `anew` cancels others."""
    rows = User.objects.filter(pk__in=[user.pk for user in users]).order_by("username")
    allowed = [user for user in rows.select_for_update().with_role() if may_make_link(actor, user=user)]
    if anew:
        User.objects.filter(pk__in=[user.pk for user in allowed]).update(links_made=F("links_made") + 1)
        for user in allowed:
            user.links_made += 1
    return [_issue(actor, user=user, base_url=base_url, now=now) for user in allowed]


def may_make_link(actor: User | None, *, user: User) -> bool:
    """Admins for everybody who is active; whoever adds annotators, for those who never set a password.

    For nobody who came by a recruitment link, whose browser is the only key. The one rule for all links that are
    shown, listed or downloaded.
    """
    if not user.is_active or user.is_recruited:
        return False
    if actor is None or actor.has_perm("summhay_site.change_user"):
        return True
    return user.is_new_annotator and actor.has_perm("annotation.add_annotator")


def _issue(actor: User | None, *, user: User, base_url: str, now: datetime, by: str = "") -> PasswordLink:
    """The link for a user's present state, in the audit log."""
    record(actor=actor, action="account.link", target=user, now=now, **({"by": by} if by else {}))
    path = reverse("password-set", args=[user.uid.hex, tokens.make_token(user)])
    expires_at = now + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    return PasswordLink(user=user, url=urljoin(base_url, path), expires_at=expires_at)


def mail_link(*, link: PasswordLink, language: str = "") -> None:
    """Send a link to its person's address, in `language` if they have none; raises `NoMail` with the reason."""
    with translation.override(link.user.reads_in or language or settings.LANGUAGE_CODE):
        text = render_to_string("registration/mail_link.txt", {"link": link, "person": link.user})
        subject = _("Set your password")
    try:
        send_mail(subject, text, None, [link.user.email])
    except (OSError, smtplib.SMTPException) as error:
        raise NoMail(str(error) or type(error).__name__) from error


def mail_new_link(*, user_pk: int, base_url: str, now: datetime) -> None:
    """Mail a new annotator the link; whoever set a password or got another role meanwhile gets none this way."""
    with transaction.atomic():
        user = User.objects.select_for_update().filter(pk=user_pk, is_active=True).exclude(email="").first()
        if user is None or not user.is_new_annotator:
            return
        link = _issue(None, user=user, base_url=base_url, now=now, by="mail")
    mail_link(link=link)


def mail_forgotten(*, email: str, base_url: str, now: datetime, language: str = "") -> int:
    """Mail a link to every active account with this address, at most one in ten minutes; returns how many.

    Not to an account that was given a higher role and waits for its new password: the address may be that of
    whoever made the account. Its person gets a link from an admin.

    Runs in the worker, so that the page answers alike, and as fast, whether the address is known or not.
    """
    sent = 0
    for user in User.objects.filter(email__iexact=email, is_active=True).exclude(email="")[:10]:
        if not (user.has_usable_password() or user.is_new_annotator):
            continue
        # compare-and-swap: of two requests at once only one mails
        fresh = User.objects.filter(
            Q(link_mailed_at=None) | Q(link_mailed_at__lt=now - MAIL_AGAIN_AFTER), pk=user.pk
        )
        if not fresh.update(link_mailed_at=now):
            continue
        try:
            link = _issue(None, user=user, base_url=base_url, now=now, by="forgotten")
            mail_link(link=link, language=language)
        except NoMail:
            User.objects.filter(pk=user.pk).update(link_mailed_at=None)
            raise
        sent += 1
    return sent
