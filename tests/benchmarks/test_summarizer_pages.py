"""The pages of summarizers: a new one with a pasted prompt, an estimate, a run, and the offline baseline."""

from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import judging
from benchmarks.models import Haystack, JudgeRun, Response, RetrieverRanking, Summarizer, Summary
from benchmarks.summarizers.config import default_prompt
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.makers import make_haystack, make_summary, url
from tests.makers_recall import make_response

pytestmark = pytest.mark.django_db


def fields(server: FakeServer, **others) -> dict[str, Any]:
    return {
        "name": "heron", "base_url": server.address, "model": MODEL, "method": "at-once", "block_words": 1500,
        "token_budget": 15000, "bullets": "insights", "words_from": 200, "words_to": 300, "temperature": "0.3",
        "max_tokens": 2000, "timeout_s": 60, "prompt": "Write {bullets}.\r\nNo more.", **others,
    }  # fmt: skip


@pytest.fixture
def haystack(db: None) -> Haystack:
    return make_haystack()


def test_a_summarizer_is_made_estimated_and_run(as_ada, server: FakeServer, haystack: Haystack) -> None:
    server.behaviour = lambda number, body: Answer("- The ferry leaves at six [1].")
    assert as_ada.get(url("summarizer-new")).status_code == 200
    assert as_ada.post(url("summarizer-new"), fields(server)).status_code == 302
    made = Summarizer.objects.get()
    assert made.config["prompt"] == "Write {bullets}.\nNo more."
    page = url("summarizer-detail", made.uid)
    RetrieverRanking.objects.create(subtopic=haystack.subtopics.get(number=1), retriever="vector", scores={"1": 1})
    assert "all documents, in random order" in as_ada.get(page).text
    refused = as_ada.get(page, {"haystack": haystack.uid, "source": "vector@imported", "concurrency": 4}).text
    assert "vector has no scores for Subtopic 2" in refused
    asked = {"haystack": str(haystack.uid), "source": "top", "concurrency": 4}
    assert "2 to write of 2" in as_ada.get(page, asked).text
    assert server.n_asked == 0
    assert as_ada.get(page, {**asked, "haystack": ""}).status_code == 422
    started = as_ada.post(url("summarizer-start", made.uid), asked)
    run = JudgeRun.objects.get()
    assert started["Location"] == url("judge-run", run.uid)
    judging.run_pending(run=run, clock=timezone.now)
    assert Summary.objects.filter(system__document_order="sort").count() == 2
    assert "Nothing is missing" in as_ada.post(url("summarizer-start", made.uid), asked, follow=True).text
    listed = as_ada.get(url("summarizers")).text
    assert "heron" in listed
    assert "Runs" in listed
    assert url("summarizer-detail", made.uid) in as_ada.get(url("judge-run", run.uid)).text
    assert as_ada.get(url("judge-detail", made.uid)).status_code == 404


def test_a_change_is_a_new_version_and_wrong_settings_are_said(
    as_ada, server: FakeServer, haystack: Haystack
) -> None:
    as_ada.post(url("summarizer-new"), fields(server))
    edit = url("summarizer-edit", Summarizer.objects.get().uid)
    assert "No more." in as_ada.get(edit).text
    as_ada.post(edit, fields(server, method="hierarchical", focus="Mind the middle."))
    assert set(Summarizer.objects.values_list("version", flat=True)) == {1, 2}
    other = {"method": "incremental", "prompt": default_prompt("at-once")}  # a default goes with its method
    as_ada.post(edit, fields(server, **other))
    assert Summarizer.objects.get(version=3).config["prompt"] == default_prompt("incremental")
    assert as_ada.post(url("summarizer-new"), fields(server, words_to=100)).status_code == 422
    assert as_ada.post(url("summarizer-new"), fields(server, name="extractive")).status_code == 422
    make_summary(subtopic=haystack.subtopics.get(number=1), system="gull")
    assert (
        as_ada.post(url("summarizer-new"), fields(server, method="hierarchical", block_words=1)).status_code == 422
    )
    folded = as_ada.post(url("summarizer-new"), fields(server, top_p=2)).text
    assert '<details class="fold" open>' in folded
    taken = as_ada.post(url("summarizer-new"), fields(server, name="gull"))
    assert "An imported system is called" in taken.text


