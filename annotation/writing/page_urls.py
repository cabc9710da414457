"""Addresses of the pages that a writer sees; what their scripts call is in `urls`."""

from __future__ import annotations

from django.urls import path

from annotation.writing import pages

urlpatterns = [
    path("work/tasks/<uuid:uid>/start/", pages.start, name="session-start"),
    path("work/sessions/<uuid:uid>/", pages.session, name="session"),
    path("work/sessions/<uuid:uid>/after/", pages.after, name="session-after"),
    path("work/sessions/<uuid:uid>/own/", pages.own, name="session-own"),
]
