"""The admin of people's work: to look, and to mend names and accommodations.

What has rules (states, plans, tasks, texts, clocks) changes on the pages, whose verbs keep the rules and the log.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotation import admin_questions as admin_questions
from annotation import models
from benchmarks.web.readonly import InsightRowsAdmin, ReadOnlyAdmin


class MendableAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A model admin that changes the fields of `mendable` and shows the others; no adding, no deleting."""

    mendable: tuple[str, ...] = ()
    show_full_result_count = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Everything but what can be mended."""
        return [field.name for field in self.opts.fields if field.name not in self.mendable]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Made on the pages."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deleted on the pages, which say what stands in the way."""
        return False


@admin.register(models.Annotator)
class AnnotatorAdmin(MendableAdmin):
    """Names and accommodations."""

    mendable = ("label", "limit_factor", "may_paste", "accommodation_note")
    list_display = ("label", "user", "limit_factor", "may_paste", "is_active")
    list_select_related = ("user",)
    search_fields = ("label", "user__username")


@admin.register(models.Study)
class StudyAdmin(MendableAdmin):
    """Descriptions and contacts."""

    mendable = ("description", "contact")
    fields = (
        *("name", "kind", "state", "description", "contact", "hourly_rate", "currency"),
        *("due_at", "seed", "created_at", "created_by"),
    )
    list_display = ("name", "kind", "state", "due_at", "created_at")
    list_filter = ("kind", "state")
    search_fields = ("name",)


@admin.register(models.WritingPlan)
class WritingPlanAdmin(ReadOnlyAdmin):
    """Settings; they change on the study's page as long as they are not frozen."""

    list_display = ("study", "setting", "token_budget", "limit_ms", "preset")
    list_select_related = ("study",)
    list_filter = ("setting", "preset")


