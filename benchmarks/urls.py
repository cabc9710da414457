"""Addresses of what is measured; each subject has its own."""

from __future__ import annotations

from django.urls import URLResolver, include, path

app_name = "benchmarks"
urlpatterns: list[URLResolver] = [
    path("", include("benchmarks.results.urls")),
    path("", include("benchmarks.corpora.urls")),
    path("", include("benchmarks.systems.urls")),
    path("", include("benchmarks.recall.urls")),
    path("", include("benchmarks.questions.urls")),
    path("", include("benchmarks.judging.urls")),
]
