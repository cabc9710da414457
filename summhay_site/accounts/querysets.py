"""Named queries of accounts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from annotation.models import Annotator
from benchmarks.access import sight
from summhay_site.accounts import roles


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
        rows = self.of_role(roles.ANNOTATOR)
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
        """Accounts whose highest role is this one."""
        rows = self
        for higher in roles.BY_RANK[: roles.BY_RANK.index(role)]:
            rows = rows.exclude(groups__name=higher)
            if higher == roles.ADMIN:
                rows = rows.exclude(is_superuser=True)
        if role == roles.ADMIN:
            return rows.filter(Q(pk__in=self._in_group(role)) | Q(is_superuser=True))
        return rows.filter(pk__in=self._in_group(role))

    def _in_group(self, role: str) -> models.QuerySet[Any, Any]:
        rows: models.QuerySet[Any, Any] = self.model._default_manager.filter(groups__name=role).values("pk")
        return rows

    def active_admins(self) -> UserQuerySet:
        """Admins who can log in."""
        return self.of_role(roles.ADMIN).filter(is_active=True)

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
