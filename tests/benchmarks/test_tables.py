"""Tables are sorted and filtered by the address, in a list and in the database alike."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.http import QueryDict
from django.template import Context, Template

from benchmarks.web.tables import Choice, Column, Search, Shown, Table

ROWS = [
    SimpleNamespace(name="annotator10", minutes=5, state="done"),
    SimpleNamespace(name="Annotator2", minutes=None, state="done"),
    SimpleNamespace(name="annotator1", minutes=9, state="open"),
]
TABLE: Table[Any] = Table(
    "work",
    {"name": Column(lambda row: row.name), "minutes": Column(lambda row: row.minutes, high_first=True)},
    default="name",
    choices=[Choice("state", "State", lambda row: row.state)],
    search=Search("Name", lambda row: row.name),
)


def shown(query: str) -> Shown[Any]:
    return TABLE.shown(ROWS, QueryDict(query))


def names(query: str) -> list[str]:
    return [row.name for row in shown(query).rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["annotator1", "Annotator2", "annotator10"]),
        ("sort=-name", ["annotator10", "Annotator2", "annotator1"]),
        ("sort=minutes", ["annotator1", "annotator10", "Annotator2"]),
        ("sort=-minutes", ["annotator10", "annotator1", "Annotator2"]),
        ("sort=nonsense", ["annotator1", "Annotator2", "annotator10"]),
        ("state=done", ["Annotator2", "annotator10"]),
        ("state=nonsense", ["annotator1", "Annotator2", "annotator10"]),
        ("q=TOR1", ["annotator1", "annotator10"]),
        ("q=TOR1&state=open", ["annotator1"]),
    ],
)
def test_the_address_says_the_order_and_what_is_shown(query: str, found: list[str]) -> None:
    """Numbers from the highest first, names by the numbers in them, rows without a value last either way."""
    assert names(query) == found


def test_a_head_turns_its_order_round_and_keeps_the_rest_of_the_address() -> None:
    found = shown("state=done&page=3&sort=minutes")
    assert found.sorted_by("minutes") == "?state=done&sort=-minutes"
    assert found.sorted_by("name") == "?state=done&sort=name"
    assert shown("sort=-minutes").sorted_by("minutes") == "?sort=minutes"
    assert found.unfiltered == "?sort=minutes"
    assert found.kept == [("sort", "minutes")]


def test_heads_and_filters_say_how_the_table_stands() -> None:
    heads = "{% sort_head t 'minutes' 'Minutes' 'num' %}{% sort_head t 'x' _('X %') %}"
    source = "{% load tables %}{% table_filters t %}" + heads
    html = Template(source).render(Context({"t": shown("sort=minutes&state=done&q=<b>")}))
    assert '<th scope="col" class="num" aria-sort="descending"><a class="sort" id="work-by-minutes"' in html
    assert '<th scope="col">X %</th>' in html
    assert '<option value="done" selected>' in html
    assert "0 of 3 shown" in " ".join(html.split())
    assert "<b>" not in html


def test_two_tables_of_a_page_do_not_meet() -> None:
    other = Table("other", TABLE.columns, prefix="b-")
    found = other.shown(ROWS, QueryDict("sort=name&b-sort=-minutes"))
    assert [row.minutes for row in found.rows] == [5, 9, None]
    assert found.sorted_by("name") == "?sort=name&b-sort=name"


@pytest.mark.django_db
def test_rows_in_the_database_are_sorted_and_filtered_there() -> None:
    users: Any = get_user_model().objects
    for email, name, is_active in (("b@x.org", "Bea", True), ("a@x.org", "Al", True), ("c@x.org", "Cy", False)):
        users.create(username=name, email=email, name=name, is_active=is_active)
    table: Table[Any] = Table(
        "people",
        {"email": Column("email")},
        choices=[Choice("active", "Active", "is_active", [("True", "yes"), ("False", "no")])],
        search=Search("Find", ("email", "name")),
    )

    def found(query: str) -> list[str]:
        return [user.name for user in table.shown(users.order_by("pk"), QueryDict(query)).rows]

    assert found("") == ["Bea", "Al", "Cy"]
    assert found("sort=-email") == ["Cy", "Bea", "Al"]
    assert found("sort=email&active=True") == ["Al", "Bea"]
    assert found("q=CY") == ["Cy"]
