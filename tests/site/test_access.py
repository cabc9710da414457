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
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from benchmarks.web.permissions import LOGGED_IN
from summhay_site.roles import ADMIN, ANNOTATOR, PERMISSIONS, RESEARCHER

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


def _ask(client: Client, address: Address) -> Any:
    response = client.get(address.path)
    if response.status_code == 405:
        response = client.post(address.path)
    return response


@pytest.fixture
def everybody(ada: Any, ben: Any, eve: Any) -> dict[str, Any]:
    return {RESEARCHER: ada, ANNOTATOR: ben, ADMIN: eve}


def test_the_walk_finds_the_pages_of_this_site() -> None:
    assert {"home", "login", "people", "person", "audit-log"} <= {address.name for address in ADDRESSES}
    assert all("<" not in address.path and "(" not in address.path for address in ADDRESSES)


@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_every_view_says_who_may_open_it(address: Address) -> None:
    assert address.access, f"{address.path} has no mark: use @public or @requires(...)"


@pytest.mark.parametrize("address", GUARDED, ids=str)
def test_every_permission_asked_for_is_held_by_a_role(address: Address) -> None:
    assert any(_allowed(role, address.access) for role in ROLES), f"nobody can open {address.path}"


@pytest.mark.django_db
def test_every_permission_of_the_table_exists() -> None:
    known = {
        f"{app}.{name}" for app, name in Permission.objects.values_list("content_type__app_label", "codename")
    }
    assert {name for names in PERMISSIONS.values() for name in names} <= known


@pytest.mark.django_db
@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_a_stranger_is_asked_to_log_in_except_on_public_pages(address: Address, client: Client) -> None:
    response = _ask(client, address)
    _has_strict_policy(response)
    if address.access == PUBLIC:
        assert response.status_code < 500
        assert response.status_code != 403
    elif response.status_code != 401:
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/?next=")


@pytest.mark.parametrize("address", GUARDED, ids=str)
def test_each_role_gets_what_the_table_gives_it(address: Address, everybody: dict[str, Any], login: Any) -> None:
    for role in ROLES:
        response = _ask(login(everybody[role]), address)
        code, asked = response.status_code, f"{address.path} as {role}"
        if not _allowed(role, address.access):
            assert code == 403, asked
        elif address.has_object:
            # 400 is fine for a message whose body was refused before anything was looked up
            assert code == 404 or (code == 400 and response.wsgi_request.method == "POST"), asked
        else:
            assert code < 500, asked
            assert code not in (401, 403), asked
            assert not response.headers.get("Location", "").startswith("/login/"), asked
        _has_strict_policy(response)


def _has_strict_policy(response: Any) -> None:
    policy = response.headers.get("Content-Security-Policy", "")
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


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
