"""Addresses of the leaderboard."""

from __future__ import annotations

from django.urls import path

from annotation.leaderboard import position_views, source_views, views

urlpatterns = [
    path("leaderboard/", views.leaderboard, name="leaderboard"),
    path("leaderboard/insights/", views.compared, name="leaderboard-compared"),
    path("leaderboard/insights/<str:name>", views.compared_file, name="leaderboard-compared-file"),
    path("leaderboard/figures/<str:name>", views.leaderboard_figures, name="leaderboard-figures"),
    path("leaderboard/position/", position_views.positions_page, name="content-positions"),
    path("leaderboard/position/experiments/", position_views.experiments_page, name="position-experiments"),
    path(
        "leaderboard/position/experiments/files/<str:name>",
        position_views.experiments_file,
        name="position-experiments-file",
    ),
    path("leaderboard/position/files/<str:name>", position_views.positions_file, name="content-positions-file"),
    path("leaderboard/sources/", source_views.source_page, name="source-scores"),
    path("leaderboard/sources/files/<str:name>", source_views.source_file, name="source-scores-file"),
    path("leaderboard/charts/<str:name>", views.leaderboard_figures, name="leaderboard-chart"),
    path("leaderboard/files/leaderboard.<str:file_format>", views.leaderboard_file, name="leaderboard-file"),
]
