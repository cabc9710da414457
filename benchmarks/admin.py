"""The admin of corpora, summaries and judges: all of it to look at. What may change, changes on the pages."""

from __future__ import annotations

from django.contrib import admin

from benchmarks import admin_entailment as admin_entailment
from benchmarks.models import (
    AuditEvent,
    Document,
    Endpoint,
    Haystack,
    ImportJob,
    Insight,
    Judge,
    JudgeCall,
    JudgeRun,
    JudgeRunItem,
    KeyPoint,
    LostReply,
    ModelPrice,
    Question,
    QuestionDocument,
    Response,
    RetrieverRanking,
    Span,
    Subtopic,
    Summary,
    System,
    Verdict,
)
from benchmarks.web.readonly import InsightRowsAdmin, ReadOnlyAdmin


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
class InsightAdmin(InsightRowsAdmin):
    """Insights."""

    path_to_haystack = "subtopic__haystack"

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
    """Summaries, responses and key points of runs."""

    list_display = ("run", "summary", "response", "key_point", "state", "attempts", "error")
    list_filter = ("state",)
    list_select_related = ("run__judge", "summary", "response", "key_point")


@admin.register(JudgeCall)
class JudgeCallAdmin(ReadOnlyAdmin):
    """Requests to model servers."""

    list_display = (
        "uid",
        "model",
        "state",
        "response_format",
        "latency_ms",
        "prompt_tokens",
        "completion_tokens",
        "error",
    )
    list_filter = ("state", "response_format", "model")
    search_fields = ("uid", "request_id", "cache_key")


@admin.register(LostReply)
class LostReplyAdmin(ReadOnlyAdmin):
    """Requests whose reply never came."""

    list_display = ("call", "run", "sent_at", "most_prompt_tokens", "most_completion_tokens")
    list_select_related = ("call", "run__judge")


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    """Model servers."""

    list_display = ("base_url", "limit_now", "rests_until")


@admin.register(ModelPrice)
class ModelPriceAdmin(ReadOnlyAdmin):
    """Prices of models."""

    list_display = ("model", "base_url", "valid_from", "input_per_million", "output_per_million")


@admin.register(Verdict)
class VerdictAdmin(InsightRowsAdmin):
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


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    """Questions."""

    list_display = ("key", "dataset", "category", "domain", "text", "n_words", "created_at")
    list_filter = ("dataset", "category", "domain")
    search_fields = ("key", "text")


@admin.register(QuestionDocument)
class QuestionDocumentAdmin(ReadOnlyAdmin):
    """Documents of questions."""

    list_display = ("question", "number", "key", "title", "n_words")
    list_select_related = ("question",)
    search_fields = ("key", "title")


@admin.register(KeyPoint)
class KeyPointAdmin(ReadOnlyAdmin):
    """Key points."""

    list_display = ("key", "question", "number", "text", "autods")
    list_select_related = ("question",)
    search_fields = ("key", "text")


@admin.register(Span)
class SpanAdmin(ReadOnlyAdmin):
    """Spans of key points."""

    list_display = ("key_point", "document", "start", "end", "match_ratio", "is_exact")
    list_filter = ("is_exact",)
    list_select_related = ("key_point", "document")


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    """Responses of systems."""

    list_display = ("uid", "system", "question", "n_words", "created_at")
    list_select_related = ("system", "question")
    search_fields = ("uid", "text_sha256")
