"""Pages of syntheses: from a topic over reviews and gates into the corpus, by the forms that are on them."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Exposure
from benchmarks.models import AuditEvent, Generator, Haystack, Insight, JudgeRun
from extensions.synthesis.forms import DocumentsForm, SynthesisForm
from extensions.synthesis.models import PartKind, PartState, StepState, Synthesis, SynthesisDecision
from extensions.synthesis.overview import step_rows
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.synthesis.driver import Pages, address
from tests.synthesis.scripted import FACTS, SUBTOPICS, Script

pytestmark = pytest.mark.django_db


def form(server: FakeServer, **changed) -> dict[str, Any]:
    """What the form sends for a small haystack."""
    usual = {name: each.initial for name, each in SynthesisForm.base_fields.items() if each.initial is not None}
    small = {"subtopics": 2, "insights": 4, "documents": 8, "words": 60, "in_documents": 2, "audit": 10}
    chosen = {"topic": "A small <b>town</b>", "kind": "news", "base_url": server.address, "model": MODEL}
    return {**usual, **small, **chosen, **changed}


def documents(server: FakeServer, **changed) -> dict[str, Any]:
    """What the form for documents of one's own sends."""
    return {"topic": "Town", "base_url": server.address, "model": MODEL, "subtopics": 3, **changed}


@pytest.fixture
def pages(ada, server: FakeServer) -> Pages:
    server.behaviour = Script()
    return Pages(ada)


@pytest.fixture
def fay(django_user_model) -> Pages:
    """Another researcher."""
    user = django_user_model.objects.create_user("fay", password="x")
    user.groups.add(Group.objects.get(name="researcher"))
    return Pages(user)


def parts(pages: Pages, kind: str, **state):
    return pages.synthesis.parts.filter(kind=kind, **state).order_by("number", "generation")


def test_files_that_give_ideas_are_taken_with_the_form(server: FakeServer, pages: Pages) -> None:
    gulls = SimpleUploadedFile("gulls.txt", b"Gulls stole the bread.")
    synthesis = pages.begin("new", form(server, ideas=[gulls]))
    assert list(synthesis.parts.values_list("kind", "title", "text")) == [
        (PartKind.UPLOAD, "gulls", "Gulls stole the bread.")
    ]


def test_a_step_whose_replies_were_all_unusable_leads_to_them(server: FakeServer, pages: Pages) -> None:
    pages.begin("new", form(server))
    server.behaviour = lambda _number, _body: Answer("As you wish.")
    pages.run("subtopics")
    topic = pages.synthesis.parts.get()
    page = pages.see()
    assert "Replies that could not be used: 3" in page
    assert f'href="{address("part", topic.uid)}"' in page
    assert pages.see("part", topic.uid).count("As you wish.") >= 3


def test_a_model_is_asked_with_what_its_server_takes(server: FakeServer, pages: Pages) -> None:
    usual = pages.begin("new", form(server)).steps.get(name="subtopics").judge.config
    assert (usual["temperature"], "limit_name" in usual) == (1.0, False)
    pages.begin("new", form(server, limit_name="max_tokens", no_temperature="on"))
    config = pages.synthesis.steps.get(name="subtopics").judge.config
    assert (config["temperature"], config["limit_name"]) == (None, "max_tokens")


def test_reasoning_before_a_reply_is_no_part_of_it(server: FakeServer, pages: Pages) -> None:
    script = Script()
    server.behaviour = lambda n, body: replace(
        said := script(n, body), content=f'Say {{"subtopics": []}}?\n</think>\n{said.content}'
    )
    pages.begin("new", form(server))
    pages.run("subtopics")
    assert (server.n_asked, parts(pages, "subtopic").count()) == (2, 2)


def test_from_a_topic_over_all_gates_into_the_corpus(server: FakeServer, pages: Pages, ada) -> None:
    server.behaviour = Script(leaks={2: 9})
    pages.begin("new", form(server))
    assert server.n_asked == 0
    page = pages.post("estimate", "subtopics").text
    assert "about 1 request, " in " ".join(page.split())
    assert "<b>town" not in page
    for name in ("subtopics", "insights", "screening", "documents", "queries"):
        pages.run(name)
        if name == "screening":
            assert "Next: documents, about" in pages.see()
            assert not parts(pages, "document").exists()
        if name != "insights":
            pages.see("review", pages.synthesis.uid, name)
            pages.go_on(name)
    assert "is-leaked" in pages.see()
    _judge_a_document(pages)
    figures = pages.see("figures")
    assert "<dt>Planted against not: AUC</dt><dd>0.9" in figures
    assert "<dt>Leaks found and left in a document, mean</dt> <dd>0.13</dd>" in figures
    assert "pairs that words call absent" in figures
    card = pages.file("card").decode()
    assert card.startswith("# A small &lt;b>town&lt;/b>\n")
    assert re.search(r"^- document \d: leaks an insight$", card, re.MULTILINE)
    assert b"insights_included" in pages.file("download")
    for _time in range(2):
        pages.post("hand-over")
        haystack = Haystack.objects.get()
        assert (haystack.n_documents, haystack.created_by) == (8, ada)
        assert Exposure.objects.filter(user=ada, haystack=haystack, reason="synthesis").exists()
        assert AuditEvent.objects.filter(action="synthesis.handed_over").count() == 1


