"""Addresses of the results of writing sessions."""

from __future__ import annotations

from django.urls import path

from annotation.writing import result_views as views

urlpatterns = [
    path("studies/<uuid:uid>/results/", views.study_results, name="study-results"),
    path("studies/<uuid:uid>/results/curves.<str:file_format>", views.study_curve_file, name="study-curve-file"),
    path("studies/<uuid:uid>/files/<str:name>", views.study_file, name="study-file"),
    path("sessions/<uuid:uid>/", views.session_results, name="session-results"),
    path("sessions/<uuid:uid>/snapshots/<int:mark_ms>/", views.snapshot_text, name="session-snapshot"),
    path("sessions/<uuid:uid>/exclude/", views.exclude, name="session-exclude"),
    path("sessions/<uuid:uid>/include/", views.include, name="session-include"),
    path("sessions/<uuid:uid>/late-text/", views.decide_late_text, name="session-late-text"),
    path("sessions/<uuid:uid>/void/", views.void, name="session-void"),
    path("sessions/<uuid:uid>/credit/", views.credit, name="session-credit"),
    path("sessions/<uuid:uid>/time-request/", views.answer_request, name="session-time-request"),
]
