"""Addresses of what is held of people."""

from __future__ import annotations

from django.urls import path

from summhay_site.privacy import views

urlpatterns = [
    path("privacy/", views.privacy, name="privacy"),
    path("privacy/my-data.zip", views.own_data, name="own-data"),
]
