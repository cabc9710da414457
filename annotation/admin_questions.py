"""The admin of verification and validation: all of it to look at; what may change, changes on the pages."""

from __future__ import annotations

from django.contrib import admin

from annotation import models
from benchmarks.web.readonly import ReadOnlyAdmin


@admin.register(models.VerificationPlan)
class VerificationPlanAdmin(ReadOnlyAdmin):
    """Settings of verification studies."""

    list_display = ("study", "control_share", "people_per_question", "n_attention_checks")
    list_select_related = ("study",)


@admin.register(models.ValidationPlan)
class ValidationPlanAdmin(ReadOnlyAdmin):
    """Settings of validation studies."""

    list_display = ("study", "judge", "people_per_item", "shows_verdict")
    list_select_related = ("study", "judge")


@admin.register(models.PointLabel)
class PointLabelAdmin(ReadOnlyAdmin):
    """Judgments on key points, superseded ones too."""

    list_display = ("study", "annotator", "key_point", "grounded", "keyness", "is_current", "made_at")
    list_select_related = ("study", "annotator", "key_point")
    list_filter = ("grounded", "keyness", "is_current")


@admin.register(models.EntailmentLabel)
class EntailmentLabelAdmin(ReadOnlyAdmin):
    """Answers on response and key point, superseded ones too."""

    list_display = ("study", "annotator", "key_point", "answer", "verdict_shown", "is_current", "made_at")
    list_select_related = ("study", "annotator", "key_point")
    list_filter = ("answer", "is_current", "verdict_shown")


@admin.register(models.PointAdjudication)
class PointAdjudicationAdmin(ReadOnlyAdmin):
    """Decisions of researchers on key points."""

    list_display = ("study", "key_point", "grounded", "keyness", "is_current", "made_by", "made_at")
    list_select_related = ("study", "key_point", "made_by")


@admin.register(models.DatasetVersion)
class DatasetVersionAdmin(ReadOnlyAdmin):
    """Whose labels make the dataset."""

    list_display = ("study", "number", "rule", "autods_threshold", "made_by", "made_at")
    list_select_related = ("study", "made_by")


@admin.register(models.SpotCheck)
class SpotCheckAdmin(ReadOnlyAdmin):
    """Samples that researchers review."""

    list_display = ("study", "annotator", "made_by", "made_at", "closed_at")
    list_select_related = ("study", "annotator", "made_by")


@admin.register(models.SpotCheckMark)
class SpotCheckMarkAdmin(ReadOnlyAdmin):
    """Reviewed answers."""

    list_display = ("spot_check", "label", "is_right", "marked_at")
    list_select_related = ("spot_check", "label")
