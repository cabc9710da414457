"""Addresses that the scripts of the session page call; the pages themselves are in `page_urls`."""

from __future__ import annotations

from django.urls import path

from annotation.writing import views

SESSION = "work/sessions/<uuid:uid>/"

urlpatterns = [
    path(SESSION + "draft/", views.draft, name="session-draft"),
    path(SESSION + "heartbeat/", views.heartbeat, name="session-heartbeat"),
    path(SESSION + "state/", views.state, name="session-state"),
    path(SESSION + "pause/", views.pause, name="session-pause"),
    path(SESSION + "resume/", views.resume, name="session-resume"),
    path(SESSION + "submit/", views.submit, name="session-submit"),
    path(SESSION + "claim/", views.claim, name="session-claim"),
    path(SESSION + "resolve/", views.resolve, name="session-resolve"),
    path(SESSION + "events/", views.events, name="session-events"),
    path(SESSION + "notes/", views.notes, name="session-notes"),
    path(SESSION + "read/", views.read, name="session-read"),
]
