"""Addresses of what is measured; each subject has its own."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from benchmarks.results import pages
from benchmarks.web import help as reading

app_name = "benchmarks"
urlpatterns: list[URLPattern | URLResolver] = [
    path("results/<uuid:uid>/", pages.result_state, name="result-state"),
    path("results/<uuid:uid>/again/", pages.result_again, name="result-again"),
    path("help/", reading.help_page, name="help"),
    path("help/<str:slug>/", reading.help_entry, name="help-entry"),
    path("", include("benchmarks.corpora.views")),
    path("", include("benchmarks.systems.urls")),
    path("", include("benchmarks.recall.urls")),
    path("", include("benchmarks.questions.views")),
    path("", include("benchmarks.judging.urls")),
]
