"""Retrievers that ask a server: a limit of requests, cancelling, and a worker whose claim was taken over."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.engine import retrieving
from benchmarks.models import AuditEvent, Haystack, Retrieval, RetrieverAnswer, RetrieverRanking
from benchmarks.retrieval import servers
from benchmarks.retrieval.registry import make
from tests.conftest import NOW
from tests.fake_openai import FakeServer, failing
from tests.makers import make_haystack

pytestmark = pytest.mark.django_db(transaction=True)  # the server's thread cancels beside the worker


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "sleep", lambda seconds: None)


def asked(haystack: Haystack, server: FakeServer, **more) -> Retrieval:
    """A rerank model: two requests, one for each subtopic."""
    retriever = make("rerank", {"base_url": server.address, "model": "wren"})
    return retrieving.request(haystack=haystack, retriever=retriever, now=NOW, wake=False, **more)


def finished(row: Retrieval) -> Retrieval:
    retrieving.advance(uid=row.uid, clock=lambda: NOW)
    row.refresh_from_db()
    return row


def test_no_request_passes_the_limit_and_what_was_answered_is_kept(server: FakeServer) -> None:
    haystack = make_haystack()
    row = finished(asked(haystack, server, max_requests=1))
    assert (row.state, row.n_requests, server.n_asked) == ("failed", 1, 1)
    assert "limit of 1 request is" in row.message
    assert RetrieverAnswer.objects.count() == haystack.documents.count()
    row = finished(asked(haystack, server, max_requests=1))
    assert (row.state, row.n_requests, server.n_asked) == ("done", 1, 2)
    assert RetrieverRanking.objects.count() == 2


def test_tries_that_fail_count_against_the_limit(server: FakeServer) -> None:
    server.behaviour = lambda number, body: failing(503, "busy")
    row = finished(asked(make_haystack(), server, max_requests=3))
    assert (row.state, row.n_requests, server.n_asked) == ("failed", 3, 3)


def test_a_cancelled_retrieval_sends_nothing_more_and_goes_on_later(server: FakeServer) -> None:
    haystack = make_haystack()
    row = asked(haystack, server)

    def cancel_meanwhile(number: int, body: dict[str, Any]) -> None:
        Retrieval.objects.filter(pk=row.pk).update(state="cancelled", claimed_at=None)

    server.behaviour = cancel_meanwhile
    assert finished(row).state == "cancelled"
    assert (server.n_asked, RetrieverRanking.objects.count()) == (1, 0)
    server.behaviour = None
    assert finished(asked(haystack, server)).state == "done"
    assert server.n_asked == 2  # the first answer was kept


def test_cancelling_says_who_did_it_and_only_stops_what_is_at_work(server: FakeServer, ada) -> None:
    row = asked(make_haystack(), server)
    assert retrieving.cancel(row=row, by=ada, now=NOW)
    assert not retrieving.cancel(row=row, by=ada, now=NOW)
    assert finished(row).state == "cancelled"
    assert server.n_asked == 0
    assert AuditEvent.objects.get(action="retrieval.cancelled").actor == ada


def test_a_worker_whose_claim_was_taken_over_leaves_the_row_alone(server: FakeServer) -> None:
    row = asked(make_haystack(), server)
    later = NOW + timedelta(minutes=11)

    def take_over(number: int, body: dict[str, Any]) -> None:
        Retrieval.objects.filter(pk=row.pk).update(claimed_at=later)

    server.behaviour = take_over
    row = finished(row)
    assert (row.state, row.claimed_at, server.n_asked) == ("running", later, 1)


def test_the_command_has_the_limit_too(server: FakeServer) -> None:
    make_haystack()
    address = ("--set", f"base_url={server.address}", "--set", "model=wren")
    with pytest.raises(CommandError, match="limit of 1 request is"):
        call_command("retrieve", "--haystack", "ferry", "--retriever", "rerank", *address, "--max-requests", "1")
    with pytest.raises(CommandError, match="0 or more"):
        call_command("retrieve", "--haystack", "ferry", "--retriever", "rerank", *address, "--max-requests", "-1")
    assert server.n_asked == 1
