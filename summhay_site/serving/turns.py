"""People before programs: while a process answers people, what it makes for the API stands still for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from threading import Condition
from typing import Any, TypeVar

from django.db import connection
from django.http import HttpRequest, HttpResponse

API = "/api/"
MOST_S = 0.25
"""An answer to a program stands still no longer than this in all."""
ROWS = 50
Row = TypeVar("Row")


class TurnMiddleware:
    """Count the requests of people under way; let those of programs give way before each query."""

    n_people, _changed = 0, Condition()

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(API):
            return self._to_program(request)
        self._count(1)
        try:
            return self.get_response(request)
        finally:
            self._count(-1)

    @classmethod
    def _count(cls, by: int) -> None:
        with cls._changed:
            cls.n_people += by
            cls._changed.notify_all()

    def _to_program(self, request: HttpRequest) -> HttpResponse:
        left = MOST_S

        def give_way() -> None:
            nonlocal left
            if not self.n_people or left <= 0 or connection.in_atomic_block:
                return  # people may wait for what a transaction has locked
            began = time.monotonic()
            with self._changed:
                self._changed.wait_for(lambda: not self.n_people, left)
            left -= time.monotonic() - began

        def politely(execute: Any, *query: Any) -> Any:
            give_way()
            return execute(*query)

        request.give_way = give_way  # type: ignore[attr-defined]
        with connection.execute_wrapper(politely):
            return self.get_response(request)


def row_by_row(request: HttpRequest, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows for a program, which give way now and then."""
    for n, row in enumerate(rows):
        if not n % ROWS:
            request.give_way()  # type: ignore[attr-defined]
        yield row