@admin.register(models.Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    """Versions of guidelines."""

    list_display = ("study", "version", "created_at", "created_by")
    list_select_related = ("study", "created_by")


@admin.register(models.Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Who takes part in what, under which number."""

    list_display = ("study", "annotator", "number", "limit_ms", "joined_at", "left_at")
    list_select_related = ("study", "annotator")


@admin.register(models.Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    """Tasks."""

    list_display = ("uid", "study", "annotator", "subtopic", "state", "is_practice", "due_at")
    list_select_related = ("study", "annotator", "subtopic")
    list_filter = ("state", "is_practice")


@admin.register(models.Exposure)
class ExposureAdmin(ReadOnlyAdmin):
    """Who has seen reference insights, or has written."""

    list_display = ("user", "haystack", "reason", "first_at")
    list_select_related = ("user", "haystack")
    list_filter = ("reason",)


@admin.register(models.ConsentText)
class ConsentTextAdmin(ReadOnlyAdmin):
    """Versions of the consent page."""

    list_display = ("version", "created_at", "created_by")
    list_select_related = ("created_by",)


@admin.register(models.Consent)
class ConsentAdmin(ReadOnlyAdmin):
    """Who agreed to which version."""

    list_display = ("annotator", "text", "given_at", "withdrawn_at")
    list_select_related = ("annotator", "text")


@admin.register(models.Session)
class SessionAdmin(ReadOnlyAdmin):
    """Writing sessions as stored; their pages settle the clock first."""

    list_display = ("uid", "annotator", "state", "acc_ms", "limit_ms", "started_at", "ended_at")
    list_select_related = ("annotator",)
    list_filter = ("state",)


class OfSessionAdmin(ReadOnlyAdmin):
    """Rows of one session."""

    list_select_related = ("session",)


@admin.register(models.ActivePeriod)
class ActivePeriodAdmin(OfSessionAdmin):
    """Stretches of work."""

    list_display = ("session", "seq", "started_at", "ended_at", "start_reason", "end_reason")


@admin.register(models.DraftRevision)
class DraftRevisionAdmin(OfSessionAdmin):
    """Texts that reached the server, rejected ones too."""

    list_display = ("session", "rev", "active_ms", "received_at", "source", "accepted", "reject_code")
    list_filter = ("accepted", "source")


@admin.register(models.Snapshot)
class SnapshotAdmin(OfSessionAdmin):
    """Texts at the marks."""

    list_display = ("session", "kind", "mark_ms", "staleness_ms", "filled_by", "created_at")
    list_filter = ("kind",)


@admin.register(models.SessionEvent)
class SessionEventAdmin(OfSessionAdmin):
    """What the browser told of."""

    list_display = ("session", "type", "active_ms", "at_server")
    list_filter = ("type",)


@admin.register(models.ClockCredit)
class ClockCreditAdmin(ReadOnlyAdmin):
    """Time given back."""

    list_display = ("session", "delta_ms", "by", "at")
    list_select_related = ("session", "by")


@admin.register(models.CreditRequest)
class CreditRequestAdmin(OfSessionAdmin):
    """Wishes and remarks about the measured time."""

    list_display = ("session", "minutes", "at", "answered_at")


@admin.register(models.SessionReport)
class SessionReportAdmin(OfSessionAdmin):
    """What people said after a session."""

    list_display = ("session", "time_was_enough", "used_no_model", "at")


@admin.register(models.Exclusion)
class ExclusionAdmin(ReadOnlyAdmin):
    """Sessions left out of figures."""

    list_display = ("session", "reason", "by", "at", "lifted_at")
    list_select_related = ("session", "by")


@admin.register(models.CopyCheck)
class CopyCheckAdmin(ReadOnlyAdmin):
    """What was found of the documents in final texts."""

    list_select_related = ("snapshot",)


@admin.register(models.GrowthCheck)
class GrowthCheckAdmin(ReadOnlyAdmin):
    """Saves that brought more words than were typed in the time."""

    list_select_related = ("snapshot",)


@admin.register(models.LateDecision)
class LateDecisionAdmin(ReadOnlyAdmin):
    """Decisions on texts that arrived after the end."""

    list_display = ("session", "is_accepted", "reason", "by", "at")
    list_select_related = ("session", "by")


@admin.register(models.LateNotes)
class LateNotesAdmin(OfSessionAdmin):
    """Notes that arrived after the end, or from a tab that had lost the session."""

    list_display = ("session", "received_at", "reject_code")


@admin.register(models.CoverageLabel)
class CoverageLabelAdmin(InsightRowsAdmin):
    """Coverage labels, superseded ones too."""

    list_display = ("study", "annotator", "summary", "insight", "coverage", "is_current", "made_at")
    list_select_related = ("study", "annotator", "summary", "insight")
    list_filter = ("coverage", "is_current", "is_imported")


@admin.register(models.ExternalLabel)
class ExternalLabelAdmin(ReadOnlyAdmin):
    """Labels made elsewhere."""

    list_display = ("study", "annotator", "item", "label", "cluster")
    list_select_related = ("study", "annotator")


@admin.register(models.LinkingPlan)
class LinkingPlanAdmin(ReadOnlyAdmin):
    """Settings of linking studies."""

    list_display = ("study", "people_per_item", "overlap_share", "overlap_number", "allow_several_lines")
    list_select_related = ("study",)


@admin.register(models.LabelItem)
class LabelItemAdmin(ReadOnlyAdmin):
    """What studies want labels of."""

    list_display = ("study", "summary", "n_questions", "is_overlap", "added_at")
    list_select_related = ("study", "summary")


@admin.register(models.LabelKey)
class LabelKeyAdmin(InsightRowsAdmin):
    """Agreed answers of training and gold items."""

    list_display = ("item", "insight", "coverage", "lines")
    list_select_related = ("item", "insight")


@admin.register(models.LabelTask)
class LabelTaskAdmin(ReadOnlyAdmin):
    """Items as tasks of people."""

    list_display = ("uid", "study", "annotator", "position", "state", "n_answered", "is_flagged", "active_ms")
    list_select_related = ("study", "annotator")
    list_filter = ("state", "is_flagged")


@admin.register(models.CoverageAdjudication)
class CoverageAdjudicationAdmin(InsightRowsAdmin):
    """Decisions of researchers on coverage."""

    list_display = ("study", "summary", "insight", "coverage", "is_current", "made_by", "made_at")
    list_select_related = ("study", "summary", "insight", "made_by")
