"""Who is asking: the web session and the account behind each request, read by queries that are compiled once.

They mean what Django's own do; a role given, an account switched off or a log-out counts from the next request.
Log-ins that are stored name this module by its path.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import OuterRef
from django.utils import timezone

from annotation.studies.consent import withdrawn_by
from benchmarks.prepared import PreparedRows, PreparedValues
from summhay_site.accounts.models import User
from summhay_site.accounts.reader import research_role_of

ID = User._meta.pk
LIVE_SESSION = PreparedRows[Session](
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now),
    key=Session._meta.get_field("session_key"),
    now=Session._meta.get_field("expire_date"),
)
ACCOUNT = PreparedRows[User](
    lambda pk: User.objects.filter(pk=pk).annotate(
        has_withdrawn_consent=withdrawn_by(OuterRef("pk")), has_research_role=research_role_of(OuterRef("pk"))
    ),
    pk=ID,
)
"""The account in one query, with what each request asks: whether the person has withdrawn or runs studies."""
PERMISSIONS = PreparedValues[str](
    lambda person, member: (
        Permission.objects.filter(user=person)
        .values_list("content_type__app_label", "codename")
        .order_by()
        .union(
            Permission.objects.filter(group__user=member)
            .values_list("content_type__app_label", "codename")
            .order_by()
        )
    ),
    person=ID,
    member=ID,
)


class SessionStore(db.SessionStore):
    """Web sessions in the database."""

    def _get_session_from_db(self) -> Session | None:
        found = LIVE_SESSION.first(key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found


class AccountBackend(ModelBackend):
    """Accounts and what they may do, by password."""

    def get_user(self, user_id: Any) -> Any:
        """The account, None if it is gone or switched off."""
        user = ACCOUNT.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Permissions of the person and of their groups, as `app.codename`; for a superuser all."""
        if not user_obj.is_active or user_obj.is_anonymous or obj is not None or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            rows = PERMISSIONS.all(person=user_obj.pk, member=user_obj.pk)
            user_obj._perm_cache = {f"{app}.{codename}" for app, codename in rows}
        held: set[str] = user_obj._perm_cache
        return held
