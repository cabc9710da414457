"""Addresses of the agreement page, of all labels and of one study."""

from __future__ import annotations

from django.urls import path

from annotation.agreement import latest_views, views
from annotation.results.pages import moved

urlpatterns = [
    *views.AgreementPage.urls("agreement/"),
    path("agreement/latest/", latest_views.latest, name="latest"),
    path("agreement/rows/", views.agreement_rows, name="agreement-rows"),
    path("studies/<uuid:uid>/agreement/", moved),
    path("studies/<uuid:uid>/agreement/random/", views.random_labels, name="study-random"),
    path("studies/<uuid:uid>/agreement/rows/", views.agreement_rows, name="study-agreement-rows"),
    path("studies/<uuid:uid>/agreement/files/<str:name>", moved),
]
