"""The load generator: clients with a kept connection each, on the loopback, bounded in number and time.

`python -m bench.load` reads a job as JSON and prints what it saw. It imports no Django: on a machine
with few cores it must cost little.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

MAX_CLIENTS = 64
MAX_REQUESTS = 20_000
MAX_S = 120.0
TIMEOUT_S = 30.0
WARM_UP = 5
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
LINE = "- what several reports say of the crossing, with all that bears it out [3, 7, 12]\n"


class Connection:
    """One kept connection, as plain as can be."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; status and body of the answer."""
        wire = self._socket = self._socket or self._open()
        wire.sendall(request)
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            _receive(wire, received)
        head = bytes(received[:end])
        length = _LENGTH.search(head)
        wanted = end + 4 + (int(length[1]) if length else 0)
        while len(received) < wanted:
            _receive(wire, received)
        if _CLOSE.search(head):
            self.close()
        return int(head[9:12]), bytes(received[end + 4 :])

    def close(self) -> None:
        """Drop it; the next request opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open(self) -> socket.socket:
        wire = socket.create_connection(("127.0.0.1", self._port), timeout=TIMEOUT_S)
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return wire


def _receive(wire: socket.socket, into: bytearray) -> None:
    piece = wire.recv(262_144)
    if not piece:
        raise ConnectionError
    into += piece


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of a request."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        *(f"{name}: {text}" for name, text in headers.items()),
    ]
    if method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def draft_text(number: int) -> str:
    """A draft of about 2 KB that grows by half a line from save to save, and begins anew now and then."""
    return (LINE * 40)[: 1600 + number * 41 % 900]


@dataclass
class Client:
    """One client: what it asks for again and again, and what came of it."""

    job: dict[str, Any]
    connection: Connection
    latencies_ms: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    broken: int = 0
    received: int = 0
    rev: int = 0
    n_forms: int = 0

    def prepare(self) -> None:
        """Log nothing, warm up; a writer claims its session first."""
        if self.job["kind"] == "draft":
            body = json.dumps({"tab_id": "bench"}).encode()
            status, answer = self.connection.ask(request("POST", self.job["claim"], self.job["headers"], body))
            if status != 200:
                raise SystemExit(f"the session can't be claimed: {status} {answer[:500]!r}")
            self.rev = json.loads(answer)["rev"]
        for _ in range(WARM_UP):
            self.send()
        self.latencies_ms.clear()
        self.statuses.clear()

    def send(self) -> None:
        """One request, timed from its first byte to the last of its answer."""
        message = self._message()
        began = time.perf_counter()
        try:
            status, body = self.connection.ask(message)
        except (OSError, ValueError):
            self.connection.close()
            self.broken += 1
            return
        self.latencies_ms.append((time.perf_counter() - began) * 1000)
        self.statuses.append(status)
        self.received = len(body)
        if self.job["kind"] == "draft" and status == 200:
            self.rev = json.loads(body)["rev"]

    def _message(self) -> bytes:
        if self.job["kind"] == "get":
            return request("GET", self.job["path"], self.job["headers"])
        if self.job["kind"] == "forms":
            return self._form()
        data = {
            "tab_id": "bench",
            "op_id": f"{time.perf_counter_ns():x}-{self.rev}",
            "base_rev": self.rev,
            "text": draft_text(self.rev),
            "client_active_ms": 1000 * self.rev,
        }
        return request("POST", self.job["path"], self.job["headers"], json.dumps(data).encode())

    def _form(self) -> bytes:
        """The next of the job's forms, [path, fields], in turn and from the first again; each act is a new one."""
        path, fields = self.job["forms"][self.n_forms % len(self.job["forms"])]
        self.n_forms += 1
        body = f"{fields}&op_id={time.perf_counter_ns():x}-{self.n_forms}"
        return request("POST", path, self.job["headers"], body.encode())

    def work(self, start: threading.Barrier, until: float) -> None:
        """Send the requests of the job, one after the other, from the moment when all are ready."""
        start.wait()
        for _ in range(min(self.job["count"], MAX_REQUESTS)):
            if time.monotonic() > until:
                break
            self.send()


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Let all clients of a job work at once; see `stage.Load` for what it gives."""
    clients = [Client(each, Connection(job["port"])) for each in job["clients"][:MAX_CLIENTS]]
    for client in clients:
        client.prepare()
    start, until = threading.Barrier(len(clients) + 1), time.monotonic() + MAX_S
    threads = [threading.Thread(target=client.work, args=(start, until)) for client in clients]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - began
    statuses = [status for client in clients for status in client.statuses]
    return {
        "elapsed_s": elapsed,
        "latencies_ms": [ms for client in clients for ms in client.latencies_ms],
        "statuses": {str(status): statuses.count(status) for status in set(statuses)},
        "broken": sum(client.broken for client in clients),
        "received": max(client.received for client in clients),
    }


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
