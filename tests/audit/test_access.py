"""Who may do what at every address of the site, by every method: the rule is in `addresses`, and follows from the
mark on each view and the table of roles, so a view that comes later is tested without a word here.
"""

from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from summhay_site.accounts.models import ANNOTATOR, PERMISSIONS, RESEARCHER
from tests.annotation.test_consent_gate import Work
from tests.audit.addresses import (
    ADDRESSES,
    GUARDED,
    METHODS,
    ROLES,
    SAFE,
    STRANGERS,
    VIEWS,
    Address,
    is_allowed,
    is_right,
)
from tests.audit.conftest import Audit
from tests.conftest import make_user

SEVERAL = ("GET", "POST")
SAMPLE = 400
OF_EVERY_KIND = ("study", "study-settings", "study-annotators", "study-guidelines-edit", "study-delete")
OF_LINKING = ("study-figures", "study-agreement-rows", "disagreements")


@pytest.fixture
def clients(as_ada, as_ben, dot, as_eve, login) -> dict[str, Client]:
    """A browser of each role; the deactivated one was logged in before."""
    ned, gone = make_user("ned", "researcher"), make_user("gone", "researcher")
    found = {
        "nobody": Client(), "annotator": as_ben, "annotator elsewhere": login(dot), "researcher": as_ada,
        "researcher elsewhere": login(ned), "admin": as_eve, "deactivated": login(gone),
    }  # fmt: skip
    gone.is_active = False
    gone.save()
    assert found.keys() == ROLES.keys()
    return found


class World:
    """What is somebody's: tasks, a session and studies of every kind, ben's and ada's."""

    def __init__(self, ada, ben, client: Client) -> None:
        work = Work(ben, client)
        for study in Study.objects.all():
            study.researchers.set([ada])
        tasks = {"linking": work.link, "verification": work.point, "validation": work.pair}
        self.tasks = list(tasks.items())
        self.studies = [(kind, task.study) for kind, task in self.tasks] + [("writing", work.task.study)]
        self.session, self.assignment = work.session, work.task

    def objects_of(self, address: Address) -> list[tuple[str, Any]]:
        """(kind, id) of the objects that an address may be about."""
        root = address.route.partition("/<uuid:uid>")[0]
        if root.endswith("studies"):
            return [(kind, study.uid) for kind, study in self.studies]
        if root in {"work/labels", "work/<label_kind:kind>"}:
            return [(kind, task.uid) for kind, task in self.tasks]
        found = {"work/tasks": self.assignment, "assignments": self.assignment}.get(root, self.session)
        return [] if root == "corpora/import" else [("", found.uid)]


@pytest.fixture
def world(ada, ben, as_ben) -> World:
    return World(ada, ben, as_ben)


def test_the_walk_finds_the_pages_of_this_site() -> None:
    assert {"home", "login", "people", "person", "audit-log"} <= {address.name for address in ADDRESSES}
    assert all("<" not in address.path and "(" not in address.path for address in ADDRESSES)


def test_every_view_says_who_may_open_it() -> None:
    unmarked = [address.path for address in ADDRESSES if not address.access]
    assert unmarked == [], "use @public or @requires(...)"


def test_every_permission_asked_for_is_held_by_a_role() -> None:
    closed = [
        address.path
        for address in GUARDED
        if not any(is_allowed(role, address.access) for role in set(ROLES.values()))
    ]
    assert closed == [], "nobody can open these"


@pytest.mark.django_db
def test_every_permission_of_the_table_exists() -> None:
    known = {
        f"{app}.{name}" for app, name in Permission.objects.values_list("content_type__app_label", "codename")
    }
    assert {name for names in PERMISSIONS.values() for name in names} <= known


def test_it_is_known_whose_the_object_of_every_address_is() -> None:
    assert [str(one.route) for one in ADDRESSES if not one.is_classified] == [], "say it in PRIVATE or SHARED"


def test_no_view_goes_without_the_token() -> None:
    without = [str(address) for address, view in VIEWS if getattr(view, "csrf_exempt", False)]
    assert without == ["api-scores"], "which checks it itself where no token of the API is sent"


