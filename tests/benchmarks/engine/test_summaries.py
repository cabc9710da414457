"""Summarizers at work: against a server over HTTP, well-behaved and not, and offline up to the leaderboard."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.utils import timezone

from benchmarks.engine import batches, judging, summarizing, versions
from benchmarks.engine.summarizing import Source
from benchmarks.engine.versions import NotPossible
from benchmarks.models import (
    Draft,
    DraftText,
    Haystack,
    Judge,
    JudgeRun,
    RetrieverRanking,
    Subtopic,
    Summarizer,
    Summary,
    System,
)
from tests.benchmarks.engine.asking import estimated, killed, summarizer, work
from tests.benchmarks.engine.test_batches import answer, reply, requests_in
from tests.fake_openai import Answer, FakeServer
from tests.makers import make_haystack, make_summary, url
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db

GOOD = "- The ferry leaves at six [1, 2].\n- The pier was rebuilt [3].\n- Seals came back [5]."


@pytest.fixture
def haystack(db: None) -> Haystack:
    return make_haystack()


def run(judge: Judge, haystack: Haystack, source: Source | None = None, **options) -> JudgeRun:
    drafts = summarizing.drafted(**asked(judge, haystack, source))
    options = judging.ModelOptions(**options)
    return judging.request_run(
        judge=judge, task=summarizing.TASK, subjects=drafts, options=options, reason="test", now=timezone.now()
    )


def asked(judge: Judge, haystack: Haystack, source: Source | None = None) -> dict[str, Any]:
    subtopics = list(haystack.subtopics.select_related("haystack"))
    return {"judge": judge, "subjects": subtopics, "shown": source or Source(), "now": timezone.now()}


def summarize(*arguments: str):
    return json_of("summarize", *arguments)


def test_offline_summaries_are_written_once_judged_and_on_the_leaderboard(haystack: Haystack) -> None:
    arguments = ["--system", "extractive", "--retriever", "keywords", "--haystack", "ferry"]
    first = summarize(*arguments)
    assert (first["documents"], first["written"], first["failed"]) == ("keywords", 2, 0)
    assert first["not_as_asked"] == 0
    texts = list(Summary.objects.filter(origin="generated").order_by("subtopic").values_list("text", flat=True))
    assert all(text.startswith("- ") and "[" in text for text in texts)
    assert [len(text.split("\n")) for text in texts] == [3, 2]
    second = summarize(*arguments)
    assert (second["written"], second["there_before"]) == (0, 2)
    assert JudgeRun.objects.count() == 1
    Summary.objects.all().delete()
    Draft.objects.all().delete()
    summarize(*arguments)
    again = Summary.objects.filter(origin="generated").order_by("subtopic").values_list("text", flat=True)
    assert list(again) == texts
    summarize("--system", "extractive", "--order", "top", "--haystack", "ferry")
    output_of("run_judge", "lexical")
    shown = output_of("report", "leaderboard", "--judge", "lexical", "--json")
    assert '"extractive"' in shown
    assert '"keywords"' in shown
    assert '"fl-ctxt-sort"' in shown


def test_a_model_gets_documents_and_query_and_is_asked_once(server: FakeServer, haystack: Haystack) -> None:
    server.behaviour = lambda number, body: Answer(GOOD)
    judge = summarizer(server, temperature=0.3, top_k=50)
    drafts = summarizing.planned(**asked(judge, haystack))
    assert (estimated(judge, summarizing.TASK, drafts).n_paid, Draft.objects.count(), server.n_asked) == (2, 0, 0)
    work(run(judge, haystack))
    assert (server.n_asked, Summary.objects.filter(origin="generated").count()) == (2, 2)
    body = next(body for body in server.bodies if "part 1?" in body["messages"][1]["content"])
    assert (body["temperature"], body["top_k"], body["max_completion_tokens"]) == (0.3, 50, 2000)
    assert "response_format" not in body
    assert "exactly 3 bullets" in body["messages"][0]["content"]
    sent = body["messages"][1]["content"]
    draft = Draft.objects.get(subtopic__number=1)
    assert sorted(draft.documents) == [1, 2, 3, 4, 5, 6]
    places = [sent.index(f"[{number}] ") for number in draft.documents]
    assert places == sorted(places)
    assert sent.endswith("Query:\nWhat do the reports say about part 1?\n\nSummary:")
    assert draft.summary.text == GOOD
    assert (draft.system.summarizer, draft.system.key) == ("heron", "full-ctxt_heron")
    assert (summarize("--system", "heron", "--haystack", "ferry")["there_before"], server.n_asked) == (2, 2)
    assert not Judge.objects.filter(name="heron").exists()


def test_what_is_no_summary_is_kept_counted_and_never_asked_again(server: FakeServer, as_ada) -> None:
    make_haystack(golds=tuple(((1, 2), (3,)) for _ in range(5)))
    bad = {
        1: Answer("%$ garbage, and no bullet"),
        2: Answer(refusal="I will not."),
        3: Answer("- The ferry leaves [1].\n- The pi", finish_reason="length"),
        4: Answer("- Seals came [99]."),
    }
    server.behaviour = lambda number, body: bad.get(number, Answer(GOOD))
    summarizer(server)
    report = summarize("--system", "heron", "--haystack", "ferry", "--concurrency", "1")
    assert (report["written"], report["not_as_asked"], report["without_text"]) == (5, 4, 1)
    assert set(report["reasons"]) == {
        "Without a citation: bullet 1.",
        "The model refused to answer.",
        "It was cut off at the limit of its length. Without a citation: bullet 2.",
        "It cites what was not shown: 99.",
    }
    assert Summary.objects.count() == 4
    one = JudgeRun.objects.get()
    assert "5 of 5 summaries written" in as_ada.get(url("judge-run", one.uid)).text
    invalid = as_ada.get(url("judge-run-answers", one.uid), {"only": "invalid"}).text
    assert "It cites what was not shown: 99." in invalid
    assert "%$ garbage, and no bullet" in invalid
    assert "heron" not in as_ada.get(url("judges")).text
    assert (summarize("--system", "heron", "--haystack", "ferry")["written"], server.n_asked) == (0, 5)


def blocks_of(server: FakeServer) -> list[str]:
    return [body["messages"][1]["content"] for body in server.bodies]


def test_blocks_are_summarized_then_their_notes_and_a_kill_between_asks_nothing_twice(
    server: FakeServer,
) -> None:
    haystack = make_haystack(golds=(((1, 2), (3,)),), n_documents=9)
    judge = summarizer(server, method="hierarchical", block_words=150, bullets="free")

    def behave(number: int, body: dict[str, Any]) -> Answer:
        return Answer(f"- Note {number} [1]." if "Documents:" in body["messages"][1]["content"] else GOOD)

    server.behaviour = behave
    one = run(judge, haystack, concurrency=1)
    assert estimated(judge, summarizing.TASK, Draft.objects.all()).n_paid == 0  # it is queued already
    with killed(after=2):
        work(one)
    work(one)
    assert one.state == JudgeRun.State.DONE
    texts = blocks_of(server)
    assert len(texts) == len(set(texts)) == 4
    assert texts[-1].startswith("Notes on the documents:\n\n- Note 1 [1].\n\n- Note 2 [1].\n\n- Note 3 [1].")
    assert list(DraftText.objects.values_list("number", flat=True)) == [0, 1, 2, 3]
    assert Summary.objects.get().text == GOOD


def test_a_summary_is_revised_block_by_block_and_a_refused_block_is_passed_over(server: FakeServer) -> None:
    haystack = make_haystack(golds=(((1, 2), (3,)),), n_documents=9)
    judge = summarizer(server, method="incremental", block_words=100, focus="Mind the middle.")
    server.behaviour = lambda number, body: (
        Answer(refusal="No.") if number == 2 else Answer(f"- State {number} [1].\n- Same [2].")
    )
    estimate = estimated(judge, summarizing.TASK, summarizing.planned(**asked(judge, haystack)))
    work(run(judge, haystack))
    texts = blocks_of(server)
    assert len(texts) == estimate.n_paid == DraftText.objects.count() > 3
    assert "Summary so far" not in texts[0]
    assert "Summary so far:\n- State 1 [1]." in texts[1]
    assert "Summary so far:\n- State 1 [1]." in texts[2]
    assert "Summary so far:\n- State 3 [1]." in texts[3]
    assert "Mind the middle." in server.bodies[0]["messages"][0]["content"]
    assert Summary.objects.get().text == f"- State {len(texts)} [1].\n- Same [2]."
    assert DraftText.objects.filter(is_valid=False).count() == 1


def test_retrieved_documents_fill_the_budget_best_first(server: FakeServer, haystack: Haystack) -> None:
    server.behaviour = lambda number, body: Answer(GOOD)
    for subtopic in haystack.subtopics.all():
        scores = {"4": 0.9, "2": 0.8, "1": 0.7, "3": 0.1}
        RetrieverRanking.objects.create(subtopic=subtopic, retriever="vector", scores=scores)
    judge = summarizer(server, token_budget=100)
    work(run(judge, haystack, Source.named("vector")))
    draft = Draft.objects.get(subtopic__number=1)
    assert (draft.documents, draft.system.retriever) == ([4, 2], "vector")
    assert "[1] " not in server.bodies[0]["messages"][1]["content"]
    with pytest.raises(NotPossible, match="has no scores"):
        run(judge, haystack, Source.named("bm25"))


def test_names_of_systems_tell_settings_apart(haystack: Haystack) -> None:
    assert Source.named("keywords").name == "keywords"
    assert Source.named("keywords@imported").name == "keywords@imported"
    assert Source.named("keywords@0123456789ab").name == "keywords@0123456789ab"
    assert Source(order="bottom").setting == "fl-ctxt-rev-sort"


def test_names_and_roles_are_kept_apart(server: FakeServer, haystack: Haystack) -> None:
    make_summary(subtopic=Subtopic.objects.get(haystack=haystack, number=1), system="gull")
    with pytest.raises(NotPossible, match="imported system"):
        summarizer(server, name="gull")
    System.objects.filter(key="gull").update(key="full-ctxt_heron", summarizer="other")
    judge = summarizer(server)
    with pytest.raises(NotPossible, match="imported"):
        run(judge, haystack)
    with pytest.raises(judging.JudgeUnavailable, match="for a judge"):
        judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="test", now=timezone.now())
    same_name = versions.ensure_judge(name="heron", kind="openai", config={"model": "m"}, now=timezone.now())
    assert (same_name.version, Summarizer.objects.count(), Judge.objects.count()) == (1, 1, 1)


def test_another_method_has_a_name_that_says_so_and_the_plain_name_stays(
    server: FakeServer, haystack: Haystack
) -> None:
    server.behaviour = lambda number, body: Answer(GOOD)
    standard = summarizer(server)
    arguments = ["--system", "heron", "--haystack", "ferry", "--method", "incremental"]
    assert summarize(*arguments, "--estimate")["requests"] == 2
    report = summarize(*arguments)
    assert (report["system"], report["written"]) == ("heron (incremental)", 2)
    summarize(*arguments[:-1], "hierarchical", "--decoding", "greedy")
    for plain in (arguments[:-2], [*arguments[:-1], "at-once"]):
        assert summarize(*plain)["system"] == "heron"
    assert Summarizer.objects.get(name="heron") == standard
    rows = set(System.objects.filter(drafts__isnull=False).values_list("summarizer", flat=True))
    assert rows == {"heron", "heron (incremental)", "heron (hierarchical, greedy)"}
    with pytest.raises(CommandError, match="no summarizer"):
        summarize("--system", "stork", "--haystack", "ferry")


def test_batch_files_answer_a_step_and_the_next_files_hold_the_next_step(
    server: FakeServer, tmp_path: Path
) -> None:
    haystack = make_haystack(golds=(((1, 2), (3,)),), n_documents=9)
    one = run(summarizer(server, method="hierarchical", block_words=150), haystack)
    made = []
    for name, text in (("blocks", "- Note [1]."), ("summary", GOOD)):
        folder = tmp_path / name
        made.append(batches.write(run=one, folder=folder, clock=timezone.now)["requests"])
        answer(folder, [reply(row, text) for row in requests_in(folder)])
        batches.read(folder=folder, clock=timezone.now)
    one.refresh_from_db()
    assert (made, server.n_asked, one.state) == ([3, 1], 0, JudgeRun.State.DONE)
    assert Summary.objects.get().text == GOOD
