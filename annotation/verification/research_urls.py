"""Addresses of what researchers see of verified key points."""

from __future__ import annotations

from django.urls import path

from annotation.labelling.study_views import items
from annotation.results import pages
from annotation.verification import dataset_views, machine_views, review_views

urlpatterns = [
    path("studies/verification/questions/", items, {"kind": "verification"}, name="verification-questions"),
    path("studies/<uuid:uid>/points/machines/", machine_views.machine_run, name="verification-machine-run"),
    path("studies/<uuid:uid>/points/agreement/", pages.moved),
    *(
        path(f"studies/<uuid:uid>/points/{old}", pages.moved, {"to": to, "name": name})
        for old, to, name in (
            ("agreement/files/figures.json", "study-figures", "figures.json"),
            ("agreement/files/agreement.csv", "study-figures", "figures.csv"),
            ("agreement/files/annotators.csv", "study-figures", "figures.csv"),
            ("autods/files/autods.json", "verification-autods", "figures.json"),
        )
    ),
    *(
        route
        for part in ("choosing", "autods")
        for route in (
            path(
                f"studies/<uuid:uid>/points/{part}/",
                pages.study_figures,
                {"part": part},
                name=f"verification-{part}",
            ),
            path(
                f"studies/<uuid:uid>/points/{part}/files/<str:name>",
                pages.study_figures_file,
                {"part": part},
                name=f"verification-{part}-file",
            ),
        )
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
]