def test_nothing_is_sent_without_the_token(eve, login, audit: Audit) -> None:
    client = login(eve, enforce_csrf_checks=True)
    unsafe = [method for method in METHODS if method not in SAFE]
    for address, method in audit.sample(product(ADDRESSES, unsafe), 276):
        code = _answer(client, address.path, method).status_code
        audit.count("requests without a token")
        if code not in {403, 405}:  # probes are answered before anything else
            audit.find(f"{method} {address.path} without a token: {code}")
    audit.conclude()


def test_each_role_gets_what_the_rule_gives_it(clients: dict[str, Client], audit: Audit) -> None:
    every = list(product(ADDRESSES, ROLES, METHODS))
    usual = [
        (address, who, method) for address, who, method in every if method in SEVERAL and who not in STRANGERS
    ]
    cases = every if audit.is_whole else [*usual, *audit.sample(every, SAMPLE)]
    for address, who, method in cases:
        _compare(clients, address, who, method, audit=audit)
    for address in ADDRESSES:
        if address.path not in audit.answered:
            audit.find(f"{address.path} answers to no method")
    audit.count("addresses", len(ADDRESSES))
    audit.conclude()


def test_what_is_anothers_is_not_there(world: World, clients: dict[str, Client], audit: Audit) -> None:
    private = [
        (address, kind, uid)
        for address in ADDRESSES
        if address.is_private
        for kind, uid in world.objects_of(address)
    ]
    roles = ROLES if audit.is_whole else STRANGERS
    for (address, kind, uid), who, method in product(private, roles, METHODS if audit.is_whole else SEVERAL):
        if not audit.is_whole and not is_allowed(ROLES[who], address.access):
            continue  # whoever may open no such page is refused before anything is looked up
        _compare(clients, address, who, method, audit=audit, path=address.of(kind, uid))
    audit.conclude()


@pytest.mark.parametrize("who", ["researcher", "admin"])
def test_studies_of_every_kind_open_for_their_researchers_and_for_admins(
    who: str, world: World, clients: dict[str, Client]
) -> None:
    for (kind, study), name in product(world.studies, OF_EVERY_KIND + OF_LINKING):
        if kind == "linking" or name in OF_EVERY_KIND:
            address = reverse(f"annotation:{name}", args=[study.uid])
            assert clients[who].get(address).status_code == 200, (kind, name)


def _compare(
    clients: dict[str, Client], address: Address, who: str, method: str, *, audit: Audit, path: str = ""
) -> None:
    response = _answer(clients[who], path or address.path, method)
    if who == "admin" and response.status_code != 405 and method in SEVERAL:
        audit.answered.add(address.path)
    audit.count("addresses × roles × methods")
    if not is_right(address, who, method, response, is_real=bool(path)):
        location = response.headers.get("Location", "")
        audit.find(f"{who}, {method} {path or address.path} ({address}): {response.status_code} {location}")
    if not _has_strict_policy(response):
        audit.find(f"{method} {address.path}: no strict content policy")


def _answer(client: Client, path: str, method: str):
    """Ask, and take back what the request changed, a log-out too."""
    cookies = deepcopy(client.cookies)
    with transaction.atomic():
        response = client.generic(method, path)
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def _has_strict_policy(response) -> bool:
    policy = response.headers.get("Content-Security-Policy", "")
    return "default-src 'self'" in policy and "unsafe" not in policy


@pytest.mark.parametrize("role", [ANNOTATOR, RESEARCHER])
def test_the_admin_site_turns_away_who_is_not_staff(role: str, clients: dict[str, Client]) -> None:
    client = clients[role]
    response = client.get("/admin/")
    assert response.headers["Location"] == "/admin/login/?next=/admin/"
    assert client.get(response.headers["Location"]).status_code == 403


@pytest.mark.django_db
def test_the_admin_site_sends_a_stranger_to_the_login_of_the_site(client: Client) -> None:
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"


def test_an_admin_opens_the_admin_site(as_eve) -> None:
    assert as_eve.get("/admin/").status_code == 200
