"""Nobody waits long in tests of the engine, and each may ask for a subtopic."""

import pytest

from benchmarks.engine import sending
from benchmarks.models import Judge, Subtopic
from tests.benchmarks.engine.asking import make_judge
from tests.fake_openai import FakeServer
from tests.makers import make_haystack


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BACKOFF_S", 0.01)
    monkeypatch.setattr(sending, "WAIT_FOR_ANSWERS_S", 0.01)


@pytest.fixture
def judge(server: FakeServer) -> Judge:
    return make_judge(server)


@pytest.fixture
def subtopic(db: None) -> Subtopic:
    return Subtopic.objects.get(haystack=make_haystack(), number=1)
