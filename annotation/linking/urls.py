"""Addresses of coverage linking: choices first, as the most frequent request."""

from __future__ import annotations

from django.urls import path

from annotation.linking import dispute_views, study_views, views

urlpatterns = [
    path("work/linking/<uuid:uid>/choice/", views.choice, name="linking-choice"),
    path("work/linking/<uuid:uid>/undo/", views.undo, name="linking-undo"),
    path("work/linking/<uuid:uid>/", views.task, name="linking-task"),
    path("studies/linking/new/", study_views.create, name="linking-create"),
    path("studies/<uuid:uid>/linking/", study_views.overview, name="linking-study"),
    path("studies/<uuid:uid>/linking/settings/", study_views.change, name="linking-settings"),
    path("studies/<uuid:uid>/linking/more/", study_views.more, name="linking-more"),
    path("studies/<uuid:uid>/linking/labels.<slug:kind>", study_views.labels, name="linking-labels"),
    path("studies/<uuid:uid>/disagreements/", dispute_views.queue, name="disagreements"),
    path("studies/<uuid:uid>/disagreements/next/", dispute_views.onward, name="disagreements-next"),
    path("studies/<uuid:uid>/adjudicated.<slug:kind>", dispute_views.gold, name="adjudicated"),
    path("studies/<uuid:uid>/disagreements/<uuid:summary>/<uuid:insight>/", dispute_views.dispute, name="dispute"),
]
