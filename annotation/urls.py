"""Addresses of studies, work and results; one included module per subject."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from annotation.linking.files import annotated_summaries
from annotation.studies import views
from annotation.writing import urls as writing

app_name = "annotation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.writing.urls")),  # first: saving a draft is the most frequent request
    path("", include("annotation.labelling.urls")),
    path("", include("annotation.adjudication.views")),
    path("", include("annotation.rating.pages")),
    path("", include("annotation.studies.urls")),
    path("", include("annotation.work.views")),
    path("", include(writing.PAGES)),
    path("", include("annotation.results.pages")),
    path("", include("annotation.agreement.pages")),
    path("", include("annotation.approvals.pages")),
    path("", include("annotation.leaderboard.urls")),
    path("", include("annotation.publishing")),
    path("", include("annotation.exports.views")),
    path("studies/<uuid:uid>/annotated-summaries.json", annotated_summaries, name="annotated-summaries"),
    path("", include("annotation.people.reminders")),
    path("", include("annotation.people.recruitment.pages")),
    path("", include("annotation.verification.pages")),
    path("studies/<uuid:uid>/<slug:kind>/", views.moved, {"to": "study"}),
    path("studies/<uuid:uid>/<slug:kind>/settings/", views.moved, {"to": "study-settings"}),
    path("studies/<uuid:uid>/<slug:kind>/results/", views.moved, {"to": "study-figures"}),
    path("studies/<uuid:uid>/<slug:kind>/more/", views.moved, {"to": "study-annotators"}),
]
