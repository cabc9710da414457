"""Addresses of what is made here: from templates, and step by step with models."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.synthesis import pack_pages, review_views, views

_ONE = "corpora/synthesis/<uuid:uid>/"
_STEP = f"{_ONE}<slug:name>/"

urlpatterns: list[URLPattern] = [
    path("corpora/from-templates/", pack_pages.pack_new, name="pack-new"),
    path("corpora/synthesis/", views.synthesis_list, name="syntheses"),
    path("corpora/synthesis/new/", views.synthesis_new, name="synthesis-new"),
    path("corpora/synthesis/documents/", views.synthesis_documents, name="synthesis-documents"),
    path("corpora/synthesis/parts/<uuid:uid>/", views.part_detail, name="synthesis-part"),
    path(_ONE, views.synthesis_detail, name="synthesis"),
    path(f"{_ONE}haystack.json", views.synthesis_download, name="synthesis-download"),
    path(f"{_ONE}figures/", views.synthesis_figures, name="synthesis-figures"),
    path(f"{_ONE}corpus/", views.synthesis_hand_over, name="synthesis-hand-over"),
    path(f"{_STEP}estimate/", views.step_estimate, name="synthesis-estimate"),
    path(f"{_STEP}start/", views.step_start, name="synthesis-start"),
    path(f"{_STEP}close/", views.step_close, name="synthesis-close"),
    path(f"{_STEP}review/", review_views.review, name="synthesis-review"),
    path(f"{_STEP}review/undo/", review_views.undo, name="synthesis-undo"),
    path(f"{_STEP}review/accept/", review_views.accept_clear, name="synthesis-accept"),
    path(f"{_STEP}review/<uuid:part_uid>/", review_views.decide, name="synthesis-decide"),
    path(f"{_STEP}review/<uuid:part_uid>/insight/", review_views.judge, name="synthesis-judge"),
]
