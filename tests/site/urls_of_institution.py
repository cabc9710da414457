"""All addresses, and those of the log-in through an institution, which are there only where one is set."""

from django.urls import path

from summhay_site.accounts.institution import from_institution, to_institution
from summhay_site.urls import handler500, urlpatterns

__all__ = ["handler500", "urlpatterns"]

urlpatterns = [
    *urlpatterns,
    path("login/institution/", to_institution, name="to-institution"),
    path("login/institution/back/", from_institution, name="from-institution"),
]
