"""What admins and their tools see of a running site: readiness, numbers, log lines, reported errors."""

import gzip
import importlib
import json
import logging
import re
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.urls import get_resolver, reverse
from gunicorn.config import Config

from summhay_site import env, gunicorn
from summhay_site.operations import system
from summhay_site.serving import health
from summhay_site.serving.logs import OPENING_PATHS, JsonLines, formatter
from tests.verbs import python, site_in

ALL_WELL = {"ok": True, "database": True, "migrations": True, "broker": True}


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    health._was_migrated.clear()
    yield
    health._was_migrated.clear()


def _wait(probe: health.Probe) -> None:
    while probe._asked_at is not None:
        time.sleep(0.01)


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The answers to the three questions, to be replaced by a test."""
    answers: dict[str, Any] = dict.fromkeys(("database", "migrations", "broker"), lambda: None)
    made = {name: health.Probe(name, lambda name=name: answers[name]()) for name in answers}
    for attribute, name in (("_probe", "database"), ("_migrations", "migrations"), ("_broker", "broker")):
        monkeypatch.setattr(health, attribute, made[name])
    yield answers
    for probe in made.values():
        _wait(probe)


def test_ready_says_what_does_not_answer(client: Client, probes: dict[str, Any]) -> None:
    def broken() -> None:
        raise OperationalError("gone")

    assert client.get("/ready/").json() == ALL_WELL
    for name in ("database", "migrations"):
        probes[name] = broken
        answer = client.get("/ready", headers={"host": "any.name.example"})
        assert answer.status_code == 503
        assert answer.json() == ALL_WELL | {"ok": False, name: False}
        probes[name] = lambda: None
    probes["broker"] = broken
    answer = client.get("/ready/")
    assert (answer.status_code, answer.json()) == (200, ALL_WELL | {"broker": False})


def test_ready_is_answered_within_two_seconds_though_nothing_else_answers(
    client: Client, probes: dict[str, Any]
) -> None:
    over = threading.Event()
    probes.update(dict.fromkeys(probes, lambda: over.wait(20) and None))
    began = time.monotonic()
    answer = client.get("/ready/")
    assert time.monotonic() - began < 2
    assert answer.status_code == 503
    assert not any(answer.json().values())
    over.set()


@pytest.mark.django_db
@pytest.mark.every_database
def test_a_migration_that_was_not_applied_is_named() -> None:
    assert health.missing_migrations() == []
    MigrationRecorder.Migration.objects.filter(app="annotation", name="0002_release_0_3_0").delete()
    assert "annotation.0002_release_0_3_0" in health.missing_migrations()
    with pytest.raises(health.NotMigrated, match="was not applied"):
        health._ask_migrations()


NETWORKS = [ip_network("10.0.0.0/8"), ip_network("127.0.0.1")]


@pytest.mark.django_db
@pytest.mark.every_database
def test_metrics_are_for_the_networks_of_admins_and_nobody_else(settings, eve, now) -> None:
    assert Client().get("/metrics/").status_code == 404, "off unless a network is named"
    settings.METRICS_NETWORKS = NETWORKS
    assert Client(REMOTE_ADDR="203.0.113.9").get("/metrics/").status_code == 404
    admin = Client(REMOTE_ADDR="203.0.113.9")
    admin.force_login(eve, "summhay_site.authentication.AccountBackend")
    assert admin.get("/metrics/").status_code == 404
    system.record_heartbeat(name="worker@one", now=now, queues=["summhay-short"])
    client = Client(REMOTE_ADDR="10.1.2.3", headers={"host": "10.1.2.9:8000"})
    client.get(reverse("login"), headers={"host": "localhost"})
    text = client.get("/metrics").content.decode()
    assert re.search(r'^summhay_worker_silent_seconds\{worker="worker@one"\} \d', text, re.MULTILINE)
    assert "summhay_runs_unfinished 0.0" in text
    assert re.search(r'summhay_request_seconds_count\{method="GET",status="\d+",view="login"\} 1.0', text)
    settings.TRUST_PROXY = True
    from_outside = {"x-forwarded-for": "10.1.2.3, 203.0.113.9"}
    assert Client(REMOTE_ADDR="10.1.2.3").get("/metrics/", headers=from_outside).status_code == 404


def test_networks_are_read_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "10.0.0.0/8, 127.0.0.1")
    assert env.networks("X") == NETWORKS
    monkeypatch.setenv("X", "10.0.0.0/8,all")
    with pytest.raises(ImproperlyConfigured, match="X: 'all'"):
        env.networks("X")


class Lines(logging.Handler):
    """Keeps what was logged as JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.said: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler.said
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
def test_a_line_of_the_log_names_request_and_person(ben, as_ben, settings, lines: list[dict[str, Any]]) -> None:
    settings.TRUST_PROXY = True
    answer = as_ben.get("/system/", headers={"x-request-id": "proxy-12345678"})
    assert answer.status_code == 403
    assert answer.headers["X-Request-ID"] == "proxy-12345678"
    [said] = [line for line in lines if line["logger"] == "django.request"]
    assert said["request_id"] == "proxy-12345678"
    assert said["user"] == str(ben.uid)
    assert (said["path"], said["method"], said["status"], said["level"]) == ("/system/", "GET", 403, "WARNING")
    as_ben.get("/nowhere/", headers={"x-request-id": "proxy-87654321"})
    assert (lines[-1]["status"], lines[-1]["request_id"]) == (404, "proxy-87654321")
    odd = Client().get("/login/", headers={"x-request-id": 'x" or 1\n'}).headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", odd)
    logging.getLogger("benchmarks").warning("Outside of a request: %s", 3)
    assert lines[-1]["message"] == "Outside of a request: 3"
    assert "request_id" not in lines[-1]


