"""Addresses of rating studies, for researchers."""

from __future__ import annotations

from django.urls import path

from annotation.rating import result_views
from annotation.results import pages

urlpatterns = [
    path("studies/<uuid:uid>/ratings/machines/", result_views.machine_run, name="rating-machine-run"),
    path("studies/<uuid:uid>/ratings/results/", pages.moved, name="rating-results-moved"),
    path("studies/<uuid:uid>/ratings/files/<str:name>", pages.moved, name="rating-file-moved"),
]
