"""Addresses of an annotator's own pages."""

from __future__ import annotations

from django.urls import path

from annotation.work import views

urlpatterns = [
    path("work/", views.work, name="work"),
    path("work/practice/", views.practice, name="practice"),
    path("work/help/", views.help_page, name="help"),
    path("work/done/", views.own_work, name="own-work"),
    path("work/earnings/", views.own_earnings, name="earnings"),
    path("work/consent/", views.consent_page, name="consent"),
    path("work/consent/decline/", views.consent_decline, name="consent-decline"),
    path("work/consent/withdraw/", views.consent_withdraw, name="consent-withdraw"),
    path("work/studies/<uuid:uid>/guidelines/", views.study_guidelines, name="study-guidelines"),
    path("work/studies/<uuid:uid>/fewer/", views.fewer_read, name="fewer-read"),
    path("work/studies/<uuid:uid>/leave/", views.study_leave, name="study-leave"),
]
