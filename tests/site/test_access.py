"""Who may open which view, for every address of the site: the rules follow from the mark on each view and the
table of roles, so a view that comes later is tested without a word here.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from benchmarks.web.permissions import LOGGED_IN
from summhay_site.accounts.roles import ADMIN, ANNOTATOR, PERMISSIONS, RESEARCHER

PUBLIC = "public"
DJANGO_ADMIN = "admin"
ROLES = (ANNOTATOR, RESEARCHER, ADMIN)


@dataclass(frozen=True)
class Address:
    """One pattern of the URL configuration, with something plausible in the place of each argument."""

    path: str
    name: str
    access: str | None
    has_object: bool

    def __str__(self) -> str:
        return self.name or self.path


def _value(converter: Any) -> str:
    kind = type(converter).__name__
    if kind == "UUIDConverter":
        return str(uuid.UUID(int=0x5EED, version=4))
    return {"IntConverter": "1", "LabelKind": "linking"}.get(kind, "x")


def _walk(patterns: Any, prefix: str = "") -> Iterator[Address]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if pattern.namespace != DJANGO_ADMIN:
                yield from _walk(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield _address(pattern, route)


def _address(pattern: URLPattern, route: str) -> Address:
    converters = pattern.pattern.converters
    for name, converter in converters.items():
        for written in (
            f"<{name}>",
            *(f"<{kind}:{name}>" for kind in ("uuid", "int", "str", "slug", "path", "label_kind")),
        ):
            route = route.replace(written, _value(converter))
    return Address(
        path=f"/{route}",
        name=pattern.name or "",
        access=getattr(pattern.callback, "access", None),
        has_object=bool(converters),
    )


ADDRESSES = list(_walk(get_resolver().url_patterns))
GUARDED = [address for address in ADDRESSES if address.access not in (None, PUBLIC)]


def _allowed(role: str, access: str | None) -> bool:
    return access == LOGGED_IN or access in PERMISSIONS[role]


@pytest.fixture
def everybody(ada: Any, ben: Any, eve: Any) -> dict[str, Any]:
    return {RESEARCHER: ada, ANNOTATOR: ben, ADMIN: eve}


def test_the_walk_finds_the_pages_of_this_site() -> None:
    assert {"home", "login", "people", "person", "audit-log"} <= {address.name for address in ADDRESSES}
    assert all("<" not in address.path and "(" not in address.path for address in ADDRESSES)


def test_every_view_says_who_may_open_it() -> None:
    unmarked = [address.path for address in ADDRESSES if not address.access]
    assert unmarked == [], "use @public or @requires(...)"


def test_every_permission_asked_for_is_held_by_a_role() -> None:
    closed = [address.path for address in GUARDED if not any(_allowed(role, address.access) for role in ROLES)]
    assert closed == [], "nobody can open these"


@pytest.mark.django_db
def test_every_permission_of_the_table_exists() -> None:
    known = {
        f"{app}.{name}" for app, name in Permission.objects.values_list("content_type__app_label", "codename")
    }
    assert {name for names in PERMISSIONS.values() for name in names} <= known


@pytest.mark.django_db
def test_a_stranger_is_asked_to_log_in_except_on_public_pages() -> None:
    refusals = (_refusal_of_stranger(address, _answer(Client(), address)) for address in ADDRESSES)
    assert [refusal for refusal in refusals if refusal] == []


def _refusal_of_stranger(address: Address, response: Any) -> str | None:
    """Say what is wrong with what a stranger gets, or None."""
    code, location = response.status_code, response.headers.get("Location", "")
    if not _has_strict_policy(response):
        return f"{address.path}: no strict content policy"
    if address.access == PUBLIC:
        is_right = code < 500 and code != 403
    else:
        is_right = code == 401 or (code == 302 and location.startswith("/login/?next="))
    return None if is_right else f"{address.path}: {code} {location}"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_what_the_table_gives_it(role: str, everybody: dict[str, Any], login: Any) -> None:
    client = login(everybody[role])
    wrong = (_wrong_for(role, address, _answer(client, address)) for address in GUARDED)
    assert [what for what in wrong if what] == []


def _wrong_for(role: str, address: Address, response: Any) -> str | None:
    """Say what is wrong with what somebody of this role gets, or None."""
    code, location = response.status_code, response.headers.get("Location", "")
    if not _has_strict_policy(response):
        return f"{address.path}: no strict content policy"
    if not _allowed(role, address.access):
        is_right = code == 403
    elif address.has_object:
        # 400 is fine for a message whose body was refused before anything was looked up
        is_right = code == 404 or (code == 400 and response.wsgi_request.method == "POST")
    else:
        is_right = code < 500 and code not in (401, 403) and not location.startswith("/login/")
    return None if is_right else f"{address.path}: {code} {location}"


def _answer(client: Client, address: Address) -> Any:
    """Ask, by POST where GET is not allowed, and take back what the request changed."""
    with transaction.atomic():
        response = client.get(address.path)
        if response.status_code == 405:
            response = client.post(address.path)
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    return response


def _has_strict_policy(response: Any) -> bool:
    policy = response.headers.get("Content-Security-Policy", "")
    return "default-src 'self'" in policy and "unsafe" not in policy


@pytest.mark.parametrize("role", [ANNOTATOR, RESEARCHER])
def test_the_admin_site_turns_away_who_is_not_staff(role: str, everybody: dict[str, Any], login: Any) -> None:
    client = login(everybody[role])
    response = client.get("/admin/")
    assert response.headers["Location"] == "/admin/login/?next=/admin/"
    assert client.get(response.headers["Location"]).status_code == 403


@pytest.mark.django_db
def test_the_admin_site_sends_a_stranger_to_the_login_of_the_site(client: Client) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"


def test_an_admin_opens_the_admin_site(eve: Any, login: Any) -> None:
    assert login(eve).get("/admin/").status_code == 200
