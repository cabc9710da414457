"""Everything for a first look: migrate, load the demo, serve it with workers."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.engine.data_folder import data_folder
from summhay_site.demo import player

READY_SECONDS = 180
STOPPED = "A process stopped; its message is above, or in worker.log of the data folder."


class Command(BaseCommand):
    help = "Migrates, loads the demo, serves it, and prints address and logins. Stop it with Ctrl+C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, load the demo and serve it until stopped."""
        port = self.free_port(options["port"])
        with only_one(port):
            self._serve(port)

    def _serve(self, port: int) -> None:
        call_command("migrate", verbosity=0)
        call_command("load_demo", stdout=self.stdout, logins=False)
        call_command("collectstatic", interactive=False, verbosity=0)
        processes = _start(port)
        try:
            _wait_until_ready(port, processes)
            self.stdout.write(
                f"\nServing on http://127.0.0.1:{port}/   Stop it with Ctrl+C.\n\n{player.login_table()}"
            )
            self.stdout.flush()
            _watch(processes)
        except KeyboardInterrupt:
            self.stdout.write("\nStopping.")
        finally:
            _stop(processes)

    def free_port(self, wanted: int) -> int:
        """The first port from this one on that nobody uses; says so where it is another."""
        for port in range(wanted, wanted + 20):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
                if port != wanted:
                    self.stdout.write(f"Port {wanted} is taken by another program; this site gets {port}.")
                return port
        raise CommandError(f"No free port from {wanted} on; give another with --port.")


@contextmanager
def only_one(port: int) -> Iterator[None]:
    """Let no second demo run on the same data, whose workers would take this one's work. Raises `CommandError`."""
    with (data_folder() / "demo.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CommandError(
                f"The demo runs already, on http://127.0.0.1:{file.read()}/. Stop it there, or name another "
                "folder for this one: DATA_DIR=FOLDER."
            ) from None
        file.truncate(0)
        file.write(str(port))
        file.flush()
        yield


def _start(port: int) -> list[subprocess.Popen[bytes]]:
    """Start the web server, a worker for models, and one for the rest, which also keeps the beat."""
    environment = {"LOG_LEVEL": "WARNING", **os.environ, "PORT": str(port), "HOST": "127.0.0.1"}
    python = [sys.executable, "-m"]
    web = [
        *python,
        "gunicorn",
        "-c",
        "python:summhay_site.gunicorn",
        "--log-level",
        "warning",
        "summhay_site.wsgi",
    ]
    worker = [*python, "celery", "-A", "summhay_site", "worker", "--pool", "solo"]
    quick = [*worker, "-n", "worker@%h", "-Q", f"{settings.SHORT},{settings.FIGURES},{settings.IMPORTS}", "--beat"]
    models = [*worker, "-n", "models@%h", "-Q", settings.MODELS]
    with (data_folder() / "worker.log").open("ab") as log:
        return [
            subprocess.Popen(  # noqa: S603
                command, cwd=settings.BASE_DIR, env=environment, start_new_session=True, stdout=out, stderr=out
            )
            for command, out in ((web, None), (quick, log), (models, log))
        ]


def _wait_until_ready(port: int, processes: list[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if any(process.poll() is not None for process in processes):
            raise CommandError(STOPPED)
        try:
            with urlopen(f"http://127.0.0.1:{port}/health/", timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise CommandError(f"The server did not answer within {READY_SECONDS} s.")


def _watch(processes: list[subprocess.Popen[bytes]]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    while all(process.poll() is None for process in processes):
        time.sleep(0.5)
    raise CommandError(STOPPED)


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for repeated in (signal.SIGTERM, signal.SIGINT):  # make passes on what the terminal has sent already
        signal.signal(repeated, signal.SIG_IGN)
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
