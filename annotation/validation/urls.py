"""Addresses of validation: choices first, as the most frequent request."""

from __future__ import annotations

from django.urls import path

from annotation.validation import study_views, views

urlpatterns = [
    path("work/validation/<uuid:uid>/choice/", views.choice, name="validation-choice"),
    path("work/validation/<uuid:uid>/undo/", views.undo, name="validation-undo"),
    path("work/validation/<uuid:uid>/", views.task, name="validation-task"),
    path("studies/validation/new/", study_views.create, name="validation-create"),
    path("studies/<uuid:uid>/validation/", study_views.overview, name="validation-study"),
    path("studies/<uuid:uid>/validation/settings/", study_views.change, name="validation-settings"),
    path("studies/<uuid:uid>/validation/more/", study_views.more, name="validation-more"),
    path("studies/<uuid:uid>/validation/results/", study_views.results, name="validation-results"),
    path("studies/<uuid:uid>/validation/files/<str:name>", study_views.files, name="validation-file"),
]
