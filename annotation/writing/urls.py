"""Addresses that the scripts of the session page call; the pages themselves are in `page_urls`."""

from __future__ import annotations

from django.urls import path

from annotation.writing import views

urlpatterns = [
    path(f"work/sessions/<uuid:uid>/{name}/", getattr(views, name), name=f"session-{name}")
    for name in (
        "draft",
        "state",
        "heartbeat",
        "pause",
        "resume",
        "submit",
        "claim",
        "resolve",
        "events",
        "notes",
        "read",
    )
]
