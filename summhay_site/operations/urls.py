"""Addresses of what admins do to keep the site running."""

from __future__ import annotations

from django.urls import path

from summhay_site.operations import views

urlpatterns = [
    path("people/<uuid:uid>/erase/", views.person_erase, name="person-erase"),
    path("system/", views.system, name="system"),
]
