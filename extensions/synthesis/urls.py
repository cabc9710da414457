"""Addresses of what is made here: from templates, and step by step with models."""

from __future__ import annotations

from django.urls import URLPattern, path

from extensions.synthesis import pages, views
from extensions.synthesis.forms import DocumentsForm, QuestionsForm, SynthesisForm

_SYNTHESIS = "corpora/synthesis/<uuid:uid>/"
_STEP = f"{_SYNTHESIS}<slug:name>/"

app_name = "synthesis"
urlpatterns: list[URLPattern] = [
    path("corpora/from-templates/", pages.pack_new, name="pack-new"),
    path("corpora/<uuid:uid>/pairs/", pages.haystack_pairs, name="pairs"),
    path("corpora/synthesis/", views.synthesis_list, name="list"),
    *(
        path(
            f"corpora/synthesis/{name}/",
            views.begin,
            {"form_class": form, "template": f"synthesis/{name}.html"},
            name=name,
        )
        for name, form in (("new", SynthesisForm), ("documents", DocumentsForm), ("questions", QuestionsForm))
    ),
    path("corpora/synthesis/parts/<uuid:uid>/", views.part_detail, name="part"),
    path(_SYNTHESIS, views.synthesis_detail, name="detail"),
    path(f"{_SYNTHESIS}haystack.json", views.synthesis_download, name="download"),
    path(f"{_SYNTHESIS}figures/", views.synthesis_figures, name="figures"),
    path(f"{_SYNTHESIS}card.md", views.synthesis_card, name="card"),
    path(f"{_SYNTHESIS}corpus/", views.synthesis_hand_over, name="hand-over"),
    path(f"{_STEP}estimate/", views.step_estimate, name="estimate"),
    path(f"{_STEP}start/", views.step_start, name="start"),
    path(f"{_STEP}close/", views.step_close, name="close"),
    path(f"{_STEP}review/", views.review, name="review"),
    path(f"{_STEP}review/undo/", views.undo, name="undo"),
    path(f"{_STEP}review/accept/", views.accept_clear, name="accept"),
    path(f"{_STEP}review/<uuid:part_uid>/", views.decide, name="decide"),
    path(f"{_STEP}review/<uuid:part_uid>/insight/", views.judge, name="judge"),
]
