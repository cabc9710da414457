"""The load generator: `python -m bench.client` reads a job as JSON and prints what its clients saw.

Each client has one kept connection on the loopback. It imports no Django: on a machine with few cores it must cost
little.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPMessage
from threading import Barrier, Event
from typing import Any

TIMEOUT_S, GIVE_UP_S, WARM_UP = 30.0, 120.0, 5
BROKEN, OK, REDIRECT, BUSY = 0, 200, 302, 503
LINE = "- what several reports say of the crossing, with all that bears it out [3, 7, 12]\n"


def draft_text(number: int) -> str:
    """A draft of about 2 KB that grows by half a line from save to save, and begins anew now and then."""
    return (LINE * 40)[: 1600 + number * 41 % 900]


@dataclass
class Client:
    """One client: its requests, and what came of them.

    Its job names `requests`, each [path, form or None], taken in turn; or the `page` of a session whose draft it
    saves; or the `login` of somebody who sends the form again whenever the server asks to wait.
    """

    connection: HTTPConnection
    job: dict[str, Any]
    times_ms: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    n_sent: int = 0
    rev: int = 0
    in_after_s: float | None = None

    def prepare(self) -> None:
        """Claim the session, and send some requests that do not count."""
        if "page" in self.job:
            self.rev = json.loads(self.ask(f"{self.job['page']}claim/", '{"tab_id": "bench"}')[2])["rev"]
        if "login" not in self.job:
            for _ in range(WARM_UP):
                self.send()
        self.times_ms.clear()
        self.statuses.clear()

    def work(self, start: Barrier, is_over: Event, pace_s: float) -> None:
        """Log in; or send so many requests, or as many as there is time for at this pace or its own."""
        pace_s = self.job.get("pace_s", pace_s)
        start.wait()
        if "login" in self.job:
            self.log_in()
        for _ in range(self.job.get("count", 0)):
            pause = pace_s * (0.5 + random.random())  # noqa: S311 - so that they do not keep step
            if pace_s and is_over.wait(pause):
                break
            self.send()

    def send(self) -> None:
        """One request, timed from its first byte to the last of its answer."""
        self.n_sent += 1
        operation = f"{time.perf_counter_ns():x}-{self.n_sent}"
        if "page" in self.job:
            draft = {"text": draft_text(self.rev), "base_rev": self.rev, "client_active_ms": 1000 * self.rev}
            path, body = f"{self.job['page']}draft/", json.dumps({"tab_id": "bench", "op_id": operation, **draft})
        else:
            path, form = self.job["requests"][self.n_sent % len(self.job["requests"])]
            body = form and f"{form}&op_id={operation}"
        began = time.perf_counter()
        status, _headers, answer = self.ask(path, body)
        self.times_ms.append((time.perf_counter() - began) * 1000)
        self.statuses.append(status)
        if "page" in self.job and status == OK:
            self.rev = json.loads(answer)["rev"]

    def log_in(self) -> None:
        """Send the form until the server lets them in or refuses."""
        began = time.monotonic()
        while time.monotonic() < began + GIVE_UP_S:
            status, headers, _body = self.ask("/login/", self.job["login"])
            self.statuses.append(status)
            if status == REDIRECT or "HX-Redirect" in headers:
                self.in_after_s = time.monotonic() - began
            if status not in {BUSY, BROKEN}:
                return
            time.sleep(float(headers["Retry-After"] or 1) * (1 + random.random()))  # noqa: S311 - as the page does

    def ask(self, path: str, body: str | None = None) -> tuple[int, HTTPMessage, bytes]:
        """Send a request; status, headers and body of the answer."""
        try:
            self.connection.request("GET" if body is None else "POST", path, body, self.job["headers"])
            answer = self.connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, HTTPException):
            self.connection.close()
            return BROKEN, HTTPMessage(), b""


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Let all clients work at once; with a pace, until all who log in have done so and the seconds are over."""
    port, pace_s = job["port"], job["pace_s"]
    clients = [Client(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S), each) for each in job["clients"]]
    early = [client for client in clients if "login" in client.job]
    others = [client for client in clients if "login" not in client.job]
    for client in clients:
        client.prepare()
    start, is_over = Barrier(len(clients) + 1), Event()
    with ThreadPoolExecutor(len(clients)) as pool:
        futures = [pool.submit(client.work, start, is_over, pace_s) for client in [*early, *others]]
        start.wait()
        began = time.perf_counter()
        wait(futures[: len(early)])
        wait(futures, timeout=job["seconds"])
        is_over.set()
    by_kind = defaultdict[str, list[float]](list)
    for client in others:
        by_kind[client.job.get("kind", "")] += client.times_ms
    return {
        "seconds": time.perf_counter() - began,
        "times_ms": [ms for client in others for ms in client.times_ms],
        "by_kind": by_kind,
        "failures": sum(status != OK for client in others for status in client.statuses),
        "in_after_s": [client.in_after_s for client in early if client.in_after_s is not None],
        "refused": sum(client.in_after_s is None for client in early),
        "n_forms": sum(len(client.statuses) for client in early),
    }


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
