"""Addresses of studies of coverage linking, for researchers."""

from __future__ import annotations

from django.urls import path

from annotation.linking import dispute_views

urlpatterns = [
    path("studies/<uuid:uid>/disagreements/", dispute_views.queue, name="disagreements"),
    path("studies/<uuid:uid>/disagreements/next/", dispute_views.onward, name="disagreements-next"),
    path("studies/<uuid:uid>/adjudicated.<slug:kind>", dispute_views.gold, name="adjudicated"),
    path("studies/<uuid:uid>/disagreements/<uuid:summary>/<uuid:insight>/", dispute_views.dispute, name="dispute"),
]
