"""Addresses of judges and of runs."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.judging import pages, runs

urlpatterns: list[URLPattern] = [
    path("judges/", pages.judge_list, name="judges"),
    path("judges/new/", pages.judge_new, name="judge-new"),
    path("judges/offline/", pages.judge_offline, name="judge-offline"),
    path("judges/jury/", pages.jury_new, name="jury-new"),
    path("judges/families/", pages.families, name="families"),
    path("judges/prices/", pages.prices, name="prices"),
    path("judges/runs/<uuid:uid>/", runs.judge_run, name="judge-run"),
    path("judges/runs/<uuid:uid>/answers/", runs.run_answers, name="judge-run-answers"),
    path("judges/runs/<uuid:uid>/again/", runs.run_change, {"act": "again"}, name="judge-run-again"),
    path("judges/runs/<uuid:uid>/pause/", runs.run_change, {"act": "pause"}, name="judge-run-pause"),
    path("judges/runs/<uuid:uid>/resume/", runs.run_change, {"act": "resume"}, name="judge-run-resume"),
    path("judges/runs/<uuid:uid>/cancel/", runs.run_change, {"act": "cancel"}, name="judge-run-cancel"),
    path("judges/<uuid:uid>/", runs.judge_detail, name="judge-detail"),
    path("judges/<uuid:uid>/jury/", pages.jury_run, name="jury-run"),
    path("judges/<uuid:uid>/edit/", pages.judge_edit, name="judge-edit"),
    path("judges/<uuid:uid>/cost/", pages.judge_cost, name="judge-cost"),
    path("judges/<uuid:uid>/run/", runs.run_start, name="judge-start"),
    path("judges/<uuid:uid>/try/<uuid:summary_uid>/", runs.judge_try, name="judge-try"),
]
