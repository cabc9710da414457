"""Addresses of the pages that set up and follow studies of any kind."""

from __future__ import annotations

from django.urls import path

from annotation.studies import member_views, pages, views

STUDY = "studies/<uuid:uid>/"

urlpatterns = [
    path("studies/", pages.study_list, name="studies"),
    path("studies/recipes/", views.recipes, name="recipes"),
    path("studies/recipes/<slug:kind>/<slug:key>/", views.recipe_row, name="recipe"),
    path("studies/<slug:kind>/new/", pages.study_create, name="study-create"),
    path("studies/<slug:kind>/takes/", pages.study_takes, name="study-takes"),
    path(STUDY, views.study_detail, name="study"),
    path(STUDY + "settings/", views.study_settings, name="study-settings"),
    path(STUDY + "group/", views.study_group, name="study-group"),
    path(STUDY + "state/", views.study_state, name="study-state"),
    path(STUDY + "progress/<str:name>", views.study_progress, name="study-progress"),
    path(STUDY + "put-away/", views.study_put_away, name="study-put-away"),
    path(STUDY + "delete/", views.study_delete, name="study-delete"),
    path(STUDY + "clone/", views.study_clone, name="study-clone"),
    path(STUDY + "preview/", pages.preview, name="study-preview"),
    path(STUDY + "preview/<int:number>/", pages.item, name="study-preview-item"),
    path(STUDY + "preview/<int:number>/<slug:name>/", pages.act, name="study-preview-act"),
    path(STUDY + "labels.<slug:file_format>", views.study_labels, name="study-labels"),
    path(STUDY + "annotators/", member_views.study_annotators, name="study-annotators"),
    path(STUDY + "annotators/<uuid:annotator>/remove/", member_views.annotator_remove, name="annotator-remove"),
    path(STUDY + "guidelines/", pages.guidelines_edit, name="study-guidelines-edit"),
    path(STUDY + "guidelines/<int:version>/", pages.guidelines_version, name="study-guidelines-version"),
    path("consent-text/", pages.consent_edit, name="consent-edit"),
    path("consent-text/<int:version>/", pages.consent_version, name="consent-version"),
]
