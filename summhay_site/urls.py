"""All addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from summhay_site.views.health import health
from summhay_site.views.home import home
from summhay_site.views.passwords import admin_login, admin_password

handler500 = "summhay_site.views.errors.server_error"

urlpatterns = [
    path("", home, name="home"),
    path("health/", health, name="health"),
    path("", include("annotation.urls")),  # first: people at work send the most requests
    path("", include("summhay_site.account_urls")),
    path("", include("benchmarks.urls")),
    path("admin/login/", admin_login),
    path("admin/password_change/", admin_password),
    path("admin/", admin.site.urls),
]
