"""A site to measure: a checkout with databases in a temporary folder, its processes and its server.

Everything that touches a database runs in processes of its own, so that the site's own data is out of reach.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).resolve().parents[1]
INSIDE = [sys.executable, str(ROOT / "bench" / "inside.py")]
WEB = (sys.executable, "-m", "gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi")
END_S, READY_S, GIVE_UP_S = 30.0, 120.0, 900.0
ENDING = (signal.SIGTERM, signal.SIGHUP)
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SUMMHAY_DATA", "VIRTUAL_ENV", "WEB_THREADS")
WORLDS = {"haystack": "empty", "demo": "haystack"}
"""What databases are made of, see `bench.world`: tables, then a haystack, then the demo and label work."""


@contextmanager
def ending_in_order() -> Iterator[None]:
    """A signal that ends this program raises SystemExit here, so that it ends what it has started, once only."""

    def end(number: int, _frame: object) -> None:
        for each in (*ENDING, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, end) for each in ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def answers(port: int, path: str = "/ready/") -> bool:
    """Whether a web server says here that it can serve requests."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection, suppress(OSError, HTTPException):
        connection.request("GET", path)
        return connection.getresponse().status == 200
    return False


@dataclass
class Member:
    """One process with its children, in a group of its own; `port` is where it listens, 0 if nowhere.

    `started` is an instant of the monotonic clock, and whoever waits until it answers may say how long that took.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    port: int = 0
    folder: Path = ROOT
    process: subprocess.Popen[bytes] | None = None
    is_frozen: bool = False
    started: float = 0.0
    ready_after_s: float = 0.0
    is_over: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Start it, unless it runs or is over."""
        with self._turn:
            if self.is_over or self.is_running():
                return
            with self.log.open("ab") as out:
                self.process = subprocess.Popen(  # noqa: S603 - our own programs
                    self.command, cwd=self.folder, env=self.environment, stdout=out, stderr=out,
                    start_new_session=True,
                )  # fmt: skip
            self.is_frozen, self.started = False, time.monotonic()

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def wait(self, path: str = "/ready/", *, within_s: float = READY_S) -> None:
        """Wait until it answers at this address. RuntimeError if it ends, or does not in this time."""
        until = time.monotonic() + within_s
        while not answers(self.port, path):
            if not self.is_running() or time.monotonic() > until:
                raise RuntimeError(f"{self.name} did not start: {self.last_words()}")
            time.sleep(0.01)
        self.ready_after_s = time.monotonic() - self.started

    def is_up(self) -> bool:
        """Whether it runs, is not frozen, and takes connections where it listens."""
        if not self.is_running() or self.is_frozen:
            return False
        with suppress(OSError):
            if self.port:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def children(self) -> list[int]:
        """The processes that it has forked."""
        with suppress(OSError, AttributeError):
            pid = self.process.pid  # type: ignore[union-attr]
            return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return []

    def cpu_s(self) -> float:
        """Processor time of it and its children so far; 0 where no system tells."""
        pids = [self.process.pid, *self.children()] if self.process is not None else []
        paths = [Path(f"/proc/{pid}/stat") for pid in pids]
        stats = [path.read_text().rpartition(")")[2].split() for path in paths if path.exists()]
        return sum(int(each[11]) + int(each[12]) for each in stats) / os.sysconf("SC_CLK_TCK")

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

    def end_for_good(self) -> None:
        """Kill it; nobody starts it again, as a thread might that is just about to."""
        with self._turn:
            self.is_over = True
        self.kill()

    def freeze(self) -> None:
        self.is_frozen = True
        self.signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal_all(signal.SIGCONT)
        self.is_frozen = False

    def end(self) -> None:
        """Let it end what it has begun; kill it where it does not end."""
        if self.process is not None:
            self.thaw()
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                self.process.terminate()
                self.process.wait(timeout=END_S)
            self.kill()

    def replace(self) -> None:
        """End it and start it again, as an update does."""
        self.end()
        self.start()

    def last_words(self) -> str:
        """The end of what it has written."""
        return f"{self.log.name}: {self.log.read_text(errors='replace')[-2000:]}" if self.log.exists() else ""


