"""Processes that a site or a part of it runs in: started, asked whether they answer, killed, frozen, ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
END_S = 30.0
ENDING = (signal.SIGTERM, signal.SIGHUP)


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
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


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
                    self.command,
                    cwd=self.folder,
                    env=self.environment,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
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
        if self.process is None:
            return
        self.thaw()
        with suppress(ProcessLookupError):
            self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=END_S)
        self.kill()

    def replace(self) -> None:
        """End it and start it again, as an update does."""
        if self.process is None:
            return
        self.end()
        self.start()

    def last_words(self) -> str:
        """The end of what it has written."""
        return f"{self.log.name}: {self.log.read_text(errors='replace')[-2000:]}" if self.log.exists() else ""


@contextmanager
def fake_model(delay_s: float, *, seed: int | None = None) -> Iterator[str]:
    """The address of a model that answers after so long; with a seed one answer in three is rubbish or fails."""
    more = [] if seed is None else [str(seed)]
    command = [sys.executable, "-m", "tests.fake_openai", str(delay_s), *more]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()
