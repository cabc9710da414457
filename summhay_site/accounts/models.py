"""The user: whoever can log in. What a person does lives in `annotation`."""

from __future__ import annotations

import uuid
import zoneinfo
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from summhay_site.accounts.querysets import UserQuerySet
from summhay_site.accounts.roles import ADMIN, ANNOTATOR, RESEARCHER, role_of


@cache
def known_time_zones() -> frozenset[str]:
    """All IANA names that this machine knows, and UTC in any case."""
    return frozenset(zoneinfo.available_timezones() | {"UTC"})


def validate_time_zone(value: str) -> None:
    """Refuse a name that is no IANA time zone."""
    if value not in known_time_zones():
        raise ValidationError(
            _("“%(value)s” is not a time zone; use a name like Europe/Lisbon."), params={"value": value}
        )


class AccountManager(UserManager.from_queryset(UserQuerySet)):  # type: ignore[misc]
    """Accounts, with the reads of `UserQuerySet`."""

    use_in_migrations = False


class User(AbstractUser):
    """Somebody who can log in; the role is a group."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    name = models.CharField(_("name"), max_length=150, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC", validators=[validate_time_zone])
    language = models.CharField(
        max_length=8, blank=True, help_text="Of pages and mails, for annotators; empty means that of the browser."
    )
    links_made = models.PositiveIntegerField(
        default=0, editable=False, help_text="Part of the hash of a password link: a new link cancels older ones."
    )
    logins_ended = models.PositiveIntegerField(
        default=0, editable=False, help_text="Part of the hash of a log-in: one more ends every log-in before it."
    )
    link_mailed_at = models.DateTimeField(null=True, blank=True, editable=False)
    is_recruited = models.BooleanField(
        default=False,
        editable=False,
        help_text="Came by a recruitment link: logs in by a cookie of one browser and never has a password.",
    )

    subject = models.CharField(
        max_length=500,
        blank=True,
        editable=False,
        help_text="What the institution that the person logs in through calls them: its address and a name.",
    )

    objects: ClassVar[AccountManager] = AccountManager()

    class Meta:
        ordering = ["username"]
        constraints = [
            models.UniqueConstraint("subject", condition=~models.Q(subject=""), name="user_subject_unique"),
            models.UniqueConstraint(Lower("username"), name="user_username_unique_in_any_case"),
        ]

    def get_full_name(self) -> str:
        """The name as the person writes it."""
        return self.name

    def get_short_name(self) -> str:
        """The name as the person writes it."""
        return self.name

    @property
    def display_name(self) -> str:
        """The name, or the login where there is none."""
        return self.name or self.get_username()

    @property
    def role(self) -> str:
        """The highest role; empty where none was given."""
        return role_of(self)

    @cached_property
    def runs_studies(self) -> bool:
        """Whether this is a researcher or an admin; asked once for an account that was read."""
        return self.role in {RESEARCHER, ADMIN}

    @property
    def reads_in(self) -> str:
        """The language of pages and mails: as chosen, English for who runs studies; empty is up to the browser."""
        return settings.LANGUAGE_CODE if self.runs_studies else self.chosen_language

    @property
    def chosen_language(self) -> str:
        """The language that was chosen, if the site has it."""
        return self.language if self.language in dict(settings.LANGUAGES) else ""

    @property
    def is_new_annotator(self) -> bool:
        """An annotator who has not set a password yet: whoever adds annotators may hand out links."""
        return self.role == ANNOTATOR and not self.has_usable_password() and not self.is_recruited

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """What a log-in must match: Django's hash of the password and, once log-ins were ended, how often."""
        key_salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        value = f"{self.password}{self.logins_ended or ''}"
        return salted_hmac(key_salt, value, secret=secret, algorithm="sha256").hexdigest()