@contextmanager
def fake_model(delay_s: float, *, seed: int | None = None) -> Iterator[str]:
    """The address of a model that answers after so long; with a seed one answer in three is rubbish or fails."""
    command = [sys.executable, "-m", "tests.fake_openai", str(delay_s), *([] if seed is None else [str(seed)])]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured; targets are for the default.

    So many requests of each of so many clients at once; people who log in at once; summaries that are labelled;
    who work at once in the case `load`, and for how many seconds there and in `programs`.
    """

    requests: int = 250
    clients: int = 8
    people: int = 60
    summaries: int = 700
    crowd: int = 100
    seconds: int = 30


@dataclass
class Site:
    """One checkout and its databases; `database` is the one that its processes use now."""

    checkout: Path = ROOT
    size: Size = Size()
    database_url: str = ""
    say: Callable[[str], None] = lambda _: None
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="bench-")))
    database: str = ""
    _made: list[str] = field(default_factory=list)
    _worlds: dict[str, str] = field(default_factory=dict)

    def world(self, name: str) -> str:
        """The database of this world, made when first asked for."""
        if name not in self._worlds:
            source = self.world(WORLDS[name]) if name in WORLDS else ""
            self.database = self._new_database(source)
            self.say(f"{self.checkout.name}: making the world “{name}”")
            if source:
                self.call("bench.world", name, self.size.summaries)
            else:
                self.collect()
                self.run([sys.executable, "manage.py", "migrate", "--no-input", "-v0"])
            self._worlds[name] = self.database
        return self._worlds[name]

    def start_from(self, empty: Path, static: Path | None = None) -> None:
        """Work on a copy of a SQLite file that has all tables, and of the collected files if there are some."""
        if static is None:
            self.collect()
        else:
            shutil.copytree(static, self.folder / "static")
        self.database = self._new_database(f"sqlite:///{empty}")

    def collect(self) -> None:
        """Collect static files."""
        self.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"])

    @contextmanager
    def copy_of(self, source: str) -> Iterator[str]:
        """Work on a copy of a database for a while."""
        copied = self.database = self._new_database(source)
        yield copied
        self._drop(copied)

    def call(self, module: str, function: str, *arguments: object, **environment: str) -> Any:
        """Call a function of this package in a fresh process of the checkout; arguments and result are JSON."""
        with self.calling(**environment) as call:
            return call(module, function, *arguments)

    @contextmanager
    def calling(self, **environment: str) -> Iterator[Callable[..., Any]]:
        """Give what calls functions as `call` does, but all in one process. RuntimeError where one fails."""
        log = self.folder / f"calls-{token_hex(4)}.log"
        with log.open("w") as err, subprocess.Popen(  # noqa: S603 - our own program
            [*INSIDE, "call"], cwd=self.checkout, env={**self.environment, **environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
        ) as process:  # fmt: skip
            lines, answers = process.stdin, process.stdout

            def call(module: str, function: str, *arguments: object) -> Any:
                job = json.dumps({"module": module, "function": function, "arguments": arguments})
                print(job, file=lines, flush=True)
                answer = answers.readline() if answers else ""
                if not answer:
                    raise RuntimeError(f"{module} {function} failed:\n{log.read_text()[-4000:]}")
                return json.loads(answer)

            yield call

    def load(
        self, server: Member, clients: Sequence[Mapping[str, Any]], *, pace_s: float = 0, seconds: float = 0
    ) -> Any:
        """Let these clients work all at once, from a process of their own; see `bench.client.run`."""
        job = json.dumps({"port": server.port, "clients": clients, "pace_s": pace_s, "seconds": seconds})
        return json.loads(self.run([sys.executable, "-m", "bench.client"], job, folder=ROOT))

    @contextmanager
    def serve(self) -> Iterator[Member]:
        """The server as it is started in production, with the floor beside the site."""
        inside = [*INSIDE, "serve", "-c", "summhay_site/gunicorn.py", "bench.floor"]
        port, log = free_port(), self.folder / f"{token_hex(4)}.log"
        address = {"PORT": str(port), "HOST": "127.0.0.1"}
        server = Member("web", inside, self.environment | address, log, port, self.checkout)
        server.start()
        try:
            server.wait("/health/")
            yield server
        finally:
            server.end()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every process: production settings, data in the temporary folder."""
        inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
        ours = {"DATA_DIR": str(self.folder), "DATABASE_URL": self.database, "SECRET_KEY": "measured" * 8}
        return {**inherited, **ours, "LOG_LEVEL": "WARNING", "DJANGO_SETTINGS_MODULE": "summhay_site.settings"}

    def run(self, command: Sequence[str], stdin: str = "", *, folder: Path | None = None) -> str:
        """Run a program with this on its standard input; gives what it prints. RuntimeError if it fails."""
        done = subprocess.run(  # noqa: S603 - our own programs
            command, cwd=folder or self.checkout, env=self.environment, input=stdin, capture_output=True,
            text=True, timeout=GIVE_UP_S, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command[1:4])} {stdin[:200]} failed:\n{done.stderr[-4000:]}")
        return done.stdout

    def close(self, *, keep_folder: bool = False) -> None:
        """Remove everything, or all but the folder with its logs and, of SQLite, the databases."""
        for url in list(self._made):
            if not keep_folder or self.database_url:
                self._drop(url)
        if not keep_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _new_database(self, source: str) -> str:
        """Make an empty database or a copy of this one; gives its address."""
        name = f"bench_{token_hex(6)}"
        if self.database_url:
            template = f' TEMPLATE "{urlsplit(source).path[1:]}"' if source else ""
            self._on_server(f'CREATE DATABASE "{name}"{template}')
            url = urlsplit(self.database_url)._replace(path=f"/{name}").geturl()
        else:
            url = f"sqlite:///{self.folder / name}.sqlite3"
            if source:
                with closing(sqlite3.connect(source[10:])) as old, closing(sqlite3.connect(url[10:])) as new:
                    old.backup(new)
        self._made.append(url)
        return url

    def _drop(self, url: str) -> None:
        self._made.remove(url)
        if self.database_url:
            self._on_server(f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')
        else:
            Path(url[10:]).unlink(missing_ok=True)

    def _on_server(self, statement: str) -> None:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(statement.encode())
