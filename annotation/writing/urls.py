"""Addresses that the scripts of the session page call; the pages themselves are in `page_urls`."""

from __future__ import annotations

from django.urls import include, path

from annotation.writing import views

urlpatterns = [
    path(
        "work/sessions/<uuid:uid>/",
        include(
            [
                path("draft/", views.draft, name="session-draft"),
                path("heartbeat/", views.heartbeat, name="session-heartbeat"),
                path("state/", views.state, name="session-state"),
                path("pause/", views.pause, name="session-pause"),
                path("resume/", views.resume, name="session-resume"),
                path("submit/", views.submit, name="session-submit"),
                path("claim/", views.claim, name="session-claim"),
                path("resolve/", views.resolve, name="session-resolve"),
                path("events/", views.events, name="session-events"),
                path("notes/", views.notes, name="session-notes"),
                path("read/", views.read, name="session-read"),
            ]
        ),
    ),
]
