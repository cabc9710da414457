"""Addresses of corpora, summaries and judges."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from benchmarks.views import corpora, imports, questions

app_name = "benchmarks"
urlpatterns: list[URLPattern | URLResolver] = [
    path("corpora/", corpora.haystack_list, name="corpora"),
    path("corpora/search/", corpora.corpora_search, name="corpora-search"),
    path("corpora/import/", imports.import_new, name="import-new"),
    path("corpora/import/example/<slug:name>/", imports.format_example, name="format-example"),
    path("corpora/import/<uuid:uid>/", imports.import_job, name="import-job"),
    path("corpora/import/<uuid:uid>/confirm/", imports.import_confirm, name="import-confirm"),
    path("corpora/import/<uuid:uid>/discard/", imports.import_discard, name="import-discard"),
    path("corpora/subtopics/<uuid:uid>/", corpora.subtopic_detail, name="subtopic-detail"),
    path("corpora/insights/<uuid:uid>/", corpora.insight_detail, name="insight-detail"),
    path("corpora/summaries/<uuid:uid>/", corpora.summary_detail, name="summary-detail"),
    path("corpora/<uuid:uid>/", corpora.haystack_detail, name="haystack-detail"),
    path("corpora/<uuid:uid>/documents/<int:number>/", corpora.document_detail, name="document-detail"),
    path("corpora/<uuid:uid>/download/", corpora.haystack_download, name="haystack-download"),
    path("corpora/<uuid:uid>/archive/", corpora.haystack_archive, name="haystack-archive"),
    path("corpora/<uuid:uid>/delete/", corpora.haystack_delete, name="haystack-delete"),
    path("questions/", questions.question_list, name="questions"),
    path("questions/<uuid:uid>/", questions.question_detail, name="question-detail"),
    path("questions/<slug:dataset>.jsonl", questions.question_download, name="question-download"),
]
