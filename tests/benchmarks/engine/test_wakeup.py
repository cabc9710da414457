"""Wake-up messages: one per transaction, and no request fails because the broker is down."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from benchmarks import tasks
from benchmarks.engine.wakeup import enqueue

TASK = "benchmarks.tasks.resume_runs"


@pytest.fixture
def sent(monkeypatch: Any) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr(tasks.resume_runs, "delay", lambda: messages.append(TASK))
    return messages


@pytest.mark.django_db(transaction=True)
def test_many_calls_in_a_transaction_are_one_message_after_it(sent: list[str]) -> None:
    with transaction.atomic():
        enqueue(TASK)
        enqueue(TASK)
        assert sent == []
    assert sent == [TASK]


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_sends_nothing(sent: list[str]) -> None:
    with transaction.atomic():
        enqueue(TASK)
        transaction.set_rollback(True)
    assert sent == []


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_is_no_error(monkeypatch: Any, caplog: Any) -> None:
    def refuse() -> None:
        raise ConnectionError("nobody there")

    monkeypatch.setattr(tasks.resume_runs, "delay", refuse)
    enqueue(TASK)
    assert "the sweep will find the work" in caplog.text
