"""Addresses of key point verification: choices first, as the most frequent request."""

from __future__ import annotations

from django.urls import path

from annotation.verification import views

urlpatterns = [
    path("work/verification/<uuid:uid>/choice/", views.choice, name="verification-choice"),
    path("work/verification/<uuid:uid>/undo/", views.undo, name="verification-undo"),
    path("work/verification/<uuid:uid>/", views.task, name="verification-task"),
]
