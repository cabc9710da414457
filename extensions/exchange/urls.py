"""Addresses of files for other programs."""

from __future__ import annotations

from django.urls import path

from extensions.exchange import views

app_name = "exchange"
urlpatterns = [
    path("leaderboard/archive/other-programs/", views.board, name="leaderboard"),
    path("leaderboard/archive/other-programs.zip", views.board_file, name="leaderboard-file"),
    path("questions/recall/other-programs/", views.recall, name="recall"),
    path("questions/recall/other-programs.zip", views.recall_file, name="recall-file"),
    path("studies/<uuid:uid>/archive/other-programs/", views.study, name="study"),
    path("studies/<uuid:uid>/archive/other-programs.zip", views.study_file, name="study-file"),
]
