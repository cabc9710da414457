"""Addresses of summarizers and retrievers."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.systems import retrievers, summarizers

urlpatterns: list[URLPattern] = [
    path("corpora/<uuid:uid>/retrievers/", retrievers.retriever_list, name="retriever-list"),
    path("corpora/<uuid:uid>/retrievers/settings/", retrievers.retriever_settings, name="retriever-settings"),
    path("corpora/<uuid:uid>/retrievers/run/", retrievers.retriever_run, name="retriever-run"),
    path("corpora/retrievers/<uuid:uid>/again/", retrievers.retriever_again, name="retriever-again"),
    path("corpora/retrievers/<uuid:uid>/cancel/", retrievers.retriever_cancel, name="retriever-cancel"),
    path("summarizers/", summarizers.summarizer_list, name="summarizers"),
    path("summarizers/new/", summarizers.summarizer_new, name="summarizer-new"),
    path("summarizers/offline/", summarizers.summarizer_offline, name="summarizer-offline"),
    path("summarizers/<uuid:uid>/", summarizers.summarizer_detail, name="summarizer-detail"),
    path("summarizers/<uuid:uid>/edit/", summarizers.summarizer_edit, name="summarizer-edit"),
    path("summarizers/<uuid:uid>/run/", summarizers.summarizer_start, name="summarizer-start"),
]
