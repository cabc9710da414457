"""Addresses of judges and of runs."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.judging import run_views, views

urlpatterns: list[URLPattern] = [
    path("judges/", views.judge_list, name="judges"),
    path("judges/new/", views.judge_new, name="judge-new"),
    path("judges/offline/", views.judge_offline, name="judge-offline"),
    path("judges/jury/", views.jury_new, name="jury-new"),
    path("judges/prices/", views.prices, name="prices"),
    path("judges/runs/<uuid:uid>/", run_views.judge_run, name="judge-run"),
    path("judges/runs/<uuid:uid>/answers/", run_views.run_answers, name="judge-run-answers"),
    path("judges/runs/<uuid:uid>/again/", run_views.run_change, {"act": "again"}, name="judge-run-again"),
    path("judges/runs/<uuid:uid>/pause/", run_views.run_change, {"act": "pause"}, name="judge-run-pause"),
    path("judges/runs/<uuid:uid>/resume/", run_views.run_change, {"act": "resume"}, name="judge-run-resume"),
    path("judges/runs/<uuid:uid>/cancel/", run_views.run_change, {"act": "cancel"}, name="judge-run-cancel"),
    path("judges/<uuid:uid>/", run_views.judge_detail, name="judge-detail"),
    path("judges/<uuid:uid>/jury/", views.jury_run, name="jury-run"),
    path("judges/<uuid:uid>/edit/", views.judge_edit, name="judge-edit"),
    path("judges/<uuid:uid>/cost/", views.judge_cost, name="judge-cost"),
    path("judges/<uuid:uid>/run/", run_views.run_start, name="judge-start"),
    path("judges/<uuid:uid>/try/<uuid:summary_uid>/", run_views.judge_try, name="judge-try"),
]
