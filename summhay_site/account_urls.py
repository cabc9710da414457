"""Addresses of login, passwords and people."""

from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import path

from benchmarks.web.permissions import public

urlpatterns = [
    path("login/", public(auth.LoginView.as_view()), name="login"),
    path("logout/", public(auth.LogoutView.as_view()), name="logout"),
]
