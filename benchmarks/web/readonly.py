"""The admin of append-only rows: to look at, never to change; its lists are made from the tables themselves."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse

from benchmarks.models import Haystack, Insight
from benchmarks.web.permissions import saw_insights


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A model admin without add, change and delete."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
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


MAX_COLUMNS = 8
SEARCHED = ("uid", "key", "name", "title", "username")
"""Fields that a search in a list looks at, where a table has them."""


def register_tables(app_label: str) -> None:
    """Register every table of an app that has no admin of its own yet, to look at.

    A list shows the first short fields and filters by choices and by yes or no.
    """
    for model in apps.get_app_config(app_label).get_models():
        if not admin.site.is_registered(model):
            admin.site.register(model, _admin_of(model))


def _admin_of(model: type[models.Model]) -> type[ReadOnlyAdmin]:
    long = (models.TextField, models.JSONField)  # no value of theirs fits a cell of a list
    short = [row for row in model._meta.concrete_fields if not (row.primary_key or isinstance(row, long))]
    shown = short[:MAX_COLUMNS]
    names = {field.name for field in model._meta.concrete_fields}
    attributes: dict[str, Any] = {
        "list_display": tuple(field.name for field in shown) or ("__str__",),
        "list_filter": tuple(
            field.name for field in shown if field.choices or isinstance(field, models.BooleanField)
        ),
        "list_select_related": tuple(sorted(path for field in shown for path in _related(field))),
        "search_fields": tuple(name for name in SEARCHED if name in names),
    }
    base: type[ReadOnlyAdmin] = ReadOnlyAdmin
    if model is Insight or ("insight" in names and model._meta.get_field("insight").related_model is Insight):
        base = InsightRowsAdmin
        attributes["path_to_haystack"] = (
            "subtopic__haystack" if model is Insight else InsightRowsAdmin.path_to_haystack
        )
    return type(f"{model.__name__}Admin", (base,), attributes)


def _related(field: models.Field[Any, Any]) -> list[str]:
    """A foreign key, and those of the row behind it that are always there: its name may hold theirs."""
    if not isinstance(field, models.ForeignKey):
        return []
    behind = field.related_model._meta.concrete_fields
    deeper = [
        f"{field.name}__{column.name}"
        for column in behind
        if isinstance(column, models.ForeignKey) and not column.null
    ]
    return [field.name, *deeper]
