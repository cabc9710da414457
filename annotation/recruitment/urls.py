"""Addresses of recruitment links for researchers; the address for participants is the site's."""

from __future__ import annotations

from django.urls import path

from annotation.recruitment import views

LINKS = "studies/<uuid:uid>/recruitment/"

urlpatterns = [
    path(LINKS, views.recruitment, name="recruitment"),
    path(LINKS + "<uuid:link>/state/", views.recruitment_state, name="recruitment-state"),
    path(LINKS + "<uuid:link>/participants.csv", views.recruitment_file, name="recruitment-file"),
]
