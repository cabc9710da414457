"""Embeddings and rerank models behind a server that answers well or badly: scores, cost, failures."""

import json
import math
from typing import Any

import pytest

from benchmarks.judges.openai import KEY_VARIABLE
from benchmarks.retrieval import servers
from benchmarks.retrieval.base import Corpus, Query, RetrievalFailed
from benchmarks.retrieval.registry import WrongSettings, make
from tests.fake_openai import Answer, FakeServer, failing
from tests.retrieval.memory import ForgetfulMemory

CORPUS = Corpus(
    documents={1: "The ferry to the island.", 2: "Ferry, ferry! Fares.", 4: "Rain."},
    queries=[Query("s1", "island ferry"), Query("s2", "fares")],
)
ROOT = math.sqrt(0.5)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(servers, "sleep", waited.append)
    return waited


def scores(name: str, server: FakeServer, memory: ForgetfulMemory | None = None, **more: str) -> list[list[float]]:
    retriever = make(name, {"base_url": server.address, "model": "wren-2", **more})
    return list(retriever.scores(CORPUS, ForgetfulMemory() if memory is None else memory))


def test_embeddings_are_compared_by_cosine(server: FakeServer) -> None:
    found = scores("embeddings", server)
    assert found[0] == pytest.approx([1.0, 2 * ROOT / math.sqrt(5), 0.0])
    assert found[1] == pytest.approx([0.0, 1 / math.sqrt(5), 0.0])
    [body] = server.bodies
    assert (body["model"], len(body["input"]), body["encoding_format"]) == ("wren-2", 5, "float")


def test_prefixes_go_before_queries_and_documents(server: FakeServer) -> None:
    scores("embeddings", server, query_prefix="query: ", document_prefix="passage: ")
    sent = server.bodies[0]["input"]
    assert sent[0].startswith("passage: The")
    assert sent[-1] == "query: fares"


def test_rerank_scores_are_the_servers_in_the_order_of_the_documents(server: FakeServer) -> None:
    assert scores("rerank", server) == [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]
    body = server.bodies[0]
    assert (body["query"], body["top_n"], len(body["documents"])) == ("island ferry", 3, 3)


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
def test_nothing_is_paid_twice(name: str, server: FakeServer) -> None:
    memory = ForgetfulMemory()
    first = scores(name, server, memory)
    n_asked = server.n_asked
    assert scores(name, server, memory) == first
    assert server.n_asked == n_asked
    scores(name, server, memory, model="wren-3")
    assert server.n_asked == 2 * n_asked


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
def test_what_was_answered_before_a_failure_is_kept(name: str, server: FakeServer, monkeypatch) -> None:
    monkeypatch.setattr(servers, "TEXTS_AT_A_TIME" if name == "embeddings" else "DOCUMENTS_AT_A_TIME", 2)
    memory = ForgetfulMemory()
    server.behaviour = lambda number, body: failing(401, "who are you") if number == 2 else None
    with pytest.raises(RetrievalFailed, match="401: who are you"):
        scores(name, server, memory)
    assert len(memory) == 2
    scores(name, server, memory)
    third = server.bodies[2]
    assert third.get("input", third.get("documents"))[0] == CORPUS.documents[4]


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
@pytest.mark.parametrize(
    "bad",
    [
        failing(429, "slow down", retry_after="7"),
        failing(503, "busy"),
        Answer(raw=b"<html>gateway</html>"),
        Answer(raw=b""),
        Answer(raw=b"[]"),
        Answer(raw=b'{"data": {}, "results": {}}'),
        Answer(raw=b'{"data": [], "results": []}'),
        Answer(cut=True),
    ],
)
def test_what_waiting_may_heal_is_asked_again(
    name: str, bad: Answer, server: FakeServer, waits: list[float]
) -> None:
    well = scores(name, server)
    server.behaviour = lambda number, body: bad if number in (n_asked + 1, n_asked + 2) else None
    n_asked = server.n_asked
    assert scores(name, server) == well
    assert waits == ([7.0, 7.0] if bad.status == 429 else [1.0, 2.0])


def broken(body: dict[str, Any], change: str) -> Answer:
    texts = body.get("input") or body["documents"]
    key, name, good = ("data", "embedding", [1.0, 2.0]) if "input" in body else ("results", "relevance_score", 0.5)
    rows: list[dict[str, Any]] = [{"index": at, name: good} for at in range(len(texts))]
    if change == "short":
        rows.pop()
    elif change == "twice":
        rows[1]["index"] = 0
    elif change == "words":
        rows[0][name] = ["a", "b"] if "input" in body else "high"
    elif change == "nan":
        rows[0][name] = [math.nan, 1.0] if "input" in body else math.nan
    elif change == "huge":
        rows[0][name] = [1e300, 1.0] if "input" in body else 1e300
    else:
        rows[0].pop(name)
    return Answer(raw=json.dumps({key: rows}).encode())


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
def test_an_error_with_status_200_counts_as_its_code_says(
    name: str, server: FakeServer, waits: list[float]
) -> None:
    server.behaviour = lambda number, body: Answer(raw=b'{"error": {"code": 402, "message": "No money"}}')
    with pytest.raises(RetrievalFailed, match="402: No money"):
        scores(name, server)
    assert (server.n_asked, waits) == (1, [])


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
@pytest.mark.parametrize("change", ["short", "twice", "words", "nan", "huge", "nothing"])
def test_an_answer_that_is_no_scores_fails_and_nothing_of_it_is_kept(
    name: str, change: str, server: FakeServer, waits: list[float]
) -> None:
    server.behaviour = lambda number, body: broken(body, change)
    memory = ForgetfulMemory()
    with pytest.raises(RetrievalFailed, match="The server's answer"):
        scores(name, server, memory)
    assert (server.n_asked, len(waits), len(memory)) == (5, 4, 0)


def test_embeddings_of_different_lengths_fail(server: FakeServer) -> None:
    server.behaviour = lambda number, body: Answer(
        raw=json.dumps({"data": [{"index": at, "embedding": [1.0] * (at + 1)} for at in range(5)]}).encode()
    )
    with pytest.raises(RetrievalFailed, match="not all of one length"):
        scores("embeddings", server)


@pytest.mark.parametrize("name", ["embeddings", "rerank"])
def test_a_slow_server_is_given_up(name: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "TIMEOUT_S", 0.1)
    server.delay_s = 0.5
    with pytest.raises(RetrievalFailed, match="did not answer in time"):
        scores(name, server)


def test_an_address_that_is_not_allowed_is_never_asked(server: FakeServer, settings) -> None:
    settings.OPENAI_BASE_URLS = ["https://models.example/v1"]
    with pytest.raises(RetrievalFailed, match="not allowed"):
        scores("rerank", server)
    assert server.n_asked == 0


def test_the_key_stands_in_no_message(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-very-secret")
    server.behaviour = lambda number, body: failing(403, "sk-very-secret is not known")
    with pytest.raises(RetrievalFailed) as failed:
        scores("embeddings", server)
    assert "very-secret" not in str(failed.value)
    assert server.keys[0] == "Bearer sk-very-secret"


def test_a_server_and_a_model_must_be_named() -> None:
    with pytest.raises(WrongSettings, match="base_url and model are needed"):
        make("rerank", {"model": "wren-2"})
