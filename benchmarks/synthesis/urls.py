"""Addresses of what is made here: from templates, and step by step with models."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.synthesis import pack_pages, pairs_pages, review_views, views

_SYNTHESIS = "corpora/synthesis/<uuid:uid>/"
_STEP = f"{_SYNTHESIS}<slug:name>/"

urlpatterns: list[URLPattern] = [
    path("corpora/from-templates/", pack_pages.pack_new, name="pack-new"),
    path("corpora/<uuid:uid>/pairs/", pairs_pages.haystack_pairs, name="haystack-pairs"),
    path("corpora/synthesis/", views.synthesis_list, name="syntheses"),
    path("corpora/synthesis/new/", views.synthesis_new, name="synthesis-new"),
    path("corpora/synthesis/documents/", views.synthesis_documents, name="synthesis-documents"),
    path("corpora/synthesis/questions/", views.synthesis_questions, name="synthesis-questions"),
    path("corpora/synthesis/parts/<uuid:uid>/", views.part_detail, name="synthesis-part"),
    path(_SYNTHESIS, views.synthesis_detail, name="synthesis"),
    path(f"{_SYNTHESIS}haystack.json", views.synthesis_download, name="synthesis-download"),
    path(f"{_SYNTHESIS}figures/", views.synthesis_figures, name="synthesis-figures"),
    path(f"{_SYNTHESIS}card.md", views.synthesis_card, name="synthesis-card"),
    path(f"{_SYNTHESIS}corpus/", views.synthesis_hand_over, name="synthesis-hand-over"),
    path(f"{_STEP}estimate/", views.step_estimate, name="synthesis-estimate"),
    path(f"{_STEP}start/", views.step_start, name="synthesis-start"),
    path(f"{_STEP}close/", views.step_close, name="synthesis-close"),
    path(f"{_STEP}review/", review_views.review, name="synthesis-review"),
    path(f"{_STEP}review/undo/", review_views.undo, name="synthesis-undo"),
    path(f"{_STEP}review/accept/", review_views.accept_clear, name="synthesis-accept"),
    path(f"{_STEP}review/<uuid:part_uid>/", review_views.decide, name="synthesis-decide"),
    path(f"{_STEP}review/<uuid:part_uid>/insight/", review_views.judge, name="synthesis-judge"),
]
