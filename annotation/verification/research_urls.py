"""Addresses of what researchers see of verified key points."""

from __future__ import annotations

from django.urls import path

from annotation.labelling.study_views import items
from annotation.verification import dataset_views, machine_views, research_views, review_views

urlpatterns = [
    path("studies/verification/questions/", items, {"kind": "verification"}, name="verification-questions"),
    path("studies/<uuid:uid>/points/agreement/", research_views.agreement, name="verification-agreement"),
    path(
        "studies/<uuid:uid>/points/agreement/files/<str:name>",
        research_views.agreement_file,
        name="verification-agreement-file",
    ),
    path("studies/<uuid:uid>/points/machines/", machine_views.machine_run, name="verification-machine-run"),
    path("studies/<uuid:uid>/points/choosing/", research_views.choosing, name="verification-choosing"),
    path("studies/<uuid:uid>/points/autods/", research_views.autods, name="verification-autods"),
    path(
        "studies/<uuid:uid>/points/autods/files/<str:name>",
        research_views.autods_file,
        name="verification-autods-file",
    ),
    path("studies/<uuid:uid>/points/dataset/", dataset_views.dataset, name="verification-dataset"),
    path("studies/<uuid:uid>/points/dataset/choose/", dataset_views.choose, name="verification-choose"),
    path(
        "studies/<uuid:uid>/points/dataset/files/<str:name>",
        dataset_views.dataset_file,
        name="verification-dataset-file",
    ),
    path("studies/<uuid:uid>/points/spot-checks/", review_views.spot_checks, name="verification-spot-checks"),
    path(
        "studies/<uuid:uid>/points/spot-checks/<int:number>/",
        review_views.spot_check,
        name="verification-spot-check",
    ),
    path(
        "studies/<uuid:uid>/points/spot-checks/<int:number>/close/",
        review_views.spot_check_close,
        name="verification-spot-check-close",
    ),
    path(
        "studies/<uuid:uid>/points/disagreements/", review_views.disagreements, name="verification-disagreements"
    ),
    path(
        "studies/<uuid:uid>/points/disagreements/<uuid:point>/",
        review_views.adjudicate,
        name="verification-adjudicate",
    ),
]
