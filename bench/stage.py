"""Where measurements happen: a temporary folder and database, a production server on it, and a load generator.

Everything that touches the database runs in processes of its own, so that the site's own data is out of reach.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

from bench import scene
from bench.cases import Unmeasurable, medians

ROOT = Path(__file__).resolve().parents[1]
READY_S = 30.0
GIVE_UP_S = 600.0
PRODUCTION = "summhay_site.wsgi"
WITH_FLOOR = "bench.wsgi"
BARE = "bench.bare_wsgi"
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: requests of each client, repetitions of which the median counts, clients at once."""

    requests: int = 250
    rounds: int = 3
    clients: int = 8


@dataclass
class Server:
    """A running gunicorn; `started_s` is how long it took to start."""

    process: subprocess.Popen[bytes]
    port: int
    started_s: float
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def pss_mib(self) -> float:
        """Memory of master and workers in MiB; pages that they share are counted once."""
        total = 0
        for pid in [self.process.pid, *_children(self.process.pid)]:
            try:
                rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            except OSError as error:
                raise Unmeasurable("this system does not tell the memory of a process (smaps_rollup)") from error
            total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
        return total / 1024

    def cpu_s(self) -> float:
        """Processor time of master and workers so far, in seconds."""
        ticks = 0
        for pid in [self.process.pid, *_children(self.process.pid)]:
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError as error:
                raise Unmeasurable("this system does not tell the processor time of a process (stat)") from error
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def count_in_log(self, words: str) -> int:
        """How often the server complained so."""
        return self.log.read_text(errors="replace").count(words)

    def stop(self) -> None:
        """Stop it, by force if it does not listen."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@dataclass
class Stage:
    """One run of measurements; `close` removes all of it."""

    effort: Effort
    database_url: str = ""
    say: Callable[[str], None] = lambda _: None
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="bench-")))
    _server: Server | None = None
    _has_static_files: bool = False
    _kept: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def environment(self) -> dict[str, str]:
        """The environment of every process here: production settings, data in the temporary folder."""
        ours = {
            "DATA_DIR": str(self.folder),
            "DATABASE_URL": self._kept.enter_context(self._empty_database()),
            "LOG_LEVEL": "WARNING",
        }
        kept = (
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "TMPDIR",
            "SUMMHAY_DATA",
            "CHROMIUM",
            "VIRTUAL_ENV",
            "WEB_THREADS",
            "SWITCH",
        )
        inherited = {name: os.environ[name] for name in kept if name in os.environ}
        return {**inherited, **ours, "DJANGO_SETTINGS_MODULE": "summhay_site.settings"}

    @cached_property
    def scene(self) -> dict[str, Any]:
        """Haystack, people and running sessions in the database, as `scene.prepare` gave them."""
        self.say("preparing the database")
        self.manage("migrate", "--no-input", "-v0")
        return self.elsewhere(scene.prepare, self.effort.clients)

    @property
    def server(self) -> Server:
        """The site with the floor beside it, started when first asked for."""
        if self._server is None:
            _ = self.scene
            self.static_files()
            self._server = self.start_server(WITH_FLOOR)
        return self._server

    def static_files(self) -> None:
        if not self._has_static_files:
            self.manage("collectstatic", "--no-input", "-v0")
            self._has_static_files = True

    def start_server(self, application: str) -> Server:
        """Start gunicorn with the configuration of production and wait for its first answer."""
        port = _free_port()
        log = self.folder / f"server-{port}.log"
        command = [str(Path(sys.executable).parent / "gunicorn"), "-c", "summhay_site/gunicorn.py", application]
        environment = {**self.environment, "PORT": str(port), "HOST": "127.0.0.1"}
        with log.open("wb") as out:
            began = time.perf_counter()
            process = subprocess.Popen(  # noqa: S603 - our own program
                command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT
            )
        server = Server(process=process, port=port, started_s=0.0, log=log)
        while not _answers(port):
            if process.poll() is not None or time.perf_counter() - began > READY_S:
                server.stop()
                raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.002)
        server.started_s = time.perf_counter() - began
        return server

    @contextmanager
    def another_server(self, application: str) -> Iterator[Server]:
        """A server for a moment."""
        server = self.start_server(application)
        try:
            yield server
        finally:
            server.stop()

    def manage(self, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        """Run a management command on the temporary database."""
        self._run([sys.executable, "manage.py", *arguments], environment=environment)

    def run_module(
        self,
        name: str,
        *,
        job: Mapping[str, Any],
        cpus: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Any:
        """Run a module of this package in a process of its own; gives the JSON that it prints last."""
        command = [sys.executable, "-m", f"bench.{name}"]
        return json.loads(self._run(command, job=job, cpus=cpus, environment=environment).strip().splitlines()[-1])

    def elsewhere(
        self,
        function: Callable[..., R],
        *arguments: object,
        cpus: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> R:
        """Call a function of this package in a process of its own, where it may use the temporary database.

        Its arguments and what it returns travel as JSON.
        """
        job = {"module": function.__module__, "function": function.__name__, "arguments": arguments}
        returned: R = self.run_module("elsewhere", job=job, cpus=cpus, environment=environment)
        return returned

    def alone(
        self,
        function: Callable[..., R],
        *arguments: object,
        cpus: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> R:
        """The same on a database of its own."""
        with self.fresh_database() as database:
            return self.elsewhere(function, *arguments, cpus=cpus, environment={**(environment or {}), **database})

    @contextmanager
    def fresh_database(self) -> Iterator[dict[str, str]]:
        """One more database with tables and no rows, soon gone; gives the environment that names it."""
        with self._empty_database() as url:
            database = {"DATABASE_URL": url}
            self.manage("migrate", "--no-input", "-v0", environment=database)
            yield database

    @contextmanager
    def _empty_database(self) -> Iterator[str]:
        """The address of one more database, empty and soon gone."""
        name = f"bench_{uuid4().hex[:12]}"
        if not self.database_url:
            yield f"sqlite:///{self.folder / name}.sqlite3"
            return
        self._on_server(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(self.database_url)._replace(path=f"/{name}").geturl()
        finally:
            self._on_server(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def load(self, clients: Sequence[Mapping[str, Any]], *, server: Server | None = None) -> Load:
        """Let these clients send their requests all at once, from a process of their own."""
        job = {"port": (server or self.server).port, "clients": list(clients)}
        return Load(**self.run_module("load", job=job))

    def rounds(self, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Measure as often as asked; medians."""
        return medians(measure() for _ in range(self.effort.rounds))

    def close(self) -> None:
        """Stop the server and remove everything."""
        if self._server is not None:
            self._server.stop()
        self._kept.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(
        self,
        command: Sequence[str],
        *,
        job: Mapping[str, Any] | None = None,
        cpus: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> str:
        done = subprocess.run(  # noqa: S603 - our own programs
            command,
            cwd=ROOT,
            env={**self.environment, **(environment or {})},
            input=json.dumps(job).encode() if job is not None else b"",
            capture_output=True,
            timeout=GIVE_UP_S,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command[1:4])} failed:\n{done.stderr.decode(errors='replace')[-4000:]}")
        return done.stdout.decode()

    def _on_server(self, statement: str) -> None:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(statement.encode())


@dataclass(frozen=True, slots=True)
class Load:
    """What the load generator saw."""

    elapsed_s: float
    latencies_ms: list[float]
    statuses: dict[str, int]
    broken: int
    received: int

    @property
    def per_second(self) -> float:
        """Answers a second, all clients together."""
        return len(self.latencies_ms) / self.elapsed_s

    def checked(self) -> Load:
        """The same, if all went well: a floor that answers errors is no floor."""
        if self.failures:
            raise RuntimeError(f"the floor did not hold: {self.statuses}, {self.broken} broken")
        return self

    @property
    def failures(self) -> int:
        """Answers other than 200, and connections that broke."""
        return self.broken + sum(count for status, count in self.statuses.items() if status != "200")


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in tasks.read_text().split()] if tasks.exists() else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
