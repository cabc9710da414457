"""Addresses of the audit log."""

from __future__ import annotations

from django.urls import path

from summhay_site.audit import views

urlpatterns = [
    path("audit-log/", views.audit_log, name="audit-log"),
    path("audit-log.csv", views.audit_csv, name="audit-csv"),
]
