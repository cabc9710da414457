"""Addresses of login, passwords, people, the audit log and the state of the system."""

from __future__ import annotations

from django.urls import path

from summhay_site.views import audit, health, join, passwords, people, person, profile

urlpatterns = [
    path("login/", passwords.login, name="login"),
    path("logout/", passwords.logout, name="logout"),
    path("password/", passwords.password_change, name="password-change"),
    path("password/forgotten/", passwords.password_forgotten, name="password-forgotten"),
    path("password/set/<str:uidb64>/<str:token>/", passwords.password_set, name="password-set"),
    path("join/<str:key>/", join.join_study, name="join"),
    path("profile/", profile.profile, name="profile"),
    path("people/", people.people, name="people"),
    path("people/new/", people.person_new, name="person-new"),
    path("people/import/", people.people_import, name="people-import"),
    path("people/links.csv", people.people_links, name="people-links"),
    path("people/<uuid:uid>/", person.person, name="person"),
    path("people/<uuid:uid>/details/", person.person_details, name="person-details"),
    path("people/<uuid:uid>/role/", person.person_role, name="person-role"),
    path("people/<uuid:uid>/active/", person.person_active, name="person-active"),
    path("people/<uuid:uid>/link/", person.person_link, name="person-link"),
    path("people/<uuid:uid>/accommodation/", person.person_accommodation, name="person-accommodation"),
    path("people/<uuid:uid>/erase/", person.person_erase, name="person-erase"),
    path("audit-log/", audit.audit_log, name="audit-log"),
    path("audit-log.csv", audit.audit_csv, name="audit-csv"),
    path("system/", health.system, name="system"),
]
