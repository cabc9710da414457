"""A plugin of pytest that records what each test costs and reaches: `python -m tests.tiers record` runs it.

Each worker leaves in the folder that RECORDING names a JSON file with processor seconds and nodes of templates by
test, and with RECORD_LINES, which makes tests slower, the lines by test as coverage.py keeps them. A fixture that
tests share is recorded as itself.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from django.template.base import Node

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ["RECORDING"])
WITH_LINES = "RECORD_LINES" in os.environ
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
PROGRAM = ("annotation", "benchmarks", "extensions", "summhay_site")
SHARED = ("class", "module", "package", "session")
"""Scopes of fixtures that are set up for several tests."""


class Recorder:
    """Charges lines, nodes and seconds to what runs now: a test, a shared fixture, or nothing."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.nodes: dict[str, set[tuple[str, int, str]]] = defaultdict(set)
        self.fixtures: dict[str, list[str]] = {}
        self.running, self.since = "", 0.0
        self.lines = coverage.Coverage(
            data_file=FOLDER / f"lines.{WORKER}",
            source=[f"{ROOT / name}" for name in PROGRAM],
            omit=["*/migrations/*"],
            config_file=False,
        )
        if WITH_LINES:
            self.lines.start()

    def switch(self, name: str) -> str:
        """Charge to `name` from here on; gives what was charged until now."""
        now, before = _processor_s(), self.running
        self.seconds[before] += now - self.since
        if WITH_LINES:
            self.lines.switch_context(name)
        self.running, self.since = name, _processor_s()
        return before

    def save(self) -> None:
        """Write what was recorded."""
        if WITH_LINES:
            self.lines.stop()
            self.lines.save()
        told = {
            "seconds": self.seconds,
            "nodes": {name: sorted(nodes) for name, nodes in self.nodes.items()},
            "fixtures": self.fixtures,
        }
        (FOLDER / f"told.{WORKER}.json").write_text(json.dumps(told))


def _processor_s() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


recorder = Recorder()
_render = Node.render_annotated


def _recorded(self, context):
    origin, token = getattr(self, "origin", None), self.token
    if origin and token and origin.name.startswith(f"{ROOT}"):
        path = str(Path(origin.name).relative_to(ROOT))
        recorder.nodes[recorder.running].add((path, token.lineno, type(self).__name__))
    return _render(self, context)


Node.render_annotated = _recorded


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    before = recorder.switch(item.nodeid)
    try:
        return (yield)
    finally:
        recorder.switch(before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef, request) -> Iterator[Any]:
    if fixturedef.scope not in SHARED:
        return (yield)
    name = f"{fixturedef.baseid}::{fixturedef.argname} (fixture)"
    before = recorder.switch(name)
    try:
        return (yield)
    finally:
        recorder.switch(before)


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        shared = [
            f"{definition.baseid}::{name} (fixture)"
            for name, definitions in item._fixtureinfo.name2fixturedefs.items()
            for definition in definitions[-1:]
            if definition.scope in SHARED
        ]
        recorder.fixtures[item.nodeid] = shared


def pytest_sessionfinish() -> None:
    recorder.save()
