"""Addresses of writing: those that the scripts of the session page call, and pages of writers and researchers."""

from __future__ import annotations

from django.urls import path

from annotation.models import Study
from annotation.results.pages import moved, study_figures, study_figures_file
from annotation.studies.pages import study_create
from annotation.writing import overview, pages, result_views, study_forms, views

STUDY = "studies/<uuid:uid>/"
SESSION = "work/sessions/<uuid:uid>/"

urlpatterns = [
    path(SESSION + "draft/", views.draft, name="session-draft"),
    path(SESSION + "heartbeat/", views.heartbeat, name="session-heartbeat"),
    path(SESSION + "state/", views.state, name="session-state"),
    path(SESSION + "pause/", views.pause, name="session-pause"),
    path(SESSION + "resume/", views.resume, name="session-resume"),
    path(SESSION + "submit/", views.submit, name="session-submit"),
    path(SESSION + "claim/", views.claim, name="session-claim"),
    path(SESSION + "resolve/", views.resolve, name="session-resolve"),
    path(SESSION + "events/", views.events, name="session-events"),
    path(SESSION + "notes/", views.notes, name="session-notes"),
    path(SESSION + "read/", views.read, name="session-read"),
    path(SESSION + "marks/", views.marks, name="session-marks"),
]
PAGES = [
    path("studies/new/", study_create, {"kind": Study.Kind.WRITING}, name="study-create"),
    path(STUDY + "annotators/<uuid:annotator>/limit/", study_forms.annotator_limit, name="annotator-limit"),
    path(STUDY + "assignments/", overview.study_assignments, name="study-assignments"),
    path(STUDY + "assignments/deal/", overview.study_assign, name="study-assign"),
    path(STUDY + "assignments/one/", overview.study_assign_one, name="study-assign-one"),
    path("assignments/<uuid:uid>/withdraw/", overview.assignment_withdraw, name="assignment-withdraw"),
    path(STUDY + "results/", study_figures, name="study-results"),
    path(STUDY + "results/curves.json", moved, {"to": "study-results", "name": "figures.json"}),
    path(STUDY + "results/<str:name>", study_figures_file, name="study-results-file"),
    path(STUDY + "files/<str:name>", result_views.study_file, name="study-file"),
    path("sessions/<uuid:uid>/", result_views.session_results, name="session-results"),
    path("sessions/<uuid:uid>/snapshots/<int:mark_ms>/", result_views.snapshot_text, name="session-snapshot"),
    path("sessions/<uuid:uid>/exclude/", result_views.exclude, name="session-exclude"),
    path("sessions/<uuid:uid>/include/", result_views.include, name="session-include"),
    path("sessions/<uuid:uid>/late-text/", result_views.decide_late_text, name="session-late-text"),
    path("sessions/<uuid:uid>/void/", result_views.void, name="session-void"),
    path("sessions/<uuid:uid>/credit/", result_views.credit, name="session-credit"),
    path("sessions/<uuid:uid>/time-request/", result_views.answer_request, name="session-time-request"),
    path("work/tasks/<uuid:uid>/start/", pages.start, name="session-start"),
    path("work/tasks/<uuid:uid>/tour/", pages.tour, name="session-tour"),
    path(SESSION, pages.session, name="session"),
    path(SESSION + "after/", pages.after, name="session-after"),
    path(SESSION + "practised/", pages.practised, name="session-practised"),
    path(SESSION + "own/", pages.own_results, name="session-own"),
]
