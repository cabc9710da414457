"""Addresses of questions with key points and of their sets."""

from __future__ import annotations

from django.urls import URLPattern, path

from benchmarks.questions import views

urlpatterns: list[URLPattern] = [
    path("questions/", views.question_list, name="questions"),
    path("questions/sets/<slug:dataset>/archive/", views.question_set_archive, name="question-set-archive"),
    path("questions/sets/<slug:dataset>/group/", views.question_set_group, name="question-set-group"),
    path("questions/sets/<slug:dataset>/delete/", views.question_set_delete, name="question-set-delete"),
    path("questions/<uuid:uid>/", views.question_detail, name="question-detail"),
    path("questions/<slug:dataset>.jsonl", views.question_download, name="question-download"),
]
