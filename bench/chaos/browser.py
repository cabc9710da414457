"""What all people share: a line to the site, and a browser that sends again until it is answered.

The rules are those of static/js/talk.js; only the waiting is shorter, so that more happens in a minute.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

from bench.chaos.logs import Log

TIMEOUT_S = 5.0
"""For which a page waits for an answer; 15 s in a browser."""
PACE = 0.1
"""How long people wait beside people in a browser."""
FORM = "application/x-www-form-urlencoded"
OK, REDIRECT, LOST_LOGIN, TOO_MANY, TROUBLE = 200, 302, (401, 403), 429, 500


class Unreachable(Exception):
    """Nothing came that the site would answer, or it is in trouble."""


class Reloaded(Exception):
    """The page was closed and opened anew: what it knew is gone, what the browser kept is there."""


class GaveUp(Exception):
    """The work is over, and the server still does not take it."""


@dataclass
class Line:
    """The way to the site: several web servers, the next one where one refuses, as a proxy does it."""

    ports: list[int]
    headers: dict[str, str]
    at: int = 0
    connection: HTTPConnection | None = None

    def ask(self, path: str, body: str | None, content: str) -> tuple[int, str, bytes]:
        """Send a request; status, address of a redirection and body. Raises Unreachable."""
        for _ in self.ports:
            connection = self.connection or HTTPConnection("127.0.0.1", self.ports[self.at], timeout=TIMEOUT_S)
            try:
                if self.connection is None:
                    connection.connect()
                    self.connection = connection
            except OSError:  # nothing was sent
                self.at = (self.at + 1) % len(self.ports)
                continue
            try:
                method = "GET" if body is None else "POST"
                connection.request(method, path, body, {**self.headers, "Content-Type": content})
                answer = connection.getresponse()
                read = answer.status, answer.headers["Location"] or "", answer.read()
            except (OSError, HTTPException, ValueError, AttributeError) as error:
                self.hang_up()
                raise Unreachable from error
            if read[0] >= TROUBLE or read[0] == TOO_MANY:
                raise Unreachable
            return read
        raise Unreachable

    def hang_up(self) -> None:
        """Begin anew, with another server."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.at = (self.at + 1) % len(self.ports)

    def cut(self) -> bool:
        """Break the connection under whatever is on its way; tells whether there was one."""
        line = self.connection.sock if self.connection is not None else None
        if line is None:
            return False
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        return True


@dataclass
class Person:
    """Somebody at work until `over`, who then sends what is left until `until` at the latest (monotonic)."""

    job: dict[str, Any]
    ports: list[int]
    dice: random.Random
    over: threading.Event
    log: Log = field(default_factory=Log)
    until: float = float("inf")
    is_closed: bool = False

    def __post_init__(self) -> None:
        self.line = Line(self.ports, self.job["headers"])
        self.n_made = 0

    def new_id(self) -> str:
        """A name for an operation, as `newId` makes it."""
        self.n_made += 1
        return f"{self.dice.getrandbits(64):016x}{self.n_made:08x}"

    def close_page(self) -> None:
        """The page is closed, and opened again at once."""
        self.is_closed = True

    def rest(self, seconds: float) -> None:
        """Do nothing; shorter once the work is over."""
        self.over.wait(seconds * PACE * (0.5 + self.dice.random()))

    def insist(self, path: str, body: str | None, content: str) -> tuple[int, str, bytes]:
        """Send until there is an answer. Raises Reloaded where the page is closed meanwhile, GaveUp too late."""
        for attempt in range(1_000_000):
            if self.is_closed:
                self.is_closed = False
                self.line.hang_up()
                raise Reloaded
            if time.monotonic() > self.until:
                raise GaveUp
            try:
                status, location, answer = self.line.ask(path, body, content)
            except Unreachable:
                self.log.n_retries += 1
                time.sleep(min(8.0, 2.0**attempt) * PACE * (0.8 + 0.4 * self.dice.random()))
                continue
            if status in LOST_LOGIN:
                self.log.troubles.append(f"{status} for {path} of {self.job['name']}")
                time.sleep(5 * PACE)
                continue
            return status, location, answer
        raise GaveUp

    def work(self) -> None:
        """Everything that this person does."""
        raise NotImplementedError

    def run(self) -> None:
        """Work, and note what is left unsent, and what this client did not expect."""
        try:
            self.work()
        except GaveUp:
            self.log.unsent.append(f"{self.job['name']}: {self.left()}")
        except Exception as error:
            self.log.troubles.append(f"{self.job['name']}: {error!r}")

    def left(self) -> str:
        """What the browser still keeps, in words."""
        return "the page"
