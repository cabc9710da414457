"""Nobody waits long in tests of the engine."""

from __future__ import annotations

import pytest

from benchmarks.engine import sending


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BACKOFF_S", 0.01)
    monkeypatch.setattr(sending, "WAIT_FOR_ANSWERS_S", 0.01)