def _judge_a_document(pages: Pages) -> None:
    """Two verdicts on insights move the cursor on; a leak is named; what is no verdict is refused."""
    document = parts(pages, "document", state=PartState.CLEAR)[0]
    first, second = document.uses.order_by("number")[:2]

    def judge(insight, verdict: str):
        return pages.post("judge", "documents", document.uid, insight=insight.uid, verdict=verdict)

    under_cursor = 'name="insight" value="{}">'
    assert under_cursor.format(first.uid) in pages.review("documents", document)
    judge(first, "present")
    page = pages.review("documents", document)
    assert under_cursor.format(second.uid) in page
    assert under_cursor.format(first.uid) not in page
    at_first = pages.see("review", pages.synthesis.uid, "documents", part=document.uid, insight=first.uid)
    assert under_cursor.format(first.uid) in at_first
    judge(second, "maybe")
    assert judge(pages.synthesis, "absent").status_code == 404
    foreign = parts(pages, "insight").exclude(used_by=document)[0]
    judge(foreign, "present")
    rows = SynthesisDecision.objects.filter(action="verdict").values_list("insight", "reason")
    assert list(rows) == [(first.pk, "present"), (foreign.pk, "present")]
    for action in ("verdict", "undo"):
        assert "This decision is not known" in pages.post("decide", "documents", document.uid, action=action).text


def test_a_reviewer_decides_one_after_the_other_and_takes_it_back(server: FakeServer, pages: Pages) -> None:
    server.behaviour = Script(misplaced=True)
    pages.begin("new", form(server))
    pages.run("subtopics", "insights", "screening")
    flagged = parts(pages, "insight").get(state=PartState.FLAGGED)
    page = pages.review("screening", flagged)
    assert ("belongs elsewhere" in page) != ("hidden here" in page)
    for action in ("reject", "undo"):
        pages.decide("screening", flagged, action)
    assert not SynthesisDecision.objects.exists()
    there = address("decide", pages.synthesis.uid, "screening", flagged.uid)
    then = pages.client.post(there, {"action": "reject", "reason": "belongs elsewhere"})["Location"]
    assert "?part=" in then
    assert str(flagged.uid) not in then
    other = parts(pages, "insight", state=PartState.CLEAR)[0]
    into = parts(pages, "insight").last()
    assert pages.decide("screening", other, "merge", into=into.uid).state == PartState.REJECTED
    undo = address("undo", pages.synthesis.uid, "screening")
    assert pages.client.post(undo)["Location"].endswith(str(other.uid))
    for _time in range(2):
        pages.post("undo", "screening")
    flagged.refresh_from_db()
    assert flagged.state == PartState.FLAGGED
    pages.post("accept", "screening")
    assert not parts(pages, "insight", state=PartState.CLEAR).exists()
    assert "To which subtopic does this fact belong?" in pages.see("part", flagged.uid)


def test_pasted_documents_become_insights_and_a_haystack(server: FakeServer, pages: Pages) -> None:
    texts = "\r\n---\r\n".join([FACTS[0], f"# Two\r\n\r\n{FACTS[0]} {FACTS[1]}", FACTS[1], FACTS[4], FACTS[0]])
    assert "at least two are needed" in pages.refused("documents", documents(server, texts="One only"))
    pages.begin("documents", documents(server, texts=texts))
    for name in ("points", "grouping", "sorting", "holding"):
        pages.run(name)
        pages.see()
        if name in {"grouping", "sorting"}:
            assert ("Said in" in pages.see("review", pages.synthesis.uid, name)) == (name == "grouping")
            pages.go_on(name)
    pages.post("hand-over")
    found = Insight.objects.filter(subtopic__haystack__title="Town")
    assert {row.text: row.gold_documents for row in found} == {
        FACTS[0]: [1, 2, 5], FACTS[1]: [2, 3], FACTS[4]: [4],
    }  # fmt: skip


def test_files_become_documents_after_the_pasted_ones(server: FakeServer, pages: Pages) -> None:
    files = [SimpleUploadedFile("a.md", f"# Stones\n\n{FACTS[0]}".encode()), SimpleUploadedFile("b.txt", b"Two.")]
    sent, wrong = documents(server, texts=FACTS[1]), SimpleUploadedFile("c.exe", b"MZ")
    assert "c.exe: .exe is none of .txt, .md" in pages.refused("documents", {**sent, "uploads": [wrong]})
    pages.begin("documents", {**sent, "uploads": files})
    assert [(part.title, part.text) for part in parts(pages, "document")] == [
        (" ".join(FACTS[1].split()[:8]), FACTS[1]), ("Stones", f"Stones\n\n{FACTS[0]}"), ("b", "Two."),
    ]  # fmt: skip


