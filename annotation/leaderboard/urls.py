"""Addresses of the leaderboard."""

from __future__ import annotations

from django.urls import path

from annotation.leaderboard import views

urlpatterns = [
    path("leaderboard/", views.leaderboard, name="leaderboard"),
    path("leaderboard/insights/", views.compared, name="leaderboard-compared"),
    path("leaderboard/files/leaderboard.<str:file_format>", views.leaderboard_file, name="leaderboard-file"),
]
