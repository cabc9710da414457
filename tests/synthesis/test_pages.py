"""Pages of syntheses: from a topic over reviews and gates into the corpus, by the forms that are on them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Exposure
from benchmarks.engine import judging
from benchmarks.models import AuditEvent, Generator, Haystack, Insight, JudgeRun
from extensions.synthesis.forms import DocumentsForm, SynthesisForm
from extensions.synthesis.models import PartKind, PartState, StepState, Synthesis, SynthesisDecision
from extensions.synthesis.overview import step_rows
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.synthesis.scripted import FACTS, SUBTOPICS, Script

pytestmark = pytest.mark.django_db


def form(server: FakeServer, **changed: Any) -> dict[str, Any]:
    """What the form sends for a small haystack."""
    usual = {name: each.initial for name, each in SynthesisForm.base_fields.items() if each.initial is not None}
    small = {"subtopics": 2, "insights": 4, "documents": 8, "words": 60, "in_documents": 2, "audit": 10}
    chosen = {"topic": "A small <b>town</b>", "kind": "news", "base_url": server.address, "model": MODEL}
    return {**usual, **small, **chosen, **changed}


@pytest.fixture
def client_of(server: FakeServer) -> Any:
    def make(user: Any) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


def address(name: str, *args: Any) -> str:
    return reverse(name if ":" in name else f"synthesis:{name}", args=args)


def begin(client: Client, server: FakeServer, **changed: Any) -> Synthesis:
    response = client.post(address("new"), form(server, **changed))
    assert response.status_code == 302, response.content.decode()[:3000]
    return Synthesis.objects.latest("pk")


def test_files_that_give_ideas_are_taken_with_the_form(server: FakeServer, ada: Any, client_of: Any) -> None:
    gulls = SimpleUploadedFile("gulls.txt", b"Gulls stole the bread.")
    synthesis = begin(client_of(ada), server, ideas=[gulls])
    assert list(synthesis.parts.values_list("kind", "title", "text")) == [
        (PartKind.UPLOAD, "gulls", "Gulls stole the bread.")
    ]


def test_a_step_whose_replies_were_all_unusable_leads_to_them(
    server: FakeServer, ada: Any, client_of: Any
) -> None:
    client = client_of(ada)
    synthesis = begin(client, server)
    server.behaviour = lambda _number, _body: Answer("As you wish.")
    run_step(client, synthesis, "subtopics")
    topic = synthesis.parts.get()
    page = client.get(address("detail", synthesis.uid)).content.decode()
    assert "Replies that could not be used: 3" in " ".join(page.split())
    assert f'href="{address("part", topic.uid)}"' in page
    replies = client.get(address("part", topic.uid)).content.decode()
    assert replies.count("As you wish.") >= 3


def run_step(client: Client, synthesis: Synthesis, name: str) -> None:
    response = client.post(address("start", synthesis.uid, name), {"concurrency": 8})
    assert response.status_code == 302
    for run in JudgeRun.objects.filter(state="pending"):
        judging.run_pending(run=run, clock=timezone.now)


def go_on(client: Client, synthesis: Synthesis, name: str) -> None:
    client.post(address("close", synthesis.uid, name))
    assert synthesis.steps.get(name=name).state == StepState.CLOSED


def test_a_model_is_asked_with_what_its_server_takes(client_of: Any, ada: Any, server: FakeServer) -> None:
    usual = begin(client_of(ada), server).steps.get(name="subtopics").judge.config
    assert (usual["temperature"], "limit_name" in usual) == (1.0, False)
    chosen = {"limit_name": "max_tokens", "no_temperature": "on"}
    synthesis = begin(client_of(ada), server, **chosen)
    config = synthesis.steps.get(name="subtopics").judge.config
    assert (config["temperature"], config["limit_name"]) == (None, "max_tokens")


def test_reasoning_before_a_reply_is_no_part_of_it(client_of: Any, ada: Any, server: FakeServer) -> None:
    script, client = Script(), client_of(ada)
    server.behaviour = lambda n, body: replace(
        said := script(n, body), content=f'Say {{"subtopics": []}}?\n</think>\n{said.content}'
    )
    synthesis = begin(client, server)
    run_step(client, synthesis, "subtopics")
    assert (server.n_asked, synthesis.parts.filter(kind="subtopic").count()) == (2, 2)


def test_from_a_topic_over_all_gates_into_the_corpus(client_of: Any, ada: Any, server: FakeServer) -> None:
    server.behaviour = Script(leaks={2: 9})
    client = client_of(ada)
    synthesis = begin(client, server)
    assert server.n_asked == 0
    client.post(address("estimate", synthesis.uid, "subtopics"))
    page = client.get(address("detail", synthesis.uid)).content.decode()
    assert "about 1 request, " in " ".join(page.split())
    assert "<b>town" not in page
    for name in ("subtopics", "insights", "screening", "documents", "queries"):
        run_step(client, synthesis, name)
        if name == "screening":
            shown = " ".join(client.get(address("detail", synthesis.uid)).content.decode().split())
            assert "Next: documents, about" in shown
            assert synthesis.parts.filter(kind=PartKind.DOCUMENT).count() == 0
        if name != "insights":
            assert client.get(address("review", synthesis.uid, name)).status_code == 200
            go_on(client, synthesis, name)
    page = client.get(address("detail", synthesis.uid)).content.decode()
    assert "is-leaked" in page
    _judge_a_document(client, synthesis)
    figures = " ".join(client.get(address("figures", synthesis.uid)).content.decode().split())
    assert "<dt>Planted against not: AUC</dt><dd>0.9" in figures
    assert "<dt>Leaks found and left in a document, mean</dt> <dd>0.13</dd>" in figures
    assert "pairs that words call absent" in figures
    card = b"".join(client.get(address("card", synthesis.uid)).streaming_content).decode()
    assert card.startswith("# A small &lt;b>town&lt;/b>\n")
    assert re.search(r"^- document \d: leaks an insight$", card, re.MULTILINE)
    response = client.get(address("download", synthesis.uid))
    assert b"insights_included" in b"".join(response.streaming_content)
    client.post(address("hand-over", synthesis.uid))
    haystack = Haystack.objects.get()
    assert (haystack.n_documents, haystack.created_by) == (8, ada)
    assert Exposure.objects.filter(user=ada, haystack=haystack, reason="synthesis").exists()
    assert AuditEvent.objects.filter(action="synthesis.handed_over").count() == 1
    client.post(address("hand-over", synthesis.uid))
    assert Haystack.objects.count() == 1


def _judge_a_document(client: Client, synthesis: Synthesis) -> None:
    """Two verdicts on insights move the cursor on; a leak is named; what is no verdict is refused."""
    document = synthesis.parts.filter(kind=PartKind.DOCUMENT, state=PartState.CLEAR).first()
    assert document is not None
    first, second = document.uses.order_by("number")[:2]
    review = f"{address('review', synthesis.uid, 'documents')}?part={document.uid}"
    judge = address("judge", synthesis.uid, "documents", document.uid)
    under_cursor = 'name="insight" value="{}">'
    assert under_cursor.format(first.uid) in client.get(review).content.decode()
    assert client.post(judge, {"insight": first.uid, "verdict": "present"})["Location"] == review
    page = client.get(review).content.decode()
    assert under_cursor.format(second.uid) in page
    assert under_cursor.format(first.uid) not in page
    assert under_cursor.format(first.uid) in client.get(f"{review}&insight={first.uid}").content.decode()
    client.post(judge, {"insight": second.uid, "verdict": "maybe"})
    assert client.post(judge, {"insight": synthesis.uid, "verdict": "absent"}).status_code == 404
    foreign = synthesis.parts.filter(kind=PartKind.INSIGHT).exclude(used_by=document).first()
    assert foreign is not None
    client.post(judge, {"insight": foreign.uid, "verdict": "present"})
    rows = SynthesisDecision.objects.filter(action="verdict").values_list("insight", "reason")
    assert list(rows) == [(first.pk, "present"), (foreign.pk, "present")]
    decide = address("decide", synthesis.uid, "documents", document.uid)
    for action in ("verdict", "undo"):
        refused = client.post(decide, {"action": action}, follow=True)
        assert "This decision is not known" in refused.content.decode()


def test_a_reviewer_decides_one_after_the_other_and_takes_it_back(
    client_of: Any, ada: Any, server: FakeServer
) -> None:
    server.behaviour = Script(misplaced=True)
    client = client_of(ada)
    synthesis = begin(client, server)
    run_step(client, synthesis, "subtopics")
    go_on(client, synthesis, "subtopics")
    run_step(client, synthesis, "insights")
    run_step(client, synthesis, "screening")
    review = address("review", synthesis.uid, "screening")
    flagged = synthesis.parts.get(kind=PartKind.INSIGHT, state=PartState.FLAGGED)
    page = client.get(f"{review}?part={flagged.uid}").content.decode()
    assert ("belongs elsewhere" in page) != ("hidden here" in page)
    decide = address("decide", synthesis.uid, "screening", flagged.uid)
    assert client.post(decide, {"action": "reject"}).status_code == 302
    assert client.post(decide, {"action": "undo"}).status_code == 302
    assert not SynthesisDecision.objects.exists()
    then = client.post(decide, {"action": "reject", "reason": "belongs elsewhere"})
    assert "?part=" in then["Location"]
    assert str(flagged.uid) not in then["Location"]
    other = synthesis.parts.filter(kind=PartKind.INSIGHT, state=PartState.CLEAR).first()
    assert other is not None
    client.post(
        address("decide", synthesis.uid, "screening", other.uid),
        {"action": "merge", "into": str(synthesis.parts.filter(kind=PartKind.INSIGHT).last().uid)},
    )
    other.refresh_from_db()
    assert other.state == PartState.REJECTED
    assert client.post(address("undo", synthesis.uid, "screening"))["Location"].endswith(str(other.uid))
    client.post(address("undo", synthesis.uid, "screening"))
    client.post(address("undo", synthesis.uid, "screening"))
    flagged.refresh_from_db()
    assert flagged.state == PartState.FLAGGED
    client.post(address("accept", synthesis.uid, "screening"))
    assert not synthesis.parts.filter(kind=PartKind.INSIGHT, state=PartState.CLEAR).exists()
    part = client.get(address("part", flagged.uid)).content.decode()
    assert "To which subtopic does this fact belong?" in part


def test_pasted_documents_become_insights_and_a_haystack(client_of: Any, ada: Any, server: FakeServer) -> None:
    server.behaviour = Script()
    client = client_of(ada)
    texts = "\r\n---\r\n".join([FACTS[0], f"# Two\r\n\r\n{FACTS[0]} {FACTS[1]}", FACTS[1], FACTS[4], FACTS[0]])
    sent = {"topic": "Town", "texts": "One only", "base_url": server.address, "model": MODEL, "subtopics": 3}
    refused = client.post(address("documents"), sent)
    assert refused.status_code == 422
    assert "at least two are needed" in refused.content.decode()
    assert client.post(address("documents"), {**sent, "texts": texts}).status_code == 302
    synthesis = Synthesis.objects.get()
    for name in ("points", "grouping", "sorting", "holding"):
        run_step(client, synthesis, name)
        assert client.get(address("detail", synthesis.uid)).status_code == 200
        if name in {"grouping", "sorting"}:
            page = client.get(address("review", synthesis.uid, name)).content.decode()
            assert ("Said in" in page) == (name == "grouping")
            go_on(client, synthesis, name)
    client.post(address("hand-over", synthesis.uid))
    found = Insight.objects.filter(subtopic__haystack__title="Town")
    assert {row.text: row.gold_documents for row in found} == {
        FACTS[0]: [1, 2, 5], FACTS[1]: [2, 3], FACTS[4]: [4],
    }  # fmt: skip


def test_files_become_documents_after_the_pasted_ones(client_of: Any, ada: Any, server: FakeServer) -> None:
    files = [SimpleUploadedFile("a.md", f"# Stones\n\n{FACTS[0]}".encode()), SimpleUploadedFile("b.txt", b"Two.")]
    sent = {"topic": "Town", "texts": FACTS[1], "base_url": server.address, "model": MODEL, "subtopics": 3}
    client = client_of(ada)
    wrong = client.post(address("documents"), {**sent, "uploads": [SimpleUploadedFile("c.exe", b"MZ")]})
    assert wrong.status_code == 422
    assert "c.exe: .exe is none of .txt, .md" in wrong.content.decode()
    assert client.post(address("documents"), {**sent, "uploads": files}).status_code == 302
    found = Synthesis.objects.get().parts.filter(kind=PartKind.DOCUMENT).order_by("number")
    assert [(part.title, part.text) for part in found] == [
        (" ".join(FACTS[1].split()[:8]), FACTS[1]), ("Stones", f"Stones\n\n{FACTS[0]}"), ("b", "Two."),
    ]  # fmt: skip


def test_another_model_for_a_step_is_shown_on_it_and_in_its_lineage(
    client_of: Any, ada: Any, server: FakeServer
) -> None:
    server.behaviour = Script()
    client = client_of(ada)
    synthesis = begin(client, server, model_for_screening=" checker-<2> ")
    models = [step.judge.name for step in synthesis.steps.select_related("judge")]
    assert models == [MODEL, MODEL, "checker-<2>", MODEL, MODEL]
    assert "checker-&lt;2&gt;" in client.get(address("detail", synthesis.uid)).content.decode()
    run_step(client, synthesis, "subtopics")
    go_on(client, synthesis, "subtopics")
    run_step(client, synthesis, "insights")
    run_step(client, synthesis, "screening")
    part = synthesis.parts.filter(kind=PartKind.INSIGHT).first()
    assert part is not None
    page = client.get(address("part", part.uid)).content.decode()
    assert "category · checker-&lt;2&gt;" in page
    assert {body["model"] for body in server.bodies} == {MODEL, "checker-<2>"}


def test_what_people_rejected_is_asked_for_at_the_gate_and_not_repeated(
    client_of: Any, ada: Any, server: FakeServer
) -> None:
    server.behaviour = Script()
    client = client_of(ada)
    synthesis = begin(client, server)
    here = address("detail", synthesis.uid)
    start = address("start", synthesis.uid, "subtopics")
    run_step(client, synthesis, "subtopics")
    assert "missing</button>" not in client.get(here).content.decode()
    refused = client.post(start, {"concurrency": 8, "more": "1"}, follow=True)
    assert "Nothing is missing." in refused.content.decode()
    part = synthesis.parts.get(kind=PartKind.SUBTOPIC, number=2)
    decide = address("decide", synthesis.uid, "subtopics", part.uid)
    client.post(decide, {"action": "reject", "reason": "other"})
    assert "Ask for the 1 missing</button>" in " ".join(client.get(here).content.decode().split())
    client.post(start, {"concurrency": 8, "more": "1"})
    run_step(client, synthesis, "subtopics")
    rows = synthesis.parts.filter(kind=PartKind.SUBTOPIC).values_list("number", "title", "state")
    assert list(rows) == [
        (1, SUBTOPICS[0], PartState.CLEAR),
        (2, SUBTOPICS[1], PartState.REJECTED),
        (3, SUBTOPICS[2], PartState.CLEAR),
    ]
    go_on(client, synthesis, "subtopics")
    again = client.post(start, {"concurrency": 8, "more": "1"}, follow=True)
    assert "Only a list that awaits review is asked for again." in again.content.decode()


def test_a_model_of_somebody_else_begins_nothing(
    client_of: Any, ada: Any, django_user_model: Any, server: FakeServer
) -> None:
    begin(client_of(ada), server, model="adas")
    fay = django_user_model.objects.create_user("fay", password="x")
    fay.groups.add(Group.objects.get(name="researcher"))
    Generator.objects.filter(name="adas").update(config_sha256="of other settings")
    response = client_of(fay).post(address("new"), form(server, model="own", model_for_queries="adas"))
    assert response.status_code == 422
    assert "Somebody else made “adas”" in response.content.decode()
    assert Synthesis.objects.count() == 1
    assert not Generator.objects.filter(name="own").exists()


def test_a_step_out_of_turn_is_refused_with_a_sentence(client_of: Any, ada: Any, server: FakeServer) -> None:
    client = client_of(ada)
    synthesis = begin(client, server)
    response = client.post(address("start", synthesis.uid, "documents"), {"concurrency": 8}, follow=True)
    assert "The step “subtopics” comes first." in response.content.decode()
    response = client.post(address("close", synthesis.uid, "subtopics"), follow=True)
    assert "only one that awaits review can be closed" in response.content.decode()
    response = client.get(address("download", synthesis.uid), follow=True)
    assert "not closed" in response.content.decode()


def test_what_cannot_be_planned_is_refused_before_anything_is_paid(
    client_of: Any, ada: Any, server: FakeServer
) -> None:
    client = client_of(ada)
    response = client.post(address("new"), form(server, documents=2, in_documents=3))
    assert response.status_code == 422
    assert "2 documents of at most 8 insights have 16" in response.content.decode()
    assert not Synthesis.objects.exists()


def test_a_step_whose_run_was_cancelled_goes_on_where_it_was(client_of: Any, ada: Any, server: FakeServer) -> None:
    server.behaviour = Script()
    client = client_of(ada)
    synthesis = begin(client, server)
    client.post(address("start", synthesis.uid, "subtopics"), {"concurrency": 8})
    run = JudgeRun.objects.get()
    response = client.post(address("start", synthesis.uid, "subtopics"), {"concurrency": 8}, follow=True)
    assert "its run is paused" in response.content.decode()
    client.post(address("benchmarks:judge-run-cancel", run.uid))
    page = client.get(address("detail", synthesis.uid)).content.decode()
    assert "Go on where it was cancelled" in page
    run_step(client, synthesis, "subtopics")
    assert synthesis.steps.get(name="subtopics").state == StepState.REVIEW


def test_what_was_made_again_counts_once_on_its_step(client_of: Any, ada: Any, server: FakeServer) -> None:
    server.behaviour = Script(leaks={2: 9})
    client = client_of(ada)
    synthesis = begin(client, server)
    for name in ("subtopics", "insights", "screening", "documents"):
        run_step(client, synthesis, name)
        if name != "insights":
            go_on(client, synthesis, name)
    insight = synthesis.parts.filter(kind=PartKind.INSIGHT).first()
    assert insight is not None
    text = {"action": "edit", "text": "The bell of Dunwich rang 77 times."}
    client.post(address("decide", synthesis.uid, "screening", insight.uid), text)
    run_step(client, synthesis, "documents")
    assert synthesis.parts.filter(kind=PartKind.DOCUMENT, state=PartState.REGENERATED).exists()
    [row] = [row for row in step_rows(synthesis) if row.step.name == "documents"]
    there = sum(row.states.get(state, 0) for state in ("flagged", "stale", "clear"))
    assert (there, row.n_read) == (8, 0)
    assert row.n_repaired <= row.n_written == 8


def test_another_researcher_reviews_but_runs_no_steps(
    client_of: Any, ada: Any, eve: Any, django_user_model: Any, server: FakeServer
) -> None:

    server.behaviour = Script()
    synthesis = begin(client_of(ada), server)
    run_step(client_of(ada), synthesis, "subtopics")
    fay = django_user_model.objects.create_user("fay", password="x")
    fay.groups.add(Group.objects.get(name="researcher"))
    client = client_of(fay)
    assert client.post(address("close", synthesis.uid, "subtopics")).status_code == 403
    part = synthesis.parts.filter(kind=PartKind.SUBTOPIC).first()
    assert part is not None
    client.post(address("decide", synthesis.uid, "subtopics", part.uid), {"action": "accept"})
    assert part.decisions.get().by == fay
    assert client_of(eve).post(address("close", synthesis.uid, "subtopics")).status_code == 302
    elsewhere = begin(client_of(ada), server, topic="Another")
    wrong = address("decide", elsewhere.uid, "subtopics", part.uid)
    assert client.post(wrong, {"action": "accept"}).status_code == 404


def test_as_much_as_the_form_takes_gets_to_it_in_any_script(client_of: Any, ada: Any, server: FakeServer) -> None:
    client, address_of_form = client_of(ada), address("documents")
    assert 'enctype="multipart/form-data"' in client.get(address_of_form).content.decode()
    most = DocumentsForm.base_fields["texts"].max_length
    for n, said in ((most, "at least two are needed"), (most + 1, f"At most {most} characters")):
        response = client.post(address_of_form, {"topic": "Town", "texts": "\u5b57" * n})
        assert response.status_code == 422
        assert said in response.content.decode()
