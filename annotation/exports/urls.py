"""Addresses of what leaves the site as a whole."""

from __future__ import annotations

from django.urls import path

from annotation.exports import views

urlpatterns = [
    path("exports/", views.exports, name="exports"),
    path("exports/<uuid:uid>-with-people.json", views.haystack_with_people, name="haystack-with-people"),
    path("leaderboard/archive/", views.board_archive, name="leaderboard-archive"),
    path("leaderboard/archive.zip", views.board_archive_file, name="leaderboard-archive-file"),
    path("studies/<uuid:uid>/archive/", views.study_archive, name="study-archive"),
    path("studies/<uuid:uid>/archive.zip", views.archive_file, name="study-archive-file"),
]
