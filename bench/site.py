"""A site to measure: a checkout with databases in a temporary folder, its processes and its server.

Everything that touches a database runs in processes of its own, so that the site's own data is out of reach.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.processes import ROOT, Member, answers, free_port

PROCESSES = ("supervisord.conf", "Procfile")
"""What names the processes of a site; older checkouts have the second."""
READY_S, GIVE_UP_S = 120.0, 900.0
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SUMMHAY_DATA", "VIRTUAL_ENV", "WEB_THREADS")
WORLDS = {"empty": "", "haystack": "empty", "demo": "haystack"}
"""What databases are made of, see `bench.world`: tables, then a haystack, then the demo and label work."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured; targets are for the default."""

    requests: int = 250
    rounds: int = 3
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
            source = WORLDS[name] and self.world(WORLDS[name])
            self.database = self._new_database(source)
            self.say(f"{self.checkout.name}: making the world “{name}”")
            if source:
                self.call("bench.world", name, str(self.folder), self.size.summaries)
            else:
                self.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"])
                self.run([sys.executable, "manage.py", "migrate", "--no-input", "-v0"])
            self._worlds[name] = self.database
        return self._worlds[name]

    def start_from(self, empty: Path, static: Path | None = None) -> None:
        """Work on a copy of a SQLite file that has all tables, and of the collected files if there are some."""
        if static is None:
            self.run([sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"])
        else:
            shutil.copytree(static, self.folder / "static")
        self.database = self._new_database(f"sqlite:///{empty}")

    @contextmanager
    def copy_of(self, source: str) -> Iterator[str]:
        """Work on a copy of a database for a while."""
        copied = self.database = self._new_database(source)
        yield copied
        self._drop(copied)

    def call(self, module: str, function: str, *arguments: object, **environment: str) -> Any:
        """Call a function of this package in a fresh process of the checkout; arguments and result are JSON."""
        job = json.dumps({"module": module, "function": function, "arguments": arguments})
        inside = [sys.executable, str(ROOT / "bench" / "inside.py"), "call"]
        return json.loads(self.run(inside, job, environment=environment).strip().splitlines()[-1])

    @contextmanager
    def calling(self, **environment: str) -> Iterator[Callable[..., Any]]:
        """Give what calls functions as `call` does, but all in one process. Nothing that they do may print."""
        inside, log = [sys.executable, str(ROOT / "bench" / "inside.py"), "call"], self.folder / "calls.log"
        with log.open("w") as err, subprocess.Popen(  # noqa: S603 - our own program
            inside, cwd=self.checkout, env={**self.environment, **environment}, text=True,
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
        [names, *_older] = [path for name in PROCESSES if (path := self.checkout / name).exists()]
        settings = re.findall(r"gunicorn -c (\S+)", names.read_text())[0]
        inside = [sys.executable, str(ROOT / "bench" / "inside.py"), "serve", "-c", settings, "bench.floor"]
        port, log = free_port(), self.folder / f"{token_hex(4)}.log"
        address = {"PORT": str(port), "HOST": "127.0.0.1"}
        server = Member("web", inside, self.environment | address, log, port, self.checkout)
        server.start()
        try:
            while not answers(port, "/health/"):
                if not server.is_running() or time.monotonic() - server.started > READY_S:
                    raise RuntimeError(f"the server did not start: {server.last_words()}")
                time.sleep(0.002)
            server.ready_after_s = time.monotonic() - server.started
            yield server
        finally:
            server.end()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every process: production settings, data in the temporary folder."""
        inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
        ours = {"DATA_DIR": str(self.folder), "DATABASE_URL": self.database, "SECRET_KEY": "measured" * 8}
        return {**inherited, **ours, "LOG_LEVEL": "WARNING", "DJANGO_SETTINGS_MODULE": "summhay_site.settings"}

    def run(
        self,
        command: Sequence[str],
        stdin: str = "",
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> str:
        """Run a program with this on its standard input; gives what it prints. RuntimeError if it fails."""
        done = subprocess.run(  # noqa: S603 - our own programs
            command, cwd=folder or self.checkout, env={**self.environment, **(environment or {})}, input=stdin,
            capture_output=True, text=True, timeout=GIVE_UP_S, check=False,
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
