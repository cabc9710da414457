"""Addresses of the results of a study of any kind."""

from __future__ import annotations

from django.urls import path

from annotation.results import pages

urlpatterns = [
    path("studies/<uuid:uid>/figures/", pages.study_figures, name="study-figures"),
    path("studies/<uuid:uid>/figures/<str:name>", pages.study_figures_file, name="study-figures-file"),
]
