"""Addresses of the results of a study of any kind."""

from __future__ import annotations

from django.urls import path

from annotation.results import pages

PLAN = {"part": "plan"}
LEARNING = {"part": "learning"}

urlpatterns = [
    path("studies/<uuid:uid>/plan/", pages.study_figures, PLAN, name="study-plan"),
    path("studies/<uuid:uid>/plan/files/<str:name>", pages.study_figures_file, PLAN, name="study-plan-file"),
    path("studies/<uuid:uid>/learning/", pages.study_figures, LEARNING, name="study-learning"),
    path(
        "studies/<uuid:uid>/learning/files/<str:name>",
        pages.study_figures_file,
        LEARNING,
        name="study-learning-file",
    ),
    path("studies/<uuid:uid>/figures/", pages.study_figures, name="study-figures"),
    path("studies/<uuid:uid>/figures/<str:name>", pages.study_figures_file, name="study-figures-file"),
]
