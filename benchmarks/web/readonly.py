"""The admin of append-only rows: to look at, never to change."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from benchmarks.models import Haystack
from benchmarks.web.exposure import saw_insights


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A model admin without add, change and delete."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody adds rows by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes them."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes them."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Admins may look."""
        return bool(request.user.is_active and request.user.is_staff)


class InsightRowsAdmin(ReadOnlyAdmin):
    """Rows that name reference insights: whoever lists or opens them has seen those of their haystacks."""

    path_to_haystack = "insight__subtopic__haystack"

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """One row, and a note of who opens it."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            self._note(request, [row.pk])
        return row

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """A list, and a note of who reads it."""
        response = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", {}).get("cl")
        if shown is not None:
            self._note(request, [row.pk for row in shown.result_list])
        return response

    def _note(self, request: HttpRequest, keys: list[Any]) -> None:
        rows = self.model._default_manager.filter(pk__in=keys).order_by()
        saw_insights(request.user, *Haystack.objects.filter(pk__in=rows.values(self.path_to_haystack)))
