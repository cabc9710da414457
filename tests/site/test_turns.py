"""Programs wait while people are answered, within bounds."""

from threading import Event, Thread
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction

from summhay_site.api.access import ROWS, row_by_row
from summhay_site.serving import middleware
from summhay_site.serving.middleware import TurnMiddleware


def to_program(make: Any) -> Any:
    return TurnMiddleware(make)(SimpleNamespace(path_info="/api/studies"))


@pytest.fixture
def person() -> Any:
    """Somebody whose page is under way until the event is set."""
    here, leaves = Event(), Event()
    page = Thread(target=TurnMiddleware(lambda _request: (here.set(), leaves.wait(10))), args=[
        SimpleNamespace(path_info="/work/")
    ])  # fmt: skip
    page.start()
    here.wait(10)
    yield leaves
    leaves.set()
    page.join()
    assert TurnMiddleware.n_people == 0


def test_rows_for_a_program_wait_until_people_are_answered(person: Event, monkeypatch: Any) -> None:
    monkeypatch.setattr(middleware, "MOST_S", 10)
    seen: list[int] = []
    program = Thread(target=to_program, args=[lambda it: seen.extend(row_by_row(it, range(2 * ROWS)))])
    program.start()
    program.join(0.1)
    assert not seen
    person.set()
    program.join(5)
    assert seen == [*range(2 * ROWS)]


@pytest.mark.django_db(transaction=True)
def test_a_query_waits_but_in_all_not_for_long_and_never_in_a_transaction(person: Event, monkeypatch: Any) -> None:
    monkeypatch.setattr(middleware, "MOST_S", 0.5)

    def queries(_request: Any) -> None:
        for _ in range(3):
            connection.cursor().execute("SELECT 1")

    def took(answer: Any) -> float:
        began = monotonic()
        to_program(answer)
        return monotonic() - began

    connection.ensure_connection()  # what is asked first in a new one waits as any query does
    assert took(transaction.atomic(queries)) < 0.5 <= took(queries) < 5


def test_nobody_else_makes_a_program_wait_and_a_page_that_fails_is_over() -> None:
    with pytest.raises(ZeroDivisionError):
        TurnMiddleware(lambda _request: 1 / 0)(SimpleNamespace(path_info="/"))
    assert TurnMiddleware.n_people == 0
    began = monotonic()
    assert to_program(lambda it: [*row_by_row(it, "ab")]) == ["a", "b"]
    assert monotonic() - began < 0.2
