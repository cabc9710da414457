"""URLs of reminders."""

from __future__ import annotations

from django.urls import path

from annotation.people.reminders import views

urlpatterns = [path("studies/<uuid:uid>/remind/", views.study_remind, name="study-remind")]
