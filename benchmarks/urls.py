"""Addresses of corpora, summaries and judges."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver

app_name = "benchmarks"
urlpatterns: list[URLPattern | URLResolver] = []
