"""Addresses of key point recall; included among those of benchmarks."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.recall import extraction, views

urlpatterns: list[URLPattern] = [
    *views.RecallPage.urls("questions/recall/"),
    path("questions/recall/run/", views.recall_run, name="recall-run"),
    path("questions/recall/extraction/", extraction.extraction_page, name="extraction-recall"),
    path("questions/responses/<uuid:uid>/", views.response_detail, name="response-detail"),
    path("questions/points/<uuid:uid>/check/", views.point_check, name="point-check"),
]
