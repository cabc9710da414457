"""The morning: many people log in at once while others save. `python -m bench.rush` reads a job as JSON.

A client does what the page does: told that too many passwords are being checked, it waits and sends the form
again. Like `bench.load` it imports no Django.
"""

from __future__ import annotations

import json
import random
import secrets
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

from bench.load import MAX_CLIENTS, MAX_S, TIMEOUT_S, Client, Connection

BUSY = 503
SAVE_EVERY_S = 0.5
"""Eight clients at this pace send what some sixty writers do."""


@dataclass
class Person:
    """Somebody who logs in, until they are in or the time is over."""

    port: int
    username: str
    password: str
    in_after_s: float | None = None
    statuses: list[int] = field(default_factory=list)

    def log_in(self, start: threading.Barrier, until: float) -> None:
        """Send the form, again after each wait that the server asks for."""
        token = secrets.token_hex(16)
        headers = {
            "Cookie": f"csrftoken={token}",
            "X-CSRFToken": token,
            "HX-Request": "true",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        body = urlencode({"username": self.username, "password": self.password})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        start.wait()
        began = time.monotonic()
        while time.monotonic() < until:
            wait_s = self._send(connection, body, headers)
            if wait_s is None:
                if self.statuses[-1] == 0:
                    continue
                break
            time.sleep(wait_s * (1 + random.random()))  # noqa: S311 - as the page does, so that not all come at once
        if self.statuses and self.statuses[-1] in {200, 302}:
            self.in_after_s = time.monotonic() - began
        connection.close()

    def _send(self, connection: HTTPConnection, body: str, headers: dict[str, str]) -> float | None:
        """One try; how long to wait before the next, None where there is none to make."""
        try:
            connection.request("POST", "/login/", body, headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, HTTPException):
            connection.close()
            self.statuses.append(0)
            return 1.0
        if answer.status == 200 and "HX-Redirect" not in answer.headers:
            self.statuses.append(400)  # the form again: the password was refused
            return None
        self.statuses.append(answer.status)
        return float(answer.headers.get("Retry-After", 1)) if answer.status == BUSY else None


def _save(client: Client, start: threading.Barrier, is_over: threading.Event) -> None:
    start.wait()
    while not is_over.wait(SAVE_EVERY_S * (0.5 + random.random())):  # noqa: S311 - so that they do not keep step
        client.send()


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Let people log in, and writers save beside them; what both saw."""
    until, is_over = time.monotonic() + MAX_S, threading.Event()
    people = [Person(job["port"], *each) for each in job["people"][:MAX_CLIENTS]]
    writers = [Client(each, Connection(job["port"])) for each in job["writers"]]
    for writer in writers:
        writer.prepare()
    start = threading.Barrier(len(people) + len(writers))
    saving = [threading.Thread(target=_save, args=(writer, start, is_over)) for writer in writers]
    coming = [threading.Thread(target=person.log_in, args=(start, until)) for person in people]
    for thread in [*saving, *coming]:
        thread.start()
    for thread in coming:
        thread.join()
    is_over.set()
    for thread in saving:
        thread.join()
    saved = [status for writer in writers for status in writer.statuses]
    return {
        "in_after_s": sorted(person.in_after_s for person in people if person.in_after_s is not None),
        "tries": [len(person.statuses) for person in people],
        "refused": sum(status not in {200, 302, BUSY} for person in people for status in person.statuses),
        "save_ms": [ms for writer in writers for ms in writer.latencies_ms],
        "saves_failed": sum(status != 200 for status in saved) + sum(writer.broken for writer in writers),
    }


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
