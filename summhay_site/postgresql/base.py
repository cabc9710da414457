"""Django's PostgreSQL, with an end to every wait for it.

The server itself ends long statements, but one that is frozen ends nothing, and its connections stay open: so the
client counts too. While one thread finds out whether an unanswering server is back, the others are told at once
that it is not; else each request would hold its thread for the time that connecting may take.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.utils import OperationalError
from psycopg.pq import TransactionStatus

from summhay_site.postgresql.limits import present

GRACE_S = 5
"""So much later than the server would have ended a statement the client gives up."""
PAUSE_S = 2
"""So long after a wait in vain nobody tries to connect."""


class NoAnswer(psycopg.OperationalError):
    """The server did not answer in time; the connection is closed, since nobody knows what it is doing."""


class Outage:
    """Knowledge of the threads of this process about a server that does not answer."""

    def __init__(self) -> None:
        self._trying = threading.Lock()
        self._since: float | None = None

    def begin(self) -> None:
        """Somebody waited in vain."""
        self._since = time.monotonic()

    def end(self) -> None:
        """Somebody got an answer."""
        self._since = None

    @property
    def is_on(self) -> bool:
        """Whether somebody waited in vain, and nobody got an answer since."""
        return self._since is not None

    def try_again(self) -> bool:
        """Whether this thread may try to connect; it has to say `tried` afterwards."""
        return not self._pauses() and self._trying.acquire(blocking=False)

    def tried(self) -> None:
        """Let another thread try."""
        self._trying.release()

    def _pauses(self) -> bool:
        return self._since is not None and time.monotonic() < self._since + PAUSE_S


outage = Outage()


def _bounded(generator: Generator[Any, Any, Any], until: float) -> Generator[Any, Any, Any]:
    """The same conversation with the server, ended with `NoAnswer` when nothing comes until then."""
    try:
        wanted = next(generator)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= until:
                raise NoAnswer("The database did not answer in time.")
            wanted = generator.send(ready)
    except StopIteration as end:
        return end.value


class Connection(psycopg.Connection[Any]):
    """A connection that waits for an answer only so long."""

    patience_s: float | None = None

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """As in psycopg, which calls this for everything that it sends; raises `NoAnswer`."""
        if self.patience_s is not None:
            gen = _bounded(gen, time.monotonic() + self.patience_s)
        try:
            answer = super().wait(gen, *args, **kwargs)
        except NoAnswer:
            outage.begin()
            self.pgconn.finish()
            raise
        outage.end()  # else others would be turned away for a moment although the server is back
        return answer


class DatabaseWrapper(base.DatabaseWrapper):
    """Connections with the limits of this process."""

    Database: Any = SimpleNamespace(**{**vars(psycopg), "connect": Connection.connect})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_pooled = bool(self.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))
        if self._is_pooled:
            self.execute_wrappers.append(self._limited)

    def get_new_connection(self, conn_params: Any) -> Any:
        """Connect; raises `OperationalError` at once while another thread waits for a server that is silent."""
        if not outage.is_on:
            return self._connect(conn_params)
        if not outage.try_again():
            raise OperationalError("The database does not answer.")
        try:
            return self._connect(conn_params)
        finally:
            outage.tried()

    def _connect(self, conn_params: Any) -> Any:
        try:
            made = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            outage.begin()
            raise
        outage.end()
        return made

    def init_connection_state(self) -> None:
        """Tell server and client how long they may take."""
        super().init_connection_state()
        self.apply_limits()

    def apply_limits(self) -> None:
        """Set the limits of this process for a connection that is open."""
        limits = present()
        self.connection.patience_s = limits.statement_s + GRACE_S if limits.statement_s else None
        if not self._is_pooled:
            with self.cursor() as cursor:
                cursor.execute(limits.as_sql(of_transaction=False))

    def _limited(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        """Send the limits along with what begins a transaction: a pool would lend a session's to others."""
        if many or self.connection.info.transaction_status != TransactionStatus.IDLE:
            return execute(sql, params, many, context)
        answer = execute(f"{present().as_sql(of_transaction=True)}; {sql}", params, many, context)
        context["cursor"].nextset()  # past that of the limits
        return answer

    def is_usable(self) -> bool:
        """Whether the server answers on this connection, within the time that connecting may take."""
        if outage.is_on:
            return False
        usual = self.connection.patience_s
        self.connection.patience_s = float(self.settings_dict["OPTIONS"].get("connect_timeout", GRACE_S))
        try:
            return super().is_usable()
        finally:
            self.connection.patience_s = usual
