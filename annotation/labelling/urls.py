"""Addresses of what all label tasks share."""

from __future__ import annotations

from django.urls import path

from annotation.labelling import views

urlpatterns = [
    path("work/labels/<uuid:uid>/seen/", views.seen, name="label-seen"),
    path("work/labels/<uuid:uid>/skip/", views.skip, name="label-skip"),
    path("work/labels/<uuid:uid>/remark/", views.remark, name="label-remark"),
    path("work/studies/<uuid:uid>/go/", views.go, name="label-go"),
    path("work/studies/<uuid:uid>/finished/", views.finished, name="label-finished"),
]
