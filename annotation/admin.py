"""The admin of people's work: to look, and to mend names and accommodations.

What has rules (states, plans, tasks, texts, clocks) changes on the pages, whose verbs keep the rules and the log.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotation import models
from benchmarks.web.readonly import register_tables


class MendableAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A model admin that changes the fields of `mendable` and shows the others; no adding, no deleting."""

    mendable: tuple[str, ...] = ()
    show_full_result_count = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.opts.fields if field.name not in self.mendable]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Annotator)
class AnnotatorAdmin(MendableAdmin):
    mendable = ("label", "limit_factor", "may_paste", "accommodation_note")
    list_display = ("label", "user", "limit_factor", "may_paste", "is_active")
    list_select_related = ("user",)
    search_fields = ("label", "user__username")


@admin.register(models.Study)
class StudyAdmin(MendableAdmin):
    mendable = ("description", "contact")
    fields = (
        *("name", "kind", "state", "description", "contact", "hourly_rate", "currency"),
        *("due_at", "seed", "created_at", "created_by"),
    )
    list_display = ("name", "kind", "state", "due_at", "created_at")
    list_filter = ("kind", "state")
    search_fields = ("name",)


register_tables("annotation")
