"""Addresses of login, passwords, people and their profiles."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from summhay_site.accounts import people_views, recruits, views

urlpatterns = [
    path("login/", views.login, name="login"),
    path("logout/", views.logout, name="logout"),
    path("password/", views.password_change, name="password-change"),
    path("password/forgotten/", views.password_forgotten, name="password-forgotten"),
    path("password/set/<str:uidb64>/<str:token>/", views.password_set, name="password-set"),
    path("join/<str:key>/", recruits.join_study, name="join"),
    path("profile/", views.profile, name="profile"),
    path("people/", people_views.people, name="people"),
    path("people/new/", people_views.person_new, name="person-new"),
    path("people/import/", people_views.people_import, name="people-import"),
    path("people/links/", people_views.people_new_links, name="people-new-links"),
    path("people/links.csv", people_views.people_links, name="people-links"),
    path("people/groups/", views.group_list, name="groups"),
    path("people/groups/<uuid:uid>/", views.group, name="group"),
    path("people/groups/<uuid:uid>/archive/", views.group_archive, name="group-archive"),
    path("people/<uuid:uid>/", people_views.person, name="person"),
    path("people/<uuid:uid>/details/", people_views.person_details, name="person-details"),
    path("people/<uuid:uid>/role/", people_views.person_role, name="person-role"),
    path("people/<uuid:uid>/active/", people_views.person_active, name="person-active"),
    path("people/<uuid:uid>/link/", people_views.person_link, name="person-link"),
    path("people/<uuid:uid>/accommodation/", people_views.person_accommodation, name="person-accommodation"),
]

if settings.OIDC_ISSUER:  # the library is an extra
    from summhay_site.accounts.institution import from_institution, to_institution

    urlpatterns += [
        path("login/institution/", to_institution, name="to-institution"),
        path("login/institution/back/", from_institution, name="from-institution"),
    ]
