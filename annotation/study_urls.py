"""Addresses of the pages that set up and follow studies."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from annotation.views import assignments, members, studies, texts

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.verification.study_urls")),
    path("studies/", studies.study_list, name="studies"),
    path("studies/new/", studies.study_create, name="study-create"),
    path("studies/preview/", studies.study_preview, name="study-preview"),
    path("studies/retrievers/", studies.study_retrievers, name="study-retrievers"),
    path("studies/<uuid:uid>/", studies.study_detail, name="study"),
    path("studies/<uuid:uid>/settings/", studies.study_settings, name="study-settings"),
    path("studies/<uuid:uid>/state/", studies.study_state, name="study-state"),
    path("studies/<uuid:uid>/delete/", studies.study_delete, name="study-delete"),
    path("studies/<uuid:uid>/clone/", studies.study_clone, name="study-clone"),
    path("studies/<uuid:uid>/annotators/", members.study_annotators, name="study-annotators"),
    path(
        "studies/<uuid:uid>/annotators/<uuid:annotator>/remove/", members.annotator_remove, name="annotator-remove"
    ),
    path("studies/<uuid:uid>/annotators/<uuid:annotator>/limit/", members.annotator_limit, name="annotator-limit"),
    path("studies/<uuid:uid>/assignments/", assignments.study_assignments, name="study-assignments"),
    path("studies/<uuid:uid>/assignments/deal/", assignments.study_assign, name="study-assign"),
    path("studies/<uuid:uid>/assignments/one/", assignments.study_assign_one, name="study-assign-one"),
    path("assignments/<uuid:uid>/withdraw/", assignments.assignment_withdraw, name="assignment-withdraw"),
    path("studies/<uuid:uid>/guidelines/", texts.guidelines_edit, name="study-guidelines-edit"),
    path(
        "studies/<uuid:uid>/guidelines/<int:version>/", texts.guidelines_version, name="study-guidelines-version"
    ),
    path("consent-text/", texts.consent_edit, name="consent-edit"),
    path("consent-text/<int:version>/", texts.consent_version, name="consent-version"),
]
