"""Many documents with their checks, side by side: at least ten times faster than one request after the other."""

import time

import pytest

from tests.fake_openai import FakeServer
from tests.synthesis.driver import Command
from tests.synthesis.scripted import Script

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]
DELAY_S = 2.0
"""Of each answer: as long as a model takes, so that a busy machine does not decide what is compared."""


def test_a_hundred_documents_are_made_ten_times_faster_than_one_by_one(server: FakeServer) -> None:
    server.delay_s = DELAY_S
    size = ("--subtopics", "4", "--insights", "6", "--words", "60", "--audit", "600")
    began = time.monotonic()
    script = Script(leaks=dict.fromkeys(range(1, 101, 7), 1))
    report = Command(server, "A small town", "haystack").report(script, *size)
    took = time.monotonic() - began
    assert report["steps"]["documents"]["got"] == 100
    one_by_one = DELAY_S * server.n_asked
    print(
        f"{server.n_asked} requests in {took:.1f} s, one by one {one_by_one:.1f} s: {one_by_one / took:.1f} times"
    )
    assert took * 10 < one_by_one
