"""The processes of a site that is disturbed."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.processes import Member, answers, free_port
from bench.site import Site

READY_S, TRY_EVERY_S = 180.0, 0.25
QUEUES = {
    "worker": "summhay-short,summhay-imports",
    "figures": "summhay-figures",
    "models": "summhay-models",
}


@dataclass
class Crew:
    """Two web servers, a worker for each kind of queue or one for all, beat, and Redis where this machine has it.

    On PostgreSQL and Redis each process has a data folder of its own, as if it ran on a machine of its own.
    """

    site: Site
    model: str
    has_one_worker: bool = False
    members: dict[str, Member] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        broker: dict[str, str] = {}
        if redis := shutil.which("redis-server"):
            port = free_port()
            at = ["--port", str(port), "--bind", "127.0.0.1"]
            self._add("broker", [redis, *at, "--save", "", "--dir", str(self.site.folder)], {}, port)
            broker = {"CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0"}
        shared = self.shared = broker | {"OPENAI_BASE_URLS": self.model, "LOG_LEVEL": "WARNING"}
        for name in ("web-1", "web-2"):
            port = free_port()
            gunicorn = ["-m", "gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi"]
            self._add(name, [sys.executable, *gunicorn], shared | {"PORT": str(port), "HOST": "127.0.0.1"}, port)
        celery = [sys.executable, "-m", "celery", "-A", "summhay_site"]
        queues_of = {"worker": ",".join(QUEUES.values())} if self.has_one_worker else QUEUES
        for name, queues in queues_of.items():
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

    def start_broker(self) -> None:
        """Start Redis where this machine has it; it keeps what is sent until there are workers."""
        if "broker" in self.members:
            self.members["broker"].start()

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
        """End everything for good."""
        for member in self.members.values():
            member.end_for_good()

    def last_words(self) -> str:
        """The end of what each process has written."""
        return "\n".join(member.last_words() for member in self.members.values())
