"""What is said of the program in the files that build and start it elsewhere, compared with the program."""

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "compose.yaml").read_text()
SHIPPED = {"annotation", "benchmarks", "docs", "extensions", "locale", "summhay_site", "static", "templates"}
"""The folders that a wheel is made of."""


def _commands() -> list[list[str]]:
    """Every command in brackets of the two files that is a program of ours."""
    found = re.findall(r"^(?:HEALTHCHECK .*?|CMD |RUN |\s+command: )(\[.*\])$", DOCKERFILE + COMPOSE, re.MULTILINE)
    return [words for words in map(json.loads, found) if words[0] != "redis-server"]


def test_containers_are_web_behind_a_proxy_workers_for_each_queue_and_one_beat(settings) -> None:
    services = yaml.safe_load(COMPOSE)["services"]
    taken: list[str] = []
    for service in services.values():
        command = service.get("command", [])
        if "worker" in command:
            taken += command[command.index("-Q") + 1].split(",")
    assert sorted(taken) == sorted(settings.QUEUES)
    assert [name for name, service in services.items() if "beat" in service.get("command", [])] == ["beat"]
    assert "deploy" not in services["beat"]
    assert "ports" not in services["web"], "two containers cannot have one port"
    assert {name for name, service in services.items() if "deploy" in service} == {
        "web",
        "worker",
        "figures",
        "models",
    }


def test_the_supervisor_and_the_docs_have_a_worker_for_each_queue(settings) -> None:
    for text in ((ROOT / "supervisord.conf").read_text(), (ROOT / "docs" / "deployment.md").read_text()):
        taken = {queue for names in re.findall(r"worker .*-Q (\S+?)[\s`]", text) for queue in names.split(",")}
        assert taken >= set(settings.QUEUES)


def test_the_proxy_of_the_containers_buffers_asks_another_server_and_tells_who_asks() -> None:
    compose = yaml.safe_load(COMPOSE)
    content = compose["configs"]["proxy"]["content"]
    assert compose["services"]["proxy"]["configs"] == [
        {"source": "proxy", "target": "/etc/nginx/conf.d/default.conf"}
    ]
    for line in (
        "proxy_request_buffering on;",
        "proxy_next_upstream error timeout;",
        "server web:8000 resolve",
        "proxy_set_header X-Forwarded-For $$remote_addr;",
        "proxy_set_header X-Forwarded-Proto $$protocol;",
    ):
        assert line in content
    assert content.count("{") == content.count("}")
    assert not re.search(r"(?<!\$)\$(?![${])", content), "Compose would read a variable of nginx as its own"


def test_the_image_is_built_from_all_that_a_wheel_needs_and_may_see_it() -> None:
    copied = {
        name for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    }
    seen = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == seen
    assert copied > SHIPPED | {"pyproject.toml", "setup.py", "README.md", "LICENSE"}
    assert all((ROOT / name).exists() for name in copied)


def test_containers_run_programs_that_there_are() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    commands = _commands()
    assert {words[0] for words in commands} == {"gunicorn", "celery", "summhay-manage", "python"}
    for words in commands:
        if words[0] in scripts:
            module, _, name = scripts[words[0]].partition(":")
            assert callable(getattr(import_module(module), name))
        for module in (word.removeprefix("python:") for word in words if "summhay_site" in word):
            assert find_spec(module)


@pytest.mark.parametrize("secret", ["SECRET_KEY", "POSTGRES_PASSWORD"])
def test_containers_do_not_start_on_a_secret_that_everybody_knows(secret: str) -> None:
    uses = re.findall(rf"\${{{secret}(.*?)}}", COMPOSE)
    assert uses
    assert all(use.startswith(f":?{secret} must be set") for use in uses)


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_asked = self.path == "/health/" and self.headers["Host"] == "summhay.example"
        self.send_response(200 if is_asked else 400)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("hosts", "code"),
    [("summhay.example,other.example", 0), (".summhay.example", 0), ("other.example", 1)],
)
def test_the_probe_asks_under_a_name_of_the_site_and_ends_with_what_it_hears(
    hosts: str, code: int, port: int
) -> None:
    assert _probe(hosts, port).returncode == code


def test_the_probe_fails_where_nobody_answers(port: int) -> None:
    done = _probe("summhay.example", 1)
    assert done.returncode == 1
    assert "No answer" in done.stderr


def _probe(hosts: str, port: int) -> subprocess.CompletedProcess[str]:
    [words] = [words for words in _commands() if words[0] == "python"]
    environment = {**os.environ, "ALLOWED_HOSTS": hosts, "PORT": str(port)}
    return subprocess.run(
        [sys.executable, *words[1:]], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
