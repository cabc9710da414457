"""How long a process waits for PostgreSQL: pages a little, workers and commands longer, migrations for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db import connection


@dataclass(frozen=True)
class Limits:
    """Seconds after which the server ends a statement, a wait for a lock, and an idle transaction; 0 is never."""

    statement_s: int = 0
    lock_s: int = 0
    idle_s: int = 0

    def as_sql(self, *, of_transaction: bool) -> str:
        """The statement that sets them for one transaction or the whole session."""
        values = {
            "statement_timeout": self.statement_s,
            "lock_timeout": self.lock_s,
            "idle_in_transaction_session_timeout": self.idle_s,
        }
        calls = (f"set_config('{name}', '{value}s', {of_transaction})" for name, value in values.items())
        return f"SELECT {', '.join(calls)}"


_present: list[Limits] = []


def present() -> Limits:
    """The limits of this process; those of work outside pages unless another program said so."""
    return _present[-1] if _present else settings.DATABASE_WORK_LIMITS


def serve_pages() -> None:
    """This process answers requests of people, who do not wait long."""
    _present[:] = [settings.DATABASE_PAGE_LIMITS]


@contextmanager
def lifted() -> Iterator[None]:
    """No limits for what may take as long as it takes, on the connection of this thread too."""
    _present.append(Limits())
    _apply()
    try:
        yield
    finally:
        _present.pop()
        _apply()


def _apply() -> None:
    if (
        connection.vendor == "postgresql"
        and connection.connection is not None
        and not connection.connection.closed
    ):
        connection.apply_limits()  # type: ignore[attr-defined]  # of our backend
