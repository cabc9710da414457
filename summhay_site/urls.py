"""All addresses of the site."""

from __future__ import annotations

from importlib.util import find_spec

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from summhay_site.accounts.views import admin_login, admin_password
from summhay_site.audit import audit_csv, audit_log
from summhay_site.home import home
from summhay_site.operations.erasing import person_erase
from summhay_site.operations.system import metrics, system_page
from summhay_site.privacy import ask_erasure, own_data, privacy
from summhay_site.serving.health import health, ready

handler500 = "summhay_site.serving.middleware.server_error"

urlpatterns = [
    path("", home, name="home"),
    path("health/", health, name="health"),
    path("ready/", ready, name="ready"),
    path("metrics/", metrics, name="metrics"),
    path("", include("annotation.urls")),  # first: people at work send the most requests
    path("", include("summhay_site.accounts.urls")),
    path("audit-log/", audit_log, name="audit-log"),
    path("audit-log.csv", audit_csv, name="audit-csv"),
    path("people/<uuid:uid>/erase/", person_erase, name="person-erase"),
    path("system/", system_page, name="system"),
    path("api/", include("summhay_site.api.endpoints")),
    path("profile/", include("summhay_site.api.profile")),
    path("privacy/", privacy, name="privacy"),
    path("privacy/erase/", ask_erasure, name="ask-erasure"),
    path("privacy/my-data.zip", own_data, name="own-data"),
    *(
        path("", include(f"extensions.{name}.urls"))
        for name in settings.EXTENSIONS
        if find_spec(f"extensions.{name}.urls")
    ),
    path("", include("benchmarks.urls")),
    path("admin/login/", admin_login),
    path("admin/password_change/", admin_password),
    path("admin/", admin.site.urls),
]
