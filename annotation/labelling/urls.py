"""Addresses of label tasks: choices first, as the most frequent request."""

from __future__ import annotations

from django.urls import path, register_converter

from annotation.labelling import study_views, trial_pages, views
from annotation.labelling.kind import task_page_of
from annotation.labelling.task_page import TaskPage


class LabelKind:
    """The value of a kind of study whose tasks are label work; the view gets what it says of its task page."""

    regex = "[a-z]+"

    def to_python(self, value: str) -> TaskPage:
        """The task page of the kind; anything else is no match."""
        page = task_page_of(value)
        if page is None:
            raise ValueError(value)
        return page

    def to_url(self, value: str) -> str:
        return value


register_converter(LabelKind, "label_kind")

urlpatterns = [
    path("work/<label_kind:kind>/<uuid:uid>/choice/", views.choice, name="label-choice"),
    path("work/<label_kind:kind>/<uuid:uid>/undo/", views.undo, name="label-undo"),
    path("work/<label_kind:kind>/<uuid:uid>/", views.task, name="label-task"),
    path("work/labels/<uuid:uid>/near/", views.near, name="label-near"),
    path("work/labels/<uuid:uid>/rhythm/", views.rhythm, name="label-rhythm"),
    path("work/labels/<uuid:uid>/read/", views.read, name="label-read"),
    path("work/labels/<uuid:uid>/seen/", views.seen, name="label-seen"),
    path("work/labels/<uuid:uid>/skip/", views.skip, name="label-skip"),
    path("work/labels/<uuid:uid>/remark/", views.remark, name="label-remark"),
    path("work/studies/<uuid:uid>/go/", views.go, name="label-go"),
    path("work/studies/<uuid:uid>/trial/", trial_pages.trial, name="trial"),
    path("work/studies/<uuid:uid>/trial/again/", trial_pages.again, name="trial-again"),
    path("work/studies/<uuid:uid>/trial/<int:number>/", trial_pages.example, name="trial-example"),
    path("work/studies/<uuid:uid>/trial/<int:number>/<slug:name>/", trial_pages.act, name="trial-act"),
    path("studies/<uuid:uid>/annotators/<uuid:annotator>/trial/", study_views.allow_try, name="trial-allow"),
    path("studies/<uuid:uid>/trial/", trial_pages.trial_examples, name="trial-examples"),
    path("studies/<uuid:uid>/tasks/", study_views.study_work, name="study-work"),
    path("studies/<uuid:uid>/tasks/<uuid:task>/answer/", study_views.remark_reply, name="remark-reply"),
]
