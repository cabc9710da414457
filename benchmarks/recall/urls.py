"""Addresses of key point recall; included among those of benchmarks."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.recall import extraction_views as extraction
from benchmarks.recall import views as recall

urlpatterns: list[URLPattern] = [
    path("questions/recall/", recall.recall, name="recall"),
    path("questions/recall/files/<str:name>", recall.recall_file, name="recall-file"),
    path("questions/recall/run/", recall.recall_run, name="recall-run"),
    path("questions/recall/extraction/", extraction.extraction, name="extraction-recall"),
    path("questions/responses/<uuid:uid>/", recall.response_detail, name="response-detail"),
    path("questions/points/<uuid:uid>/check/", recall.point_check, name="point-check"),
]
