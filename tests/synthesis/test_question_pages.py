"""Pages of questions with key points: from seeds over picking, screening and reviews to a verification study."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.models import Question
from extensions.synthesis.forms import QuestionsForm
from extensions.synthesis.models import PartState, StepState, Synthesis
from tests.fake_openai import MODEL, FakeServer
from tests.synthesis.driver import Pages, address
from tests.synthesis.scripted_questions import QuestionScript, SearchServer
from tests.synthesis.test_questions_command import SEEDS

pytestmark = pytest.mark.django_db
AFTER_QUESTIONS = ("subquestions", "collecting", "extracting", "aggregating", "scoring")


@pytest.fixture
def pages(ada, server: FakeServer) -> Pages:
    server.behaviour = QuestionScript()
    return Pages(ada)


def form(server: FakeServer, engine: SearchServer, **changed) -> dict[str, Any]:
    """What the form sends for a small set."""
    usual = {name: each.initial for name, each in QuestionsForm.base_fields.items() if each.initial is not None}
    lines = "".join(f"{json.dumps(seed)}\n" for seed in SEEDS)
    small = {
        "topic": "A <b>harbour</b>", "base_url": server.address, "model": MODEL, "picked": 2, "per_cell": 2,
        "documents": 2, "results": 3, "categories": "causal\ncomparative", "domains": "history",
        "file": SimpleUploadedFile("seeds.jsonl", lines.encode()), "search": [engine.address],
    }  # fmt: skip
    return {**usual, **small, **changed}


def parts(pages: Pages, kind: str, **of):
    return pages.synthesis.parts.filter(kind=kind, **of).order_by("number")


def test_without_a_search_server_the_form_says_so_instead_of_an_empty_choice(pages: Pages, settings) -> None:
    for urls, has_search in ((["http://127.0.0.1:1/search"], True), ([], False)):
        settings.SEARCH_URLS = urls
        shown = pages.client.get(address("questions")).text
        assert ("or searched for at" in shown) == has_search
        assert ("No search server is set up" in shown) != has_search


def test_from_seeds_over_all_gates_to_a_verification_study(
    pages: Pages, ada, server: FakeServer, engine: SearchServer
) -> None:
    pages.begin("questions", form(server, engine))
    assert server.n_asked == 0
    _pick(pages)
    _screen(pages)
    pages.run("subquestions")
    query = parts(pages, "query")[0]
    assert query.parent.text in pages.review("subquestions", query).replace("&#x27;", "'")
    pages.go_on("subquestions")
    pages.post("estimate", "collecting")
    assert "searches for 4 questions" in pages.see()
    pages.run("collecting")
    assert 'href="https://example.org/' in pages.review("collecting", parts(pages, "document")[0])
    pages.see("benchmarks:judge-run", pages.synthesis.steps.get(name="collecting").run.uid)
    pages.see("part", query.uid)
    pages.see("figures")
    pages.go_on("collecting")
    pages.run("extracting", "aggregating", "scoring")
    _review_points(pages)
    pages.go_on("scoring")
    assert b"key_points" in pages.file("download")
    pages.post("hand-over")
    name = pages.synthesis.dataset
    assert name.startswith("a-bharbourb-")
    assert Question.objects.filter(dataset=name, created_by=ada).count() == 4
    link = f"{reverse('annotation:study-create', args=['verification'])}?dataset={name}"
    assert link in pages.see()
    assert f'<option value="{name}" selected>' in pages.client.get(link).text
    pages.post("hand-over")
    assert Question.objects.count() == 4
    assert pages.decide("scoring", parts(pages, "point")[0], "reject", reason="other").state != PartState.REJECTED


def _pick(pages: Pages) -> None:
    """Of three causal seeds the only one that is accepted goes on; more than are wanted are refused."""
    pages.run("seeds")
    causal = list(parts(pages, "seed", title="causal"))
    assert len(causal) == 3
    shown = pages.review("seeds", causal[0])
    assert "✓ uncommon" in shown or "hidden here" in shown
    for seed in causal:
        pages.decide("seeds", seed, "accept")
    pages.go_on("seeds")
    refused = pages.post("start", "questions", concurrency=8).text
    assert "3 seed questions of “causal” are accepted; 2 go on" in refused
    for seed in causal[1:]:
        pages.decide("seeds", seed, "reject", reason="other")
    pages.decide("seeds", parts(pages, "seed").get(text__contains="capital"), "accept")
    assert "is none of the categories" in pages.post("start", "questions", concurrency=8).text
    pages.post("undo", "seeds")
    pages.run("questions")
    made = parts(pages, "question", parent__title__startswith="causal")
    assert set(made.values_list("uses__number", flat=True)) == {causal[0].number}


def _screen(pages: Pages) -> None:
    """What is rejected is missing from its cell, and is asked for until the cell is full."""
    assert parts(pages, "question").count() == 4
    rejected = pages.decide("questions", parts(pages, "question")[0], "reject", reason="wrong or unclear")
    pages.post("close", "questions")
    assert pages.synthesis.steps.get(name="questions").state == StepState.REVIEW
    page = pages.see()
    assert "Ask for the 1 missing" in page
    assert '<span class="badge warn">1 / 2</span>' in page
    pages.run("questions", more="1")
    newest = parts(pages, "question").latest("number")
    assert (newest.number, newest.parent) == (5, rejected.parent)
    assert "From the seed" in pages.review("questions", newest)
    again = pages.decide("questions", newest, "regenerate", note="Ask about pilots.")
    assert again.state == PartState.REGENERATED
    pages.run("questions")
    heir = pages.synthesis.parts.get(replaces=newest)
    assert (heir.state, heir.data["method"]) == (PartState.CLEAR, newest.data["method"])
    assert heir.text != newest.text
    pages.go_on("questions")


def _review_points(pages: Pages) -> None:
    """A merged point gives its passages and the points that it was made of, and takes them back."""
    one, other = parts(pages, "point", parent=parts(pages, "point")[0].parent)[:2]
    before = dict(other.data)
    assert "Made of these points" in pages.review("scoring", one)
    pages.decide("scoring", one, "merge", into=other.uid)
    other.refresh_from_db()
    assert other.data["made_of"] == [*before["made_of"], *one.data["made_of"]]
    assert other.data["evidence"] == [*before["evidence"], *one.data["evidence"]]
    pages.post("undo", "scoring")
    other.refresh_from_db()
    assert {name: other.data[name] for name in before} == before


def test_an_edit_makes_stale_what_hangs_on_it_and_the_steps_make_that_again(
    pages: Pages, server: FakeServer, engine: SearchServer
) -> None:
    pages.begin("questions", form(server, engine))
    pages.run("seeds", "questions", *AFTER_QUESTIONS)
    pages.go_on("scoring")
    synthesis, question = pages.synthesis, parts(pages, "question")[0]
    text = "Why did the tide at Ilmer turn so late that year?"
    pages.decide("questions", question, "edit", text=text)
    assert set(synthesis.parts.filter(state=PartState.STALE).values_list("kind", flat=True)) == {
        "query", "document", "point",
    }  # fmt: skip
    kept = parts(pages, "point", state=PartState.CLEAR).count()
    assert kept == 3 * 3
    pages.run(*AFTER_QUESTIONS)
    pages.go_on("scoring")
    assert not synthesis.parts.filter(state=PartState.STALE).exists()
    assert parts(pages, "point", state=PartState.CLEAR).count() == kept + 3
    first = parts(pages, "query", number=question.number).latest("generation")
    assert first.text == text
    document = parts(pages, "document", parent=first)[0]
    points = parts(pages, "point", parent=question)
    untouched = set(points.filter(state=PartState.CLEAR).exclude(uses=document))
    pages.decide("collecting", document, "reject", reason="other")
    assert set(points.filter(state=PartState.STALE)) == set(points.filter(uses=document))
    stale = synthesis.steps.filter(state=StepState.STALE)
    assert set(stale.values_list("name", flat=True)) == {"aggregating", "scoring"}
    pages.run("aggregating", "scoring")
    assert untouched < set(points.filter(state=PartState.CLEAR))
    made_of = [row for point in parts(pages, "point", state=PartState.CLEAR) for row in point.data["made_of"]]
    documents = parts(pages, "document", state=PartState.CLEAR)
    listed = [(row.number, point["point"]) for row in documents for point in row.data["points"]]
    assert sorted((row["document"], row["text"]) for row in made_of) == sorted(listed), "each in one key point"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"search": []}, "There are no documents"),
        ({"file": SimpleUploadedFile("s.jsonl", b'{"answer": 1}\n')}, "question"),
        ({"file": SimpleUploadedFile("s.jsonl", b"\n")}, "question"),
        ({"categories": "causal\nCausal"}, "each once"),
        ({"fewest": 20, "most": 10}, "in this order"),
        ({"rerank_model": "x"}, "go together"),
        ({"search": ["https://elsewhere.example/"]}, "elsewhere.example"),
    ],
)
def test_a_form_that_cannot_be_says_why_and_begins_nothing(
    pages: Pages, server: FakeServer, engine: SearchServer, changed: dict[str, Any], reason: str
) -> None:
    assert reason in pages.refused("questions", form(server, engine, **changed))
    assert not Synthesis.objects.exists()
