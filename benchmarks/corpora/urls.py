"""Addresses of corpora, with those of importing into them."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.corpora import sources, views
from benchmarks.io import pages

urlpatterns: list[URLPattern] = [
    path("corpora/", views.haystack_list, name="corpora"),
    path("corpora/search/", views.corpora_search, name="corpora-search"),
    path("corpora/samples/", sources.sample_list, name="samples"),
    path("corpora/samples/<uuid:uid>/delete/", sources.sample_delete, name="sample-delete"),
    path("corpora/import/", pages.import_new, name="import-new"),
    path("corpora/import/example/<slug:name>/", pages.format_example, name="format-example"),
    path("corpora/import/<uuid:uid>/", pages.import_job, name="import-job"),
    path("corpora/import/<uuid:uid>/confirm/", pages.import_confirm, name="import-confirm"),
    path("corpora/import/<uuid:uid>/discard/", pages.import_discard, name="import-discard"),
    path("corpora/datasets/<slug:dataset>/length/", sources.source_task, name="source-task"),
    path("corpora/subtopics/<uuid:uid>/", views.subtopic_detail, name="subtopic-detail"),
    path("corpora/insights/<uuid:uid>/", views.insight_detail, name="insight-detail"),
    path("corpora/summaries/<uuid:uid>/", views.summary_detail, name="summary-detail"),
    path("corpora/<uuid:uid>/", views.haystack_detail, name="haystack-detail"),
    path("corpora/<uuid:uid>/documents/<int:number>/", views.document_detail, name="document-detail"),
    path("corpora/<uuid:uid>/download/", views.haystack_download, name="haystack-download"),
    path("corpora/<uuid:uid>/archive/", views.haystack_archive, name="haystack-archive"),
    path("corpora/<uuid:uid>/group/", views.haystack_group, name="haystack-group"),
    path("corpora/<uuid:uid>/delete/", views.haystack_delete, name="haystack-delete"),
]
