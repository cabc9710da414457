"""The processes of a site: each can be killed, frozen and started again, as a whole or one of its children."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from bench.site import ROOT, Site

READY_S, TRY_EVERY_S = 180.0, 0.25
QUEUES = {
    "worker": "summhay-short,summhay-imports",
    "figures": "summhay-figures",
    "models": "summhay-models",
}


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass
class Member:
    """One process with its children, in a group of its own; `port` is where it listens, 0 if nowhere."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    is_frozen: bool = False
    started: float = 0.0

    def start(self) -> None:
        """Start it, unless it runs."""
        if self.is_running():
            return
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(  # noqa: S603 - our own programs
                self.command, cwd=ROOT, env=self.environment, stdout=out, stderr=out, start_new_session=True
            )
        self.is_frozen, self.started = False, time.monotonic()

    def is_running(self) -> bool:
        """Whether there is such a process."""
        return self.process is not None and self.process.poll() is None

    def is_up(self) -> bool:
        """Whether it runs, is not frozen, and takes connections where it listens."""
        if not self.is_running() or self.is_frozen:
            return False
        if not self.port:
            return True
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def children(self) -> list[int]:
        """The processes that it has forked."""
        with suppress(OSError, AttributeError):
            pid = self.process.pid  # type: ignore[union-attr]
            return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return []

    def signal_all(self, number: int) -> None:
        """Send a signal to it and its children."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End it as a cut of power does."""
        self.signal_all(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def freeze(self) -> None:
        self.is_frozen = True
        self.signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal_all(signal.SIGCONT)
        self.is_frozen = False

    def replace(self) -> None:
        """Let it end what it has begun, as an update does, and start it again; kill it where it does not end."""
        if self.process is None:
            return
        self.thaw()
        with suppress(ProcessLookupError):
            self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=30)
        self.kill()
        self.start()


@dataclass
class Crew:
    """Two web servers, a worker for each kind of queue, beat, and Redis where this machine has it.

    On PostgreSQL and Redis each process has a data folder of its own, as if it ran on a machine of its own.
    """

    site: Site
    model: str
    members: dict[str, Member] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        broker: dict[str, str] = {}
        if redis := shutil.which("redis-server"):
            port = free_port()
            command = [
                redis,
                "--port",
                str(port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--dir",
                str(self.site.folder),
            ]
            self._add("broker", command, {}, port)
            broker = {"CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0"}
        shared = self.shared = broker | {"OPENAI_BASE_URLS": self.model, "LOG_LEVEL": "WARNING"}
        for name in ("web-1", "web-2"):
            port = free_port()
            gunicorn = ["-m", "gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi"]
            self._add(name, [sys.executable, *gunicorn], shared | {"PORT": str(port), "HOST": "127.0.0.1"}, port)
        celery = [sys.executable, "-m", "celery", "-A", "summhay_site"]
        for name, queues in QUEUES.items():
            self._add(name, [*celery, "worker", "-n", f"{name}@chaos", "-Q", queues, "--concurrency", "1"], shared)
        schedule = ["--schedule", str(self.site.folder / "beat"), "--pidfile="]
        self._add("beat", [*celery, "beat", *schedule], shared)

    def _add(self, name: str, command: Sequence[str], more: Mapping[str, str], port: int = 0) -> None:
        folder = self.site.folder
        environment = {**self.site.environment, **more}
        if self.site.database_url and "CELERY_BROKER_URL" in more:
            environment |= {"DATA_DIR": str(folder / name), "STATIC_ROOT": str(folder / "static")}
        self.members[name] = Member(name, command, environment, folder / f"{name}.log", port)

    @property
    def ports(self) -> list[int]:
        """Where the web servers listen."""
        return [member.port for name, member in self.members.items() if name.startswith("web")]

    def start(self) -> None:
        """Thaw and start whatever is not up, and wait for the web servers. RuntimeError if they never answer."""
        for member in self.members.values():
            member.thaw()
            member.start()
        until = time.monotonic() + READY_S
        while not all(answers(port) for port in self.ports):
            if time.monotonic() > until:
                raise RuntimeError("the site does not answer: " + self.last_words())
            time.sleep(TRY_EVERY_S)

    def stop(self) -> None:
        """End everything."""
        for member in self.members.values():
            member.kill()

    def last_words(self) -> str:
        """The end of what each process has written."""
        logs = [member.log for member in self.members.values() if member.log.exists()]
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-600:]}" for log in logs)


def answers(port: int) -> bool:
    """Whether a web server says that it can serve requests."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ready/")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