def test_settings_of_the_papers_are_chosen_by_name(as_ada, server: FakeServer) -> None:
    chosen = {"decoding": "top-p", "bullets": "shown", "words_from": "", "budget_rule": "cut", "shuffle": "file"}
    answer = as_ada.post(url("summarizer-new"), fields(server, **chosen), follow=True)
    config = Summarizer.objects.get().config
    assert (config["temperature"], config["top_p"], config["top_k"]) == (1.0, 0.95, None)
    assert (config["words_from"], config["budget_rule"], config["shuffle"]) == (None, "cut", "file")
    said = " ".join(answer.text.split())
    for words in ("as the documents shown hold", "at most 300 words", "is cut at the budget", "as in the file"):
        assert words in said
    edit = as_ada.get(url("summarizer-edit", Summarizer.objects.get().uid)).text
    assert '<option value="top-p" selected>' in edit
    free = fields(server, name="gull", bullets="free", prompt="The [N_insights] points of [ARTICLES]")
    assert "cannot be up to the model" in as_ada.post(url("summarizer-new"), free).text


def test_top_k_is_refused_where_the_server_is_known_not_to_take_it(as_ada, server: FakeServer, settings) -> None:
    settings.OPENAI_BASE_URLS = ["https://api.openai.com/v1"]
    asked = {**fields(server), "base_url": "https://api.openai.com/v1", "decoding": "top-k"}
    answer = as_ada.post(url("summarizer-new"), asked)
    assert answer.status_code == 422
    assert "api.openai.com takes no top-k" in answer.text
    assert not Summarizer.objects.exists()


def test_the_offline_baseline_is_a_click_away_and_annotators_see_nothing(
    as_ada, as_ben, haystack: Haystack
) -> None:
    assert "There is no summarizer yet" in as_ada.get(url("summarizers")).text
    assert as_ada.post(url("summarizer-offline"), follow=True).status_code == 200
    made = Summarizer.objects.get()
    asked = {"haystack": str(haystack.uid), "source": "random"}
    assert "it runs on this server" in as_ada.get(url("summarizer-detail", made.uid), asked).text
    as_ada.post(url("summarizer-start", made.uid), asked)
    judging.run_pending(run=JudgeRun.objects.get(), clock=timezone.now)
    assert Summary.objects.filter(origin="generated").count() == 2
    assert as_ben.get(url("summarizers")).status_code == 403
    make_response("a", system="gull", n_points=2, dataset="logs")
    page = url("summarizer-detail", Summarizer.objects.get().uid)
    assert as_ada.get(page, {"dataset": "logs", "documents": "cut", "tokens": "100"}).status_code == 200
    assert as_ada.get(page, {"dataset": "logs", "documents": "closed-book"}).status_code == 422


def test_questions_are_answered_from_the_page_of_a_summarizer(as_ada, server: FakeServer) -> None:
    server.behaviour = lambda number, body: Answer(
        "- The log of a says little." if number < 2 else "It says little."
    )
    as_ada.post(url("summarizer-new"), fields(server, response_prompt="Answer.\r\nNo more."))
    made = Summarizer.objects.get()
    assert made.config["response_prompt"] == "Answer.\nNo more."
    make_response("a", system="gull", n_points=2, dataset="logs")
    page, start = url("summarizer-detail", made.uid), url("summarizer-start", made.uid)
    asked = {"dataset": "logs", "documents": "snippets", "tokens": "", "concurrency": 4}
    shown = as_ada.get(page, asked).text
    assert "1 to write of 1" in shown
    assert "snippets by heron" not in shown
    assert server.n_asked == 0
    for wrong in ({"dataset": ""}, {"documents": "cut"}, {"documents": "<script>"}, {"tokens": "-1"}):
        assert as_ada.get(page, {**asked, **wrong}).status_code == 422
        assert as_ada.post(start, {**asked, **wrong}).status_code == 422
    started = as_ada.post(start, asked)
    run = JudgeRun.objects.get()
    assert started["Location"] == url("judge-run", run.uid)
    judging.run_pending(run=run, clock=timezone.now)
    assert Response.objects.get(system__key="snippets_heron").text == "It says little."
    assert "Nothing is missing" in as_ada.post(start, asked, follow=True).text
    assert "snippets by heron" in as_ada.get(page).text
    assert "1 of 1 responses written" in as_ada.get(url("judge-run", run.uid)).text
    row = as_ada.get(url("summarizers")).context["rows"][0]
    assert (row["n_summaries"], row["n_responses"], row["n_invalid"]) == (0, 1, 0)


def test_what_the_method_does_not_need_is_not_asked_for(as_ada, server: FakeServer) -> None:
    html = as_ada.get(url("summarizer-new")).text
    assert '<details class="fold" open>' not in html
    assert html.count('<details class="fold">') == 1
    assert as_ada.post(url("summarizer-new"), fields(server, block_words="")).status_code == 302
    assert Summarizer.objects.get().config["block_words"] == 1500
