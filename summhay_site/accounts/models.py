"""The user, whoever can log in, with named queries, and the roles. What a person does lives in `annotation`."""

from __future__ import annotations

import uuid
import zoneinfo
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import AbstractUser, Group, Permission, UserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator
from benchmarks.access import sight

ANNOTATOR = "annotator"
RESEARCHER = "researcher"
ADMIN = "admin"
BY_RANK = (ADMIN, RESEARCHER, ANNOTATOR)

_RESEARCHER = (
    "benchmarks.view_haystack",
    "benchmarks.add_haystack",
    "benchmarks.change_haystack",
    "benchmarks.view_summary",
    "benchmarks.view_question",
    "benchmarks.view_judge",
    "benchmarks.add_judge",
    "benchmarks.change_judge",
    "benchmarks.add_judgerun",
    "benchmarks.add_responsepointcheck",
    "annotation.view_study",
    "annotation.add_study",
    "annotation.change_study",
    "annotation.view_session",
    "annotation.view_annotator",
    "annotation.add_annotator",
    "annotation.add_exclusion",
    "annotation.add_latedecision",
)
PERMISSIONS: dict[str, tuple[str, ...]] = {
    ANNOTATOR: ("annotation.do_work",),
    RESEARCHER: _RESEARCHER,
    ADMIN: (
        *_RESEARCHER,
        "benchmarks.delete_haystack",
        "benchmarks.view_auditevent",
        "annotation.delete_study",
        "annotation.add_clockcredit",
        "annotation.void_session",
        "annotation.change_annotator",
        "summhay_site.view_user",
        "summhay_site.add_user",
        "summhay_site.change_user",
        "summhay_site.delete_user",
        "summhay_site.view_workerheartbeat",
    ),
}


def sync_roles() -> None:
    """Make the groups and give each exactly the permissions of the table."""
    wanted = {name for names in PERMISSIONS.values() for name in names}
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type").filter(
            content_type__app_label__in={name.split(".")[0] for name in wanted}
        )
    }
    for role, names in PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set([known[name] for name in names if name in known])


class UserQuerySet(models.QuerySet[Any]):
    """Accounts; `role` of a row costs no query after `with_role`."""

    def with_role(self) -> UserQuerySet:
        """Fetch the groups too, so that the role of each row costs no query."""
        return self.prefetch_related("groups")

    def visible_to(self, user: Any) -> UserQuerySet:
        """Admins see everybody, whoever may see annotators those of their groups and studies, others nobody."""
        if user.has_perm("summhay_site.view_user"):
            return self
        if not user.has_perm("annotation.view_annotator"):
            return self.none()
        rows = self.of_role(ANNOTATOR)
        if sight.of(user) is sight.WHOLE_SITE:
            return rows
        return rows.filter(pk__in=Annotator.objects.visible_to(user).order_by().values("user"))

    def colleagues_of(self, user: Any) -> UserQuerySet:
        """Those who share a research group with somebody or are in none; everybody for admins."""
        seen = sight.of(user)
        if seen is None:
            return self
        in_none = Q(research_groups=None)
        return self.filter(in_none | Q(research_groups__in=seen.groups)).distinct()

    def of_role(self, role: str) -> UserQuerySet:
        rows = self
        for higher in BY_RANK[: BY_RANK.index(role)]:
            rows = rows.exclude(groups__name=higher)
            if higher == ADMIN:
                rows = rows.exclude(is_superuser=True)
        if role == ADMIN:
            return rows.filter(Q(pk__in=self._in_group(role)) | Q(is_superuser=True))
        return rows.filter(pk__in=self._in_group(role))

    def _in_group(self, role: str) -> models.QuerySet[Any, Any]:
        rows: models.QuerySet[Any, Any] = self.model._default_manager.filter(groups__name=role).values("pk")
        return rows

    def active_admins(self) -> UserQuerySet:
        return self.of_role(ADMIN).filter(is_active=True)

    def in_state(self, state: str) -> UserQuerySet:
        """Accounts that are active (the default), `inactive`, `new` (active, never logged in), or `all`."""
        if state == "all":
            return self
        if state == "inactive":
            return self.filter(is_active=False)
        return self.filter(is_active=True, last_login=None) if state == "new" else self.filter(is_active=True)

    def without_password(self) -> UserQuerySet:
        """Active accounts whose person has set no password yet."""
        return self.filter(is_active=True, password__startswith=UNUSABLE_PASSWORD_PREFIX)

    def taken(self, usernames: Iterable[str]) -> set[str]:
        """The lower-cased user names among these that exist already, whatever their case."""
        wanted = sorted({name.lower() for name in usernames})
        taken_names: set[str] = set()
        rows = self.annotate(lower_username=Lower("username"))
        for start in range(0, len(wanted), 500):  # SQLite limits the number of parameters
            chunk = wanted[start : start + 500]
            taken_names.update(rows.filter(lower_username__in=chunk).values_list("lower_username", flat=True))
        return taken_names


@cache
def known_time_zones() -> frozenset[str]:
    """All IANA names that this machine knows, and UTC in any case."""
    return frozenset(zoneinfo.available_timezones() | {"UTC"})


def validate_time_zone(value: str) -> None:
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
        """The highest role; a superuser is an admin; empty where none was given."""
        if self.is_superuser:
            return ADMIN
        names = {group.name for group in self.groups.all()}
        return next((role for role in BY_RANK if role in names), "")

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
        return self.language if self.language in dict(settings.LANGUAGES) else ""

    @property
    def is_new_annotator(self) -> bool:
        """An annotator who has not set a password yet: whoever adds annotators may hand out links."""
        return self.role == ANNOTATOR and not self.has_usable_password() and not self.is_recruited

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """The hash of a log-in: Django's hash of the password and, once log-ins were ended, how often."""
        key_salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        value = f"{self.password}{self.logins_ended or ''}"
        return salted_hmac(key_salt, value, secret=secret, algorithm="sha256").hexdigest()
