"""Addresses of the licences of judges."""

from __future__ import annotations

from django.urls import path

from annotation.licences import views
from annotation.results import pages

PART = {"part": "licences"}

urlpatterns = [
    *views.LicencesPage.urls("licences/"),
    path("licences/record/", views.record_licence, name="licence-record-dataset"),
    path("studies/<uuid:uid>/licences/", pages.study_figures, PART, name="study-licences"),
    path(
        "studies/<uuid:uid>/licences/files/<str:name>", pages.study_figures_file, PART, name="study-licences-file"
    ),
    path("studies/<uuid:uid>/licences/record/", views.record_licence, name="licence-record"),
]
