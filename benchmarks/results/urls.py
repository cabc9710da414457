"""Addresses of stored results."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.results import views

urlpatterns: list[URLPattern] = [
    path("results/<uuid:uid>/", views.result_state, name="result-state"),
    path("results/<uuid:uid>/again/", views.result_again, name="result-again"),
]
