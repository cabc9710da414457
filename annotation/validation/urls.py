"""Addresses of validation studies, for researchers."""

from __future__ import annotations

from django.urls import path

from annotation.validation import result_views

urlpatterns = [
    path("studies/<uuid:uid>/validation/results/", result_views.results, name="validation-results"),
    path("studies/<uuid:uid>/validation/files/<str:name>", result_views.files, name="validation-file"),
]
