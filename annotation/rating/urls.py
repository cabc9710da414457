"""Addresses of rating studies, for researchers."""

from __future__ import annotations

from django.urls import path

from annotation.rating import result_views

urlpatterns = [
    path("studies/<uuid:uid>/ratings/results/", result_views.results, name="rating-results"),
    path("studies/<uuid:uid>/ratings/machines/", result_views.machine_run, name="rating-machine-run"),
    path("studies/<uuid:uid>/ratings/files/<str:name>", result_views.files, name="rating-file"),
]
