"""Addresses of the pages on which researchers decide; under `points` key points once had their own."""

from __future__ import annotations

from django.urls import path

from annotation.adjudication import views

HERE = "studies/<uuid:uid>/disagreements/"
BEFORE = "studies/<uuid:uid>/points/disagreements/"

urlpatterns = [
    path(HERE, views.queue, name="disagreements"),
    path(HERE + "next/", views.onward, name="disagreements-next"),
    path("studies/<uuid:uid>/adjudicated.<slug:kind>", views.decisions_file, name="adjudicated"),
    path(HERE + "<uuid:first>/", views.decide, name="dispute"),
    path(HERE + "<uuid:first>/<uuid:second>/", views.decide, name="dispute"),
    path(BEFORE, views.moved),
    path(BEFORE + "<uuid:point>/", views.moved),
]
