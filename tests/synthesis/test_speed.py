"""Many documents with their checks, side by side: at least ten times faster than one request after the other."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from django.core.management import call_command

from tests.fake_openai import MODEL, FakeServer
from tests.synthesis.scripted import Script

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]
DELAY_S = 2.0
"""Of each answer: as long as a model takes, so that a busy machine does not decide what is compared."""


def test_a_hundred_documents_are_made_ten_times_faster_than_one_by_one(server: FakeServer) -> None:
    script = Script(leaks=dict.fromkeys(range(1, 101, 7), 1))
    server.behaviour, server.delay_s = script, DELAY_S
    arguments = (
        "--topic",
        "A small town",
        "--subtopics",
        "4",
        "--insights",
        "6",
        "--words",
        "60",
        "--audit",
        "600",
    )
    out = io.StringIO()
    began = time.monotonic()
    call_command(
        "synthesize", "haystack", "--model", MODEL, "--json", *arguments, stdout=out, stderr=io.StringIO()
    )
    took = time.monotonic() - began
    report: dict[str, Any] = json.loads(out.getvalue())
    assert report["steps"]["documents"]["got"] == 100
    one_by_one = DELAY_S * server.n_asked
    print(
        f"{server.n_asked} requests in {took:.1f} s, one by one {one_by_one:.1f} s: {one_by_one / took:.1f} times"
    )
    assert took * 10 < one_by_one
