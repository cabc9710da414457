"""Addresses of an annotator's own pages."""

from __future__ import annotations

from django.urls import path

from annotation.views import consent, work

urlpatterns = [
    path("work/", work.work, name="work"),
    path("work/practice/", work.practice, name="practice"),
    path("work/done/", work.own_work, name="own-work"),
    path("work/earnings/", work.own_earnings, name="earnings"),
    path("work/consent/", consent.consent_page, name="consent"),
    path("work/consent/withdraw/", consent.consent_withdraw, name="consent-withdraw"),
    path("work/studies/<uuid:uid>/guidelines/", work.study_guidelines, name="study-guidelines"),
    path("work/studies/<uuid:uid>/leave/", work.study_leave, name="study-leave"),
]
