"""The admin of corpora, summaries and judges: all of it to look at. What may change, changes on the pages."""

from __future__ import annotations

from django.contrib import admin

from benchmarks.models import (
    AuditEvent,
    Document,
    Haystack,
    ImportJob,
    Insight,
    Judge,
    JudgeRun,
    JudgeRunItem,
    RetrieverRanking,
    Subtopic,
    Summary,
    System,
    Verdict,
)
from benchmarks.web.readonly import ReadOnlyAdmin


@admin.register(Haystack)
class HaystackAdmin(ReadOnlyAdmin):
    """Haystacks."""

    list_display = ("title", "key", "dataset", "domain", "n_documents", "created_at", "archived_at")
    list_filter = ("dataset", "domain", "is_practice")
    search_fields = ("title", "key", "dataset")


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    """Documents; texts are on their own page."""

    list_display = ("haystack", "number", "key", "title", "n_words")
    list_select_related = ("haystack",)
    search_fields = ("key", "title")


@admin.register(Subtopic)
class SubtopicAdmin(ReadOnlyAdmin):
    """Subtopics."""

    list_display = ("name", "haystack", "number", "query")
    list_select_related = ("haystack",)
    search_fields = ("name", "query", "key")


@admin.register(Insight)
class InsightAdmin(ReadOnlyAdmin):
    """Insights."""

    list_display = ("name", "subtopic", "number", "key")
    list_select_related = ("subtopic",)
    search_fields = ("name", "text", "key")


@admin.register(RetrieverRanking)
class RetrieverRankingAdmin(ReadOnlyAdmin):
    """Scores of retrievers."""

    list_display = ("retriever", "subtopic")
    list_filter = ("retriever",)
    list_select_related = ("subtopic",)


@admin.register(System)
class SystemAdmin(ReadOnlyAdmin):
    """Systems."""

    list_display = ("key", "kind", "summarizer", "retriever", "document_order")
    list_filter = ("kind", "retriever", "summarizer")
    search_fields = ("key",)


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    """Summaries of systems and of people."""

    list_display = ("uid", "system", "subtopic", "origin", "created_at")
    list_filter = ("origin",)
    list_select_related = ("system", "subtopic")
    search_fields = ("uid", "text_sha256")


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    """Judges."""

    list_display = ("name", "version", "kind", "created_at", "archived_at")
    list_filter = ("kind",)
    search_fields = ("name",)


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnlyAdmin):
    """Runs of judges."""

    list_display = ("uid", "judge", "state", "reason", "created_at", "finished_at")
    list_filter = ("state",)
    list_select_related = ("judge",)


@admin.register(JudgeRunItem)
class JudgeRunItemAdmin(ReadOnlyAdmin):
    """Summaries of runs."""

    list_display = ("run", "summary", "state", "attempts", "error")
    list_filter = ("state",)
    list_select_related = ("run__judge", "summary")


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    """Verdicts."""

    list_display = ("judge", "summary", "insight", "coverage", "lines", "is_valid", "breaks_rule")
    list_filter = ("judge", "coverage", "is_valid", "breaks_rule")
    list_select_related = ("judge", "summary", "insight")


@admin.register(ImportJob)
class ImportJobAdmin(ReadOnlyAdmin):
    """Uploaded files."""

    list_display = ("file_name", "format", "state", "created_by", "created_at", "finished_at")
    list_filter = ("state", "format")
    list_select_related = ("created_by",)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """The audit log."""

    list_display = ("at", "actor", "action", "object_type", "object_name")
    list_filter = ("action",)
    list_select_related = ("actor",)
    search_fields = ("object_name", "object_uid", "action")
