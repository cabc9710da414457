"""Addresses of an annotator's own pages."""

from __future__ import annotations

from django.urls import path

from annotation.work import finished, preference_views, views

urlpatterns = [
    path("work/", views.work, name="work"),
    path("work/practice/", views.practice, name="practice"),
    path("work/help/", views.help_page, name="help"),
    path("work/done/", views.own_work, name="own-work"),
    path("work/earnings/", views.own_earnings, name="earnings"),
    path("work/answers/", views.own_answers, name="last-answers"),
    path("work/replies/", views.replies, name="replies"),
    path("work/preferences/", preference_views.preferences, name="preferences"),
    path("work/preferences/switch/", preference_views.switch, name="prefer"),
    path("work/preferences/keys/<slug:kind>/", preference_views.keys, name="own-keys"),
    path("work/consent/", views.consent_page, name="consent"),
    path("work/consent/decline/", views.consent_decline, name="consent-decline"),
    path("work/consent/withdraw/", views.consent_withdraw, name="consent-withdraw"),
    path("work/studies/<uuid:uid>/guidelines/", views.study_guidelines, name="study-guidelines"),
    path("work/studies/<uuid:uid>/finished/", finished.finished, name="label-finished"),
    path("work/studies/<uuid:uid>/fewer/", views.fewer_read, name="fewer-read"),
    path("work/studies/<uuid:uid>/leave/", views.study_leave, name="study-leave"),
]
