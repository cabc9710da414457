"""One-time links by which a person sets a password: shown once, or sent by mail, and each in the audit log."""

from __future__ import annotations

import smtplib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from benchmarks.audit import record
from summhay_site.accounts.accounts import NotAllowed
from summhay_site.accounts.models import User

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
    _check(actor, user=User.objects.select_for_update().get(pk=user.pk))
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


def _check(actor: User | None, *, user: User) -> None:
    if not may_make_link(actor, user=user):
        raise NotAllowed


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
