"""Addresses of the pages that set up and follow verification studies."""

from __future__ import annotations

from django.urls import path

from annotation.verification import study_views

urlpatterns = [
    path("studies/verification/new/", study_views.create, name="verification-create"),
    path("studies/<uuid:uid>/verification/", study_views.overview, name="verification-study"),
    path("studies/<uuid:uid>/verification/settings/", study_views.change, name="verification-settings"),
    path("studies/<uuid:uid>/verification/more/", study_views.more, name="verification-more"),
]
