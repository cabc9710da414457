"""Addresses of recruitment links for researchers; the address for participants is the site's."""

from __future__ import annotations

from django.urls import path

from annotation.people.recruitment import pages

LINKS = "studies/<uuid:uid>/recruitment/"
LINK = LINKS + "<uuid:link>/"

urlpatterns = [
    path(LINKS, pages.recruitment, name="recruitment"),
    path(LINK, pages.recruitment_people, name="recruitment-people"),
    path(LINK + "settings/", pages.recruitment_link, name="recruitment-link"),
    path(LINK + "state/", pages.recruitment_state, name="recruitment-state"),
    path(LINK + "participants.csv", pages.recruitment_file, name="recruitment-file"),
    path(LINK + "approve-<int:number>.txt", pages.recruitment_approval, name="recruitment-approval"),
]