@pytest.fixture(params=["LINE", "JSON"])
def log(request: pytest.FixtureRequest) -> Iterator[StringIO]:
    """The text of a log, in either form."""
    handler = logging.StreamHandler(StringIO())
    handler.setFormatter(formatter(request.param))
    logging.getLogger().addHandler(handler)
    yield handler.stream
    logging.getLogger().removeHandler(handler)


LINK = "/password/set/MQ/c9-5d41402abc4b2a76b9719d911017c592/"
PANEL = "/join/k3yOfALink/?PROLIFIC_PID=5f3a00000000000000000001&STUDY_ID=o'neil"
SECRETS = ("5d41402abc4b", "k3yOfALink", "5f3a0000", "neil", "203.0.113.9", "2001:db8", "ada@")


@pytest.mark.django_db
def test_no_warning_holds_a_link_a_panel_id_or_an_address(log: StringIO) -> None:
    client = Client(REMOTE_ADDR="203.0.113.9", enforce_csrf_checks=True)
    asked = [client.get(LINK[:-1] + "x/"), client.get(PANEL), client.post(PANEL), client.post(LINK)]
    assert [answer.status_code for answer in asked] == [410, 404, 403, 403]
    logging.getLogger("mail").warning("refused: %s", {"ada@lab.example": (550, b"no")})
    said = log.getvalue()
    assert [secret for secret in SECRETS if secret in said] == []
    assert said.count("/password/set/…") >= 2
    assert said.count("/join/…") >= 2


@pytest.mark.parametrize("form", ["line", "json"])
def test_the_web_server_logs_no_request_and_no_secret(
    form: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOG_FORMAT", form)
    ours = Config()
    for name, value in vars(importlib.reload(gunicorn)).items():
        if name in ours.settings and not callable(value):
            ours.set(name, value)
    server = ours.logger_class(ours)
    assert not server.access_log_enabled
    server.warning("Invalid request from ip=203.0.113.9: odd")
    server.warning("Invalid request from ip=2001:db8::9: odd")
    server.error("Error handling request GET %s", PANEL)
    server.info("worker@web.example starts")
    assert "%(h)s" not in ours.access_log_format
    said = "".join(capfd.readouterr())
    assert [secret for secret in SECRETS if secret in said] == []
    assert said.count("from ip=…: odd") == 2
    assert "worker@web.example" in said


def test_every_address_that_opens_something_is_known_to_the_log() -> None:
    harmless = {"name", "kind", "file_format"}
    entries = [str(entry[1]) for entry in get_resolver().reverse_dict.values()]
    free = {entry for entry in entries if any(f"(?P<{name}>[^/]+)" in entry for name in _names(entry) - harmless)}
    assert len(free) == len(OPENING_PATHS)
    assert all(any(f"/{entry}".startswith(path) for path in OPENING_PATHS) for entry in free)


def _names(entry: str) -> set[str]:
    return set(re.findall(r"\?P<(\w+)>", entry))


def test_a_traceback_is_part_of_its_line() -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f.py", 1, "Broken", (), sys.exc_info())
    assert "ValueError: odd" in json.loads(JsonLines().format(record))["traceback"]
    assert "\n" not in JsonLines().format(record)


class Inbox(BaseHTTPRequestHandler):
    """A server of Sentry's protocol that keeps what it gets."""

    got: list[bytes] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


BREAK = """
import django
django.setup()
from django.test import Client
from summhay_site import home
from unittest import mock
import sentry_sdk
def broken(request):
    diary = "what somebody wrote"
    raise ValueError("no such thing at /join/k3y/ for ada@lab.example")
from django.urls import path
from summhay_site import urls
urls.urlpatterns.insert(0, path("broken/", broken))
client = Client(headers={"host": "localhost"}, raise_request_exception=False)
sent = client.post("/broken/?PROLIFIC_PID=5f3a", {"text": "a private sentence"}, headers={"referer": "http://localhost/join/k3y/"})
assert sent.status_code == 500
sentry_sdk.flush(10)
"""


@pytest.mark.skipif(find_spec("sentry_sdk") is None, reason="the extra sentry is not installed")
@pytest.mark.own_database
def test_errors_are_reported_without_what_people_wrote(tmp_path: Path) -> None:
    server = HTTPServer(("127.0.0.1", 0), Inbox)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = f"exec(compile({BREAK!r}, 'nowhere', 'exec'))"  # from Python 3.13 on reports show lines of `-c` itself
    try:
        done = python(code, site_in(tmp_path, SENTRY_DSN=f"http://key@127.0.0.1:{server.server_port}/1"))
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    text = b"".join(Inbox.got).decode()
    assert "no such thing" in text
    assert "what somebody wrote" not in text
    assert "a private sentence" not in text
    assert [secret for secret in ("5f3a", "k3y", "ada@") if secret in text] == []
