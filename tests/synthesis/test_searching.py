"""The search protocol: only allowed addresses, no redirects, limits, tries; duplicates out, the best kept."""

import json
import time
from http.client import IncompleteRead
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.synthesis import collecting
from extensions.synthesis.collecting import Candidate, SearchFailed, distinct, search
from extensions.synthesis.sources import Source
from tests.synthesis.scripted_questions import SearchServer, result
from tests.synthesis.scripted_questions import searching as running


def ask(engine: SearchServer) -> collecting.Results:
    return search(engine.address, "stone", n=3, language="en")


def test_the_key_and_the_query_are_sent_and_results_come_back(
    engine: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_API_KEY", "secret")
    page = {"html": "<h1>A page</h1><script>x()</script><p>It says <b>this</b>.", "url": "https://example.org/p"}
    rows = [result(1), page, {"title": "empty", "text": " "}, result(2)]
    engine.behaviour = lambda number, body: (200, {"results": rows, "more": 1})
    found = ask(engine)
    assert engine.bodies == [{"query": "stone", "n": 3, "language": "en"}]
    assert engine.headers[0]["Authorization"] == "Bearer secret"
    assert [one.title for one in found.hits] == ["Page 1", "A page"]
    assert found.hits[1].text == "A page\n\nIt says this."
    assert found.n_left_out == 1


def test_a_result_with_an_endless_address_is_left_out_and_the_others_stay(engine: SearchServer) -> None:
    endless = result(1) | {"url": "https://example.org/" + "a" * collecting.LONGEST_URL}
    engine.behaviour = lambda number, body: (200, {"results": [endless, result(2)]})
    found = ask(engine)
    assert [one.title for one in found.hits] == ["Page 2"]
    assert found.n_left_out == 1


def test_an_answer_that_breaks_off_is_tried_again_and_then_said(
    engine: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(answer, deadline: float) -> bytes:
        raise IncompleteRead(b"")

    monkeypatch.setattr(collecting, "_content", broken)
    with pytest.raises(SearchFailed, match="did not answer"):
        ask(engine)
    assert len(engine.bodies) == collecting.MOST_TRIES


@pytest.mark.parametrize(
    "bad", [(429, {}), (500, {}), (200, b"{"), (200, {"results": 3}), (200, {"results": [{"text": 1}]})]
)
def test_what_waiting_may_heal_is_tried_again_and_then_said(engine: SearchServer, bad: tuple[int, Any]) -> None:
    engine.behaviour = lambda number, body: bad if number < 3 else (200, {"results": [result(1)]})
    assert len(ask(engine).hits) == 1
    assert len(engine.bodies) == 3
    engine.behaviour = lambda number, body: bad
    with pytest.raises(SearchFailed):
        ask(engine)
    assert len(engine.bodies) == 3 + collecting.MOST_TRIES


def test_a_redirect_is_not_followed(engine: SearchServer) -> None:
    with running() as other:
        engine.behaviour = lambda number, body: (302, other.address.encode())
        with pytest.raises(SearchFailed, match="not followed"):
            ask(engine)
        assert other.bodies == []
    assert len(engine.bodies) == 1


def test_an_address_that_is_not_listed_is_never_asked(engine: SearchServer, settings) -> None:
    settings.SEARCH_URLS = []
    with pytest.raises(SearchFailed, match="SEARCH_URLS lists none"):
        ask(engine)
    assert engine.bodies == []


def test_too_much_and_too_slow_are_given_up(engine: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MOST_BYTES", 2000)
    engine.behaviour = lambda number, body: (200, json.dumps({"results": [{"text": "x" * 3000}]}).encode())
    with pytest.raises(SearchFailed, match="more than 2,000 bytes"):
        ask(engine)
    assert len(engine.bodies) == 1
    monkeypatch.setattr(collecting, "TIMEOUT_S", 0.2)

    def late(number: int, body: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(0.6)
        return 200, {"results": []}

    engine.behaviour = late
    with pytest.raises(SearchFailed, match="did not answer"):
        ask(engine)


@given(st.lists(st.tuples(st.sampled_from(["stone", "sand and stone", "gulls"]), st.sampled_from("abc "))))
def test_distinct_documents_have_no_text_or_address_twice_and_lose_none(rows: list[tuple[str, str]]) -> None:
    candidates = [Candidate(Source("", text, url.strip()), {"at": at}) for at, (text, url) in enumerate(rows)]
    kept = distinct(candidates)
    texts = [one.hit.text for one in kept]
    urls = [one.hit.url for one in kept if one.hit.url]
    assert len(set(texts)) == len(texts)
    assert len(set(urls)) == len(urls)
    assert not candidates or kept[0] == candidates[0]
