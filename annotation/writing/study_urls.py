"""Addresses of the pages that only writing studies have: previews of documents, assignments, time limits."""

from __future__ import annotations

from django.urls import path

from annotation.models import Study
from annotation.studies.views import study_create
from annotation.writing import assignment_views, study_views

STUDY = "studies/<uuid:uid>/"

urlpatterns = [
    path("studies/new/", study_create, {"kind": Study.Kind.WRITING}, name="study-create"),
    path("studies/preview/", study_views.study_preview, name="study-preview"),
    path("studies/retrievers/", study_views.study_retrievers, name="study-retrievers"),
    path(STUDY + "annotators/<uuid:annotator>/limit/", study_views.annotator_limit, name="annotator-limit"),
    path(STUDY + "assignments/", assignment_views.study_assignments, name="study-assignments"),
    path(STUDY + "assignments/deal/", assignment_views.study_assign, name="study-assign"),
    path(STUDY + "assignments/one/", assignment_views.study_assign_one, name="study-assign-one"),
    path("assignments/<uuid:uid>/withdraw/", assignment_views.assignment_withdraw, name="assignment-withdraw"),
]
