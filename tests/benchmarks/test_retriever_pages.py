"""The page of a haystack's retrievers, and its report: figures, running one, failures."""

import json

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import Study
from benchmarks.engine import retrieving
from benchmarks.models import Haystack, Retrieval, RetrieverAnswer, RetrieverRanking
from benchmarks.retrieval import servers
from benchmarks.retrieval.registry import make
from tests.conftest import NOW
from tests.fake_openai import FakeServer, failing
from tests.makers import flat, make_haystack, url
from tests.running import output_of

pytestmark = pytest.mark.django_db


def address(haystack: Haystack, name: str = "list") -> str:
    return url(f"retriever-{name}", haystack.uid)


def finish(row: Retrieval) -> Retrieval:
    retrieving.advance(uid=row.uid, clock=lambda: NOW)
    row.refresh_from_db()
    return row


def ran(haystack: Haystack, name: str, **settings) -> Retrieval:
    return finish(retrieving.request(haystack=haystack, retriever=make(name, settings), now=NOW, wake=False))


def test_imported_and_computed_scores_stand_in_one_table(as_ada) -> None:
    haystack = make_haystack()
    for subtopic in haystack.subtopics.all():
        RetrieverRanking.objects.create(subtopic=subtopic, retriever="bm25", scores={"6": 1.0, "1": 0.5})
    row = ran(haystack, "oracle")
    html = as_ada.get(address(haystack) + "?budget=100").text
    assert "imported" in html
    assert row.version in html
    assert html.index("oracle") < html.index(">bm25")
    assert "within 100 tokens" in html


def test_a_run_is_started_shown_and_done(ada, as_ada) -> None:
    haystack = make_haystack()
    assert as_ada.get(url("haystack-detail", haystack.uid)).content.count(address(haystack).encode())
    data = {"retriever": "bm25", "with_subtopic": "on", "k1": "1.2", "b": "0.75"}
    response = as_ada.post(address(haystack, "run"), data, follow=True)
    row = Retrieval.objects.get()
    settings = {"with_subtopic": True, "k1": 1.2, "b": 0.75}
    assert (row.settings, row.state, row.created_by) == (settings, "queued", ada)
    assert "0 of 2 subtopics scored" in flat(response.text)
    assert as_ada.get(address(haystack), headers={"HX-Request": "true"}).status_code == 200
    finish(row)
    polled = as_ada.get(address(haystack), headers={"HX-Request": "true"})
    assert polled.status_code == 286
    assert b"BM25 (k1 1.2)" in polled.content
    assert b"hx-trigger" not in polled.content.split(b"<table")[0]


@pytest.mark.every_database
def test_scores_say_by_which_rules_they_were_made(as_ada) -> None:
    haystack = make_haystack()
    ran(haystack, "keywords", with_subtopic=False, words="content")
    ran(haystack, "keywords")
    html = as_ada.get(address(haystack)).text
    assert html.count("keywords (query alone, content words)") == html.count("keywords (") == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"retriever": "bm25", "k1": "-3", "b": "0.5"}, "k1 is a number from 0 to 100"),
        ({"retriever": "bm25", "k1": "high", "b": "0.5"}, "number"),
        ({"retriever": "magic"}, "Choose from the list"),
        ({"retriever": "embeddings", "base_url": "https://evil.example", "model": "x"}, "Choose from the list"),
        ({"retriever": "rerank", "base_url": "https://api.openai.com/v1", "model": ""}, "Fill this in"),
    ],
)
def test_wrong_settings_are_said_and_nothing_runs(as_ada, data: dict[str, str], message: str) -> None:
    response = as_ada.post(address(make_haystack(), "run"), data)
    assert response.status_code == 422
    assert message in response.text
    assert not Retrieval.objects.exists()


def test_the_fields_follow_the_chosen_retriever(as_ada, as_ben) -> None:
    haystack = make_haystack()
    html = as_ada.get(address(haystack, "settings") + "?retriever=embeddings").text
    assert 'name="query_prefix"' in html
    assert 'name="k1"' not in html
    assert 'name="seed"' in as_ada.get(address(haystack) + "?retriever=random").text
    for name in ("list", "settings"):
        assert as_ben.get(address(haystack, name)).status_code == 403
    assert as_ben.post(address(haystack, "run"), {"retriever": "oracle"}).status_code == 403
    row = ran(haystack, "keywords")
    html = as_ada.get(reverse("annotation:study-create")).text
    assert f'<option value="{row}">' in html
    assert not Study.objects.exists()


def test_a_failure_is_shown_and_tried_again_without_paying_twice(
    as_ada, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "sleep", lambda seconds: None)
    haystack = make_haystack()
    server.behaviour = lambda number, body: failing(401, "no such key") if number == 2 else None
    as_ada.post(address(haystack, "run"), {"retriever": "rerank", "base_url": server.address, "model": "wren"})
    row = finish(Retrieval.objects.get())
    assert (row.state, RetrieverAnswer.objects.count()) == ("failed", 6)
    assert b"no such key" in as_ada.get(address(haystack)).content
    as_ada.post(url("retriever-again", row.uid))
    assert finish(row).state == "done"
    assert server.n_asked == 3
    assert b"no such key" not in as_ada.get(address(haystack)).content


def test_a_server_is_asked_within_a_limit_and_cancelled(as_ada, as_ben, server: FakeServer) -> None:
    haystack = make_haystack()
    assert b"max_requests" not in as_ada.get(address(haystack, "settings") + "?retriever=bm25").content
    shown = as_ada.get(address(haystack, "settings") + "?retriever=rerank").content
    assert b"This haystack needs 2" in shown
    data = {"retriever": "rerank", "base_url": server.address, "model": "wren"}
    assert as_ada.post(address(haystack, "run"), data | {"max_requests": "0"}).status_code == 422
    as_ada.post(address(haystack, "run"), data | {"max_requests": "1"})
    row = Retrieval.objects.get()
    settings = {"with_subtopic": False, "base_url": server.address, "model": "wren"}
    assert (row.max_requests, row.settings) == (1, settings)
    cancel = url("retriever-cancel", row.uid)
    assert cancel in as_ada.get(address(haystack)).text
    assert as_ben.post(cancel).status_code == 403
    assert b"Cancelled." in as_ada.post(cancel, follow=True).content
    as_ada.post(url("retriever-again", row.uid))
    assert (finish(row).state, row.n_requests) == ("failed", 1)
    assert server.n_asked == 1


def report(*args: str):
    told = output_of("report", "retrieval", *args)
    return json.loads(told) if "--json" in args else told


def test_the_report_has_the_figures_of_the_page() -> None:
    row = ran(make_haystack(), "oracle")
    [found] = report("--haystack", "ferry", "--budget", "100", "--json")
    assert found["reference"] == str(row)
    # 75 tokens a document: two are taken; 2 and 3 hold all insights of subtopic 1, 1 and 4 one of two of the other
    assert found["recall_insights"] == (1 + 0.5) / 2
    assert found["recall_documents"] == (2 / 5 + 2 / 4) / 2
    assert (found["ndcg"], found["n_subtopics"], found["mean_documents"]) == (1.0, 2, 2.0)
    assert found["reasons"]["ndcg"]
    assert "75.0" in report("--budget", "100")


@pytest.mark.parametrize(
    ("args", "message"),
    [((), "manage.py retrieve"), (("--haystack", "no"), "no such"), (("--budget", "0"), "from 1 on")],
)
def test_the_report_says_what_is_missing(args: tuple[str, ...], message: str) -> None:
    make_haystack()
    with pytest.raises(CommandError, match=message):
        report(*args)
