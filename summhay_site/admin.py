"""The admin of accounts: to look and to mend names. Roles, states, addresses and passwords change on the People
pages, which keep the audit log and the annotator's row in step.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from benchmarks.web.readonly import ReadOnlyAdmin
from summhay_site.models import User, WorkerHeartbeat


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """Names and time zone can be mended here; everything with rules is read-only."""

    list_display = ("username", "name", "email", "is_active", "last_login")
    search_fields = ("username", "name", "email")
    ordering = ("username",)
    fieldsets = (
        (None, {"fields": ("username", "name", "email", "time_zone")}),
        ("Role", {"fields": ("groups", "is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined", "link_mailed_at")}),
    )
    readonly_fields = (
        *("username", "email", "groups", "is_active", "is_staff", "is_superuser"),
        *("last_login", "date_joined", "link_mailed_at"),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Accounts are made on the People pages."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """People are erased on the People pages, so that their work stays."""
        return False

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        """Nobody sets another person's password; a one-time link does it."""
        raise PermissionDenied


admin.site.register(WorkerHeartbeat, ReadOnlyAdmin)
