"""Addresses of studies, work and results; one included module per subject."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

app_name = "annotation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.writing.urls")),  # first: saving a draft is the most frequent request
    path("", include("annotation.linking.urls")),
    path("", include("annotation.verification.urls")),
    path("", include("annotation.validation.urls")),
    path("", include("annotation.labelling.urls")),
    path("", include("annotation.study_urls")),
    path("", include("annotation.work_urls")),
    path("", include("annotation.writing.result_urls")),
    path("", include("annotation.writing.page_urls")),
    path("", include("annotation.figures.page_urls")),
    path("", include("annotation.verification.research_urls")),
]
