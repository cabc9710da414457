"""Addresses of the leaderboard."""

from __future__ import annotations

from django.urls import path

from annotation.leaderboard import views
from annotation.leaderboard.compared import ComparedPage
from annotation.leaderboard.experiments import ExperimentsPage
from annotation.leaderboard.position_page import PositionPage
from annotation.leaderboard.sources_page import SourcesPage

urlpatterns = [
    path("leaderboard/", views.leaderboard, name="leaderboard"),
    *ComparedPage.urls("leaderboard/insights/", files=""),
    path("leaderboard/figures/<str:name>", views.leaderboard_figures, name="leaderboard-figures"),
    *PositionPage.urls("leaderboard/position/"),
    *ExperimentsPage.urls("leaderboard/position/experiments/"),
    *SourcesPage.urls("leaderboard/sources/"),
    path("leaderboard/charts/<str:name>", views.leaderboard_figures, name="leaderboard-chart"),
    path("leaderboard/files/leaderboard.<str:file_format>", views.leaderboard_file, name="leaderboard-file"),
]