def test_another_model_for_a_step_is_shown_on_it_and_in_its_lineage(server: FakeServer, pages: Pages) -> None:
    synthesis = pages.begin("new", form(server, model_for_screening=" checker-<2> "))
    models = [step.judge.name for step in synthesis.steps.select_related("judge")]
    assert models == [MODEL, MODEL, "checker-<2>", MODEL, MODEL]
    assert "checker-&lt;2&gt;" in pages.see()
    pages.run("subtopics", "insights", "screening")
    assert "category · checker-&lt;2&gt;" in pages.see("part", parts(pages, "insight")[0].uid)
    assert {body["model"] for body in server.bodies} == {MODEL, "checker-<2>"}


def test_what_people_rejected_is_asked_for_at_the_gate_and_not_repeated(server: FakeServer, pages: Pages) -> None:
    pages.begin("new", form(server))
    pages.run("subtopics")
    assert "missing</button>" not in pages.see()
    assert "Nothing is missing." in pages.post("start", "subtopics", concurrency=8, more="1").text
    pages.decide("subtopics", parts(pages, "subtopic").get(number=2), "reject", reason="other")
    assert "Ask for the 1 missing</button>" in pages.see()
    pages.run("subtopics", more="1")
    assert list(parts(pages, "subtopic").values_list("number", "title", "state")) == [
        (1, SUBTOPICS[0], PartState.CLEAR),
        (2, SUBTOPICS[1], PartState.REJECTED),
        (3, SUBTOPICS[2], PartState.CLEAR),
    ]
    pages.go_on("subtopics")
    again = pages.post("start", "subtopics", concurrency=8, more="1")
    assert "Only a list that awaits review is asked for again." in again.text


def test_a_model_of_somebody_else_begins_nothing(server: FakeServer, pages: Pages, fay: Pages) -> None:
    pages.begin("new", form(server, model="adas"))
    Generator.objects.filter(name="adas").update(config_sha256="of other settings")
    assert "Somebody else made “adas”" in fay.refused("new", form(server, model="own", model_for_queries="adas"))
    assert Synthesis.objects.count() == 1
    assert not Generator.objects.filter(name="own").exists()


def test_a_step_out_of_turn_is_refused_with_a_sentence(server: FakeServer, pages: Pages) -> None:
    pages.begin("new", form(server))
    assert "The step “subtopics” comes first." in pages.post("start", "documents", concurrency=8).text
    assert "only one that awaits review can be closed" in pages.post("close", "subtopics").text
    assert "not closed" in pages.see("download")


def test_what_cannot_be_planned_is_refused_before_anything_is_paid(server: FakeServer, pages: Pages) -> None:
    said = pages.refused("new", form(server, documents=2, in_documents=3))
    assert "2 documents of at most 8 insights have 16" in said
    assert not Synthesis.objects.exists()


def test_a_step_whose_run_was_cancelled_goes_on_where_it_was(server: FakeServer, pages: Pages) -> None:
    pages.begin("new", form(server))
    pages.post("start", "subtopics", concurrency=8)
    assert "its run is paused" in pages.post("start", "subtopics", concurrency=8).text
    pages.client.post(address("benchmarks:judge-run-cancel", JudgeRun.objects.get().uid))
    assert "Go on where it was cancelled" in pages.see()
    pages.run("subtopics")
    assert pages.synthesis.steps.get(name="subtopics").state == StepState.REVIEW


def test_what_was_made_again_counts_once_on_its_step(server: FakeServer, pages: Pages) -> None:
    server.behaviour = Script(leaks={2: 9})
    pages.begin("new", form(server))
    pages.run("subtopics", "insights", "screening", "documents")
    pages.go_on("documents")
    pages.decide("screening", parts(pages, "insight")[0], "edit", text="The bell of Dunwich rang 77 times.")
    pages.run("documents")
    assert parts(pages, "document", state=PartState.REGENERATED).exists()
    [row] = [row for row in step_rows(pages.synthesis) if row.step.name == "documents"]
    assert (sum(row.states.get(state, 0) for state in ("flagged", "stale", "clear")), row.n_read) == (8, 0)
    assert row.n_repaired <= row.n_written == 8


def test_another_researcher_reviews_but_runs_no_steps(server: FakeServer, pages: Pages, fay: Pages, eve) -> None:
    pages.begin("new", form(server))
    pages.run("subtopics")
    assert fay.post("close", "subtopics").status_code == 403
    part = parts(pages, "subtopic")[0]
    fay.decide("subtopics", part, "accept")
    assert part.decisions.get().by.username == "fay"
    assert Pages(eve).post("close", "subtopics").status_code == 200
    pages.begin("new", form(server, topic="Another"))
    assert fay.post("decide", "subtopics", part.uid, action="accept").status_code == 404


def test_as_much_as_the_form_takes_gets_to_it_in_any_script(pages: Pages) -> None:
    assert 'enctype="multipart/form-data"' in pages.client.get(address("documents")).text
    most = DocumentsForm.base_fields["texts"].max_length
    for n, said in ((most, "at least two are needed"), (most + 1, f"At most {most} characters")):
        assert said in pages.refused("documents", {"topic": "Town", "texts": "\u5b57" * n})
