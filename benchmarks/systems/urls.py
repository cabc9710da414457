"""Addresses of summarizers and retrievers."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.systems import retriever_views, summarizer_views

urlpatterns: list[URLPattern] = [
    path("corpora/<uuid:uid>/retrievers/", retriever_views.retriever_list, name="retriever-list"),
    path("corpora/<uuid:uid>/retrievers/settings/", retriever_views.retriever_settings, name="retriever-settings"),
    path("corpora/<uuid:uid>/retrievers/run/", retriever_views.retriever_run, name="retriever-run"),
    path("corpora/retrievers/<uuid:uid>/again/", retriever_views.retriever_again, name="retriever-again"),
    path("corpora/retrievers/<uuid:uid>/cancel/", retriever_views.retriever_cancel, name="retriever-cancel"),
    path("summarizers/", summarizer_views.summarizer_list, name="summarizers"),
    path("summarizers/new/", summarizer_views.summarizer_new, name="summarizer-new"),
    path("summarizers/offline/", summarizer_views.summarizer_offline, name="summarizer-offline"),
    path("summarizers/<uuid:uid>/", summarizer_views.summarizer_detail, name="summarizer-detail"),
    path("summarizers/<uuid:uid>/edit/", summarizer_views.summarizer_edit, name="summarizer-edit"),
    path("summarizers/<uuid:uid>/run/", summarizer_views.summarizer_start, name="summarizer-start"),
]
