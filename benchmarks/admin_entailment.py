"""The admin of what judges say of responses and key points: all of it to look at."""

from __future__ import annotations

from django.contrib import admin

from benchmarks.models import Extraction, PointVerdict, ResponsePoint, ResponsePointCheck
from benchmarks.web.readonly import ReadOnlyAdmin


@admin.register(Extraction)
class ExtractionAdmin(ReadOnlyAdmin):
    """Responses taken apart."""

    list_display = ("response", "judge", "is_valid", "created_at")
    list_select_related = ("response", "judge")
    list_filter = ("is_valid",)


@admin.register(ResponsePoint)
class ResponsePointAdmin(ReadOnlyAdmin):
    """Points that responses make."""

    list_display = ("extraction", "number", "text")
    list_select_related = ("extraction",)
    search_fields = ("text",)


@admin.register(ResponsePointCheck)
class ResponsePointCheckAdmin(ReadOnlyAdmin):
    """What people think of extracted points."""

    list_display = ("point", "is_right", "made_by", "made_at")
    list_select_related = ("point", "made_by")


@admin.register(PointVerdict)
class PointVerdictAdmin(ReadOnlyAdmin):
    """Verdicts on points."""

    list_display = ("judge", "premise", "response", "key_point", "answer", "is_valid", "created_at")
    list_select_related = ("judge", "response", "key_point")
    list_filter = ("judge", "premise", "answer", "is_valid")
