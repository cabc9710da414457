"""Addresses of recruitment links for researchers; the address for participants is the site's."""

from __future__ import annotations

from django.urls import path

from annotation.people.recruitment import views

LINKS = "studies/<uuid:uid>/recruitment/"
LINK = LINKS + "<uuid:link>/"

urlpatterns = [
    path(LINKS, views.recruitment, name="recruitment"),
    path(LINK, views.recruitment_people, name="recruitment-people"),
    path(LINK + "settings/", views.recruitment_link, name="recruitment-link"),
    path(LINK + "state/", views.recruitment_state, name="recruitment-state"),
    path(LINK + "participants.csv", views.recruitment_file, name="recruitment-file"),
    path(LINK + "approve-<int:number>.txt", views.recruitment_approval, name="recruitment-approval"),
]
