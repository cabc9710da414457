"""Summarizers that answer questions: against a server over HTTP, by batch files, offline, up to the table."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.engine import judging, summarizing
from benchmarks.engine.responding import Documents
from benchmarks.engine.tasks.responses import ASKS_FOR_POINTS
from benchmarks.engine.versions import NotPossible
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers import questions_of
from benchmarks.models import (
    Draft,
    DraftText,
    Judge,
    JudgeRun,
    KeyPoint,
    Question,
    QuestionDocument,
    Response,
    System,
)
from benchmarks.summarizers.conditions import Condition
from tests.benchmarks.engine.asking import estimated, killed, price, summarizer, work
from tests.fake_openai import Answer, FakeServer
from tests.makers import flat, url
from tests.makers_recall import NOW, make_response
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db

TEXTS = ("The ferry to the island leaves at six every day. ", "The pier of the island was rebuilt last year. ")


def make_questions(n: int = 2, *, dataset: str = "ferry") -> list[Question]:
    """Questions with two documents of 40 words or so, and a key point in each document."""
    found = []
    for at in range(1, n + 1):
        one = Question.objects.create(
            dataset=dataset, key=f"q{at}", text=f"What about the ferry, part {at}?", n_words=80, created_at=NOW
        )
        for number, text in enumerate(TEXTS, 1):
            body = f"Log {at}. " + ("It was kept by hand. " if number == 2 else "") + 4 * text
            QuestionDocument.objects.create(
                question=one, number=number, key=f"{at}-{number}", text=body, n_words=len(body.split())
            )
            KeyPoint.objects.create(question=one, number=number, key=f"{at}-{number}", text=text.strip())
        found.append(one)
    return found


def asked(judge: Judge, questions: list[Question], condition: str = "full") -> dict[str, Any]:
    shown = Documents(Condition.named(condition))
    return {"judge": judge, "subjects": questions, "shown": shown, "now": timezone.now()}


def run(judge: Judge, questions: list[Question], condition: str = "full", **options) -> JudgeRun:
    plan = asked(judge, questions, condition)
    return judging.request_run(
        judge=judge, task="responses", subjects=summarizing.drafted(**plan), reason="test", now=timezone.now(),
        options=judging.ModelOptions(**options), scope=plan["shown"].scope("ferry", plan["judge"]),
    )  # fmt: skip


def command(*arguments: str):
    return json_of("summarize", *arguments, "--dataset", "ferry")


def sent(server: FakeServer) -> list[str]:
    return [body["messages"][1]["content"] for body in server.bodies]


def test_a_model_answers_from_all_documents_once_with_estimate_and_cost(server: FakeServer) -> None:
    price(output_per_million=8)
    server.behaviour = lambda number, body: Answer("<think>so</think>\nIt leaves at six.\n\nThe pier is new.\n")
    judge, questions = summarizer(server, response_prompt="Answer in full."), make_questions()
    drafts = summarizing.planned(**asked(judge, questions))
    assert (estimated(judge, "responses", drafts).n_paid, Draft.objects.count(), server.n_asked) == (2, 0, 0)
    one = run(judge, questions, concurrency=1)
    work(one)
    assert (server.n_asked, one.state, one.scope["documents"]) == (2, "done", ["full"])
    body = server.bodies[0]
    assert body["messages"][0]["content"] == "Answer in full."
    assert body["temperature"] == 0
    assert "response_format" not in body
    text = sent(server)[0]
    assert text.startswith("Texts:\n\n[1] Log 1. The ferry")
    assert "\n\n---\n\n[2] Log 1. It was" in text
    assert text.endswith(f"\n\nQuestion:\nWhat about the ferry, part 1?\n\n{ASKS_FOR_POINTS}\n\nAnswer:")
    response = Response.objects.get(question=questions[0])
    assert (response.text, response.n_words) == ("It leaves at six.\n\nThe pier is new.", 8)
    assert (response.system.key, response.system.summarizer, response.system.retriever) == (
        "full-ctxt_heron", "heron", "",
    )  # fmt: skip
    assert response.draft.n_words == sum(document.n_words for document in questions[0].documents.all())
    assert one.calls.count() == 2
    report = command("--system", "heron")
    assert (report["there_before"], report["written"], report["cost"], server.n_asked) == (2, 0, 0.0, 2)


def test_plans_and_questions_take_as_many_queries_for_many_as_for_few(server: FakeServer) -> None:
    server.behaviour = condensing
    judge, few, many = summarizer(server), make_questions(2), make_questions(7, dataset="other")
    work(run(summarizer(server, name="gull"), few + many, "snippets"))
    counts = []
    for questions in (few, many):
        with CaptureQueriesContext(connection) as queries:
            planned = summarizing.planned(**asked(judge, questions, "snippets@gull"))
            estimated(judge, "responses", planned)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_documents_are_cut_one_by_one_and_a_closed_book_shows_none(server: FakeServer) -> None:
    server.behaviour = lambda number, body: Answer("An answer.")
    make_questions(1)
    summarizer(server)
    assert command("--system", "heron", "--documents", "cut-10")["documents"] == "cut-10"
    assert (
        "[1] Log 1. The ferry to the island leaves\n\n---\n\n[2] Log 1. It was kept by hand. The\n"
        in sent(server)[0]
    )
    assert Draft.objects.get(condition="cut-10").n_words == 16
    command("--system", "heron", "--documents", "closed-book")
    assert sent(server)[1] == "Question:\nWhat about the ferry, part 1?\n\nAnswer:"
    draft = Draft.objects.get(condition="closed-book")
    assert (draft.documents, draft.n_words, draft.system.key) == ([], 0, "closed-book_heron")
    with pytest.raises(CommandError, match="none of full, cut-TOKENS"):
        command("--system", "heron", "--documents", "half")
    with pytest.raises(CommandError, match="are of haystacks"):
        command("--system", "heron", "--retriever", "bm25")
    with pytest.raises(CommandError, match="No question was imported"):
        call_command("summarize", "--system", "heron", "--dataset", "gull")


def condensing(number: int, body: dict[str, Any]) -> Answer:
    """Copy a sentence of the first document, find nothing in the second, and answer with what is shown."""
    text = body["messages"][1]["content"]
    if text.startswith("Document:"):
        return Answer("Nothing." if "pier" in text else "- The ferry to the island leaves at six every day.")
    return Answer("Answer: " + text.partition("\n\nQuestion:")[0])


def test_snippets_are_made_document_by_document_and_a_kill_asks_nothing_twice(server: FakeServer) -> None:
    server.behaviour = condensing
    judge, questions = summarizer(server), make_questions(1)
    planned = summarizing.planned(**asked(judge, questions, "snippets"))
    assert estimated(judge, "responses", planned).n_paid == 3
    one = run(judge, questions, "snippets", concurrency=1)
    with killed(after=1):
        work(one)
    work(one)
    assert (one.state, len(sent(server)), len(set(sent(server)))) == ("done", 3, 3)
    assert "word for word" in server.bodies[0]["messages"][0]["content"]
    assert sent(server)[2].startswith("Texts:\n\n[1] - The ferry to the island leaves at six every day.\n\nQ")
    assert Response.objects.get().draft.n_words == 11
    assert list(DraftText.objects.order_by("number").values_list("number", "is_valid")) == [
        (0, True), (1, True), (2, True),
    ]  # fmt: skip


def test_one_model_makes_the_snippets_for_all_as_in_the_paper(server: FakeServer) -> None:
    server.behaviour = condensing
    questions, other = make_questions(1), summarizer(server, name="gull", seed=4)
    with pytest.raises(NotPossible, match="heron has no snippets of all documents"):
        run(other, questions, "snippets@heron")
    work(run(summarizer(server), questions, "snippets"))
    assert server.n_asked == 3
    work(run(other, questions, "snippets@heron"))
    assert server.n_asked == 4
    texts = {response.system.key: response.text for response in Response.objects.select_related("system")}
    assert texts["snippets@heron_gull"] == texts["snippets_heron"]


def test_snippets_are_those_of_the_first_model_for_all_unless_its_own_are_asked_for(server: FakeServer) -> None:
    server.behaviour = condensing
    make_questions(1)
    summarizer(server)
    summarizer(server, name="gull", seed=4)
    assert command("--system", "heron", "--documents", "snippets")["documents"] == "snippets"
    assert command("--system", "gull", "--documents", "snippets")["documents"] == "snippets@heron"
    assert server.n_asked == 4  # two documents and two responses
    assert command("--system", "heron", "--documents", "snippets")["there_before"] == 1
    assert command("--system", "gull", "--documents", "snippets@own")["documents"] == "snippets"
    assert server.n_asked == 6  # its documents; the same response is never paid twice


def test_what_is_no_response_is_counted_and_never_paid_twice(server: FakeServer, as_ada) -> None:
    make_questions(4)
    bad = {1: Answer(" "), 2: Answer(refusal="I will not."), 3: Answer("It leav", finish_reason="length")}
    server.behaviour = lambda number, body: bad.get(number, Answer("Fine."))
    summarizer(server)
    report = command("--system", "heron", "--concurrency", "1")
    assert (report["responses"], report["written"], report["not_as_asked"], report["without_text"]) == (4, 4, 3, 2)
    assert set(report["reasons"]) == {
        "It is empty.", "The model refused to answer.", "It was cut off at the limit of its length.",
    }  # fmt: skip
    assert set(Response.objects.values_list("text", flat=True)) == {"It leav", "Fine."}
    assert command("--system", "heron")["written"] == 0
    assert server.n_asked == 4
    one = JudgeRun.objects.get()
    shown = as_ada.get(url("judge-run", one.uid)).text
    assert "4 of 4 responses written" in shown
    assert "documents: full" in shown
    rows = as_ada.get(url("judge-run-answers", one.uid)).text
    assert url("response-detail", Response.objects.get(text="Fine.").uid) in rows
    assert "What about the ferry, part 4?" in rows
    page = flat(as_ada.get(url("response-detail", Response.objects.get(text="Fine.").uid)).text)
    assert "from 85 words of its documents (full)" in page


def test_imported_responses_keep_their_names_to_themselves(server: FakeServer) -> None:
    make_response("q", system="gull", n_points=1)
    with pytest.raises(NotPossible, match="imported system"):
        summarizer(server, name="gull")
    make_response("r", system="full-ctxt_heron", n_points=1)
    with pytest.raises(NotPossible, match="Texts were imported"):
        run(summarizer(server), make_questions())
    judge = summarizer(server, name="h" * 100)
    with pytest.raises(NotPossible, match="too long"):
        run(judge, make_questions(dataset="other"), f"snippets@{'g' * 100}")


def test_exported_responses_keep_their_condition_when_they_are_imported_again(tmp_path: Path) -> None:
    make_questions(1)
    for condition in ("full", "cut-100"):
        command("--system", "extractive", "--documents", condition)
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(b"".join(long2rag.dump(questions_of(Question.objects.of(dataset="ferry")))))
    Question.objects.all().delete()
    System.objects.all().delete()
    output_of("import_dataset", "long2rag", str(path))
    fields = ("key", "summarizer", "retriever", "responses__n_words")
    assert [row[:3] for row in System.objects.order_by("key").values_list(*fields)] == [
        ("cut-100_extractive", "extractive", "cut-100"), ("full-ctxt_extractive", "extractive", ""),
    ]  # fmt: skip


def test_offline_responses_are_judged_and_stand_in_the_table_by_what_was_shown() -> None:
    make_questions(6)
    assert command("--system", "extractive")["written"] == 6
    assert command("--system", "extractive", "--documents", "cut-16")["written"] == 6
    assert command("--system", "extractive")["there_before"] == 6
    with pytest.raises(CommandError, match="is no model"):
        command("--system", "extractive", "--documents", "snippets")
    text = Response.objects.filter(system__retriever="")[0].text
    assert "The ferry to the island leaves at six every day." in text
    assert "[" not in text
    output_of("run_judge", "lexical", "--task", "recall")
    cut, full = json_of("report", "kpr", "--by", "documents")["conditions"]
    assert [(row["model"], row["name"], row["judge"]) for row in (cut, full)] == [
        ("extractive", "cut-16", "lexical"), ("extractive", "full", "lexical"),
    ]  # fmt: skip
    assert (full["kpr_macro"], full["difference"]) == (1.0, None)
    assert "compared with" in full["reasons"]["difference"]
    assert cut["kpr_macro"] == cut["difference"] + 1 < 1
    assert cut["shown_words"] == 24.0
    assert full["response_words"] > cut["response_words"]
    assert "cut-16" in output_of("report", "kpr", "--by", "documents")
    assert System.objects.filter(responses__isnull=False).distinct().count() == 2
