"""Pages of questions with key points: from seeds over picking, screening and reviews to a verification study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.engine import judging
from benchmarks.models import JudgeRun, Question
from extensions.synthesis.forms import QuestionsForm
from extensions.synthesis.models import PartKind, PartState, StepState, Synthesis, SynthesisPart
from tests.fake_openai import MODEL, FakeServer
from tests.synthesis.scripted_questions import QuestionScript, SearchServer
from tests.synthesis.scripted_questions import searching as running
from tests.synthesis.test_questions_command import SEEDS

pytestmark = pytest.mark.django_db


@pytest.fixture
def engine(settings: Any) -> Iterator[SearchServer]:
    with running() as server:
        settings.SEARCH_URLS = [server.address]
        yield server


@pytest.fixture
def client(ada: Any) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def address(name: str, *args: Any) -> str:
    return reverse(name if ":" in name else f"synthesis:{name}", args=args)


def form(server: FakeServer, **changed: Any) -> dict[str, Any]:
    """What the form sends for a small set."""
    usual = {name: each.initial for name, each in QuestionsForm.base_fields.items() if each.initial is not None}
    lines = "".join(f"{json.dumps(seed)}\n" for seed in SEEDS)
    small = {
        "topic": "A <b>harbour</b>", "base_url": server.address, "model": MODEL, "picked": 2, "per_cell": 2,
        "documents": 2, "results": 3, "categories": "causal\ncomparative", "domains": "history",
        "file": SimpleUploadedFile("seeds.jsonl", lines.encode()),
    }  # fmt: skip
    return {**usual, **small, **changed}


def test_without_a_search_server_the_form_says_so_instead_of_an_empty_choice(
    client: Client, settings: Any
) -> None:
    settings.SEARCH_URLS = ["http://127.0.0.1:1/search"]
    assert "or searched for at" in client.get(address("questions")).text
    settings.SEARCH_URLS = []
    shown = client.get(address("questions")).text
    assert "or searched for at" not in shown
    assert "No search server is set up" in shown


def begin(client: Client, server: FakeServer, engine: SearchServer) -> Synthesis:
    server.behaviour = QuestionScript()
    sent = form(server, search=[engine.address])
    response = client.post(address("questions"), sent)
    assert response.status_code == 302, response.content.decode()[:4000]
    return Synthesis.objects.get()


def run(client: Client, synthesis: Synthesis, name: str, **sent: Any) -> None:
    client.post(address("start", synthesis.uid, name), {"concurrency": 8, **sent})
    for pending in JudgeRun.objects.filter(state="pending"):
        judging.run_pending(run=pending, clock=timezone.now)
    assert synthesis.steps.get(name=name).state in {StepState.REVIEW, StepState.CLOSED}


def go_on(client: Client, synthesis: Synthesis, name: str) -> None:
    client.post(address("close", synthesis.uid, name))
    assert synthesis.steps.get(name=name).state == StepState.CLOSED


def decide(client: Client, part: SynthesisPart, step: str, **sent: Any) -> SynthesisPart:
    client.post(address("decide", part.synthesis.uid, step, part.uid), sent)
    part.refresh_from_db()
    return part


def shown(client: Client, part: SynthesisPart, step: str) -> str:
    page = client.get(f"{address('review', part.synthesis.uid, step)}?part={part.uid}")
    assert page.status_code == 200
    return " ".join(page.content.decode().split())


def test_from_seeds_over_all_gates_to_a_verification_study(
    client: Client, ada: Any, server: FakeServer, engine: SearchServer
) -> None:
    synthesis = begin(client, server, engine)
    assert server.n_asked == 0
    _pick(client, synthesis)
    _screen(client, synthesis)
    run(client, synthesis, "subquestions")
    query = synthesis.parts.filter(kind=PartKind.QUERY).order_by("number")[0]
    assert query.parent
    assert query.parent.text in shown(client, query, "subquestions").replace("&#x27;", "'")
    go_on(client, synthesis, "subquestions")
    client.post(address("estimate", synthesis.uid, "collecting"))
    assert "searches for 4 questions" in " ".join(
        client.get(address("detail", synthesis.uid)).content.decode().split()
    )
    run(client, synthesis, "collecting")
    document = synthesis.parts.filter(kind=PartKind.DOCUMENT).order_by("number")[0]
    assert 'href="https://example.org/' in shown(client, document, "collecting")
    searches = synthesis.steps.get(name="collecting").run
    assert client.get(address("benchmarks:judge-run", searches.uid)).status_code == 200
    assert client.get(address("part", query.uid)).status_code == 200
    assert client.get(address("figures", synthesis.uid)).status_code == 200
    go_on(client, synthesis, "collecting")
    for name in ("extracting", "aggregating", "scoring"):
        run(client, synthesis, name)
    _review_points(client, synthesis)
    go_on(client, synthesis, "scoring")
    assert b"key_points" in b"".join(client.get(address("download", synthesis.uid)).streaming_content)
    client.post(address("hand-over", synthesis.uid))
    synthesis.refresh_from_db()
    assert synthesis.dataset.startswith("a-bharbourb-")
    assert Question.objects.filter(dataset=synthesis.dataset, created_by=ada).count() == 4
    page = client.get(address("detail", synthesis.uid)).content.decode()
    link = f"{reverse('annotation:study-create', args=['verification'])}?dataset={synthesis.dataset}"
    assert link in page
    assert f'<option value="{synthesis.dataset}" selected>' in client.get(link).content.decode()
    client.post(address("hand-over", synthesis.uid))
    assert Question.objects.count() == 4
    point = synthesis.parts.filter(kind=PartKind.POINT).order_by("number")[0]
    assert decide(client, point, "scoring", action="reject", reason="other").state != PartState.REJECTED


def _pick(client: Client, synthesis: Synthesis) -> None:
    """Of three causal seeds the only one that is accepted goes on; more than are wanted are refused."""
    run(client, synthesis, "seeds")
    causal = list(synthesis.parts.filter(kind=PartKind.SEED, title="causal").order_by("number"))
    assert len(causal) == 3
    assert "✓ uncommon" in shown(client, causal[0], "seeds") or "hidden here" in shown(client, causal[0], "seeds")
    for seed in causal:
        decide(client, seed, "seeds", action="accept")
    go_on(client, synthesis, "seeds")
    refused = client.post(address("start", synthesis.uid, "questions"), {"concurrency": 8}, follow=True)
    assert "3 seed questions of “causal” are accepted; 2 go on" in refused.content.decode()
    for seed in causal[1:]:
        decide(client, seed, "seeds", action="reject", reason="other")
    nowhere = synthesis.parts.get(kind=PartKind.SEED, text__contains="capital")
    decide(client, nowhere, "seeds", action="accept")
    refused = client.post(address("start", synthesis.uid, "questions"), {"concurrency": 8}, follow=True)
    assert "is none of the categories" in refused.content.decode()
    client.post(address("undo", synthesis.uid, "seeds"))
    run(client, synthesis, "questions")
    made = synthesis.parts.filter(kind=PartKind.QUESTION, parent__title__startswith="causal")
    assert set(made.values_list("uses__number", flat=True)) == {causal[0].number}


def _screen(client: Client, synthesis: Synthesis) -> None:
    """What is rejected is missing from its cell, and is asked for until the cell is full."""
    questions = synthesis.parts.filter(kind=PartKind.QUESTION).order_by("number")
    assert questions.count() == 4
    rejected = questions[0]
    decide(client, rejected, "questions", action="reject", reason="wrong or unclear")
    client.post(address("close", synthesis.uid, "questions"))
    assert synthesis.steps.get(name="questions").state == StepState.REVIEW
    page = " ".join(client.get(address("detail", synthesis.uid)).content.decode().split())
    assert "Ask for the 1 missing" in page
    assert '<span class="badge warn">1 / 2</span>' in page
    run(client, synthesis, "questions", more="1")
    newest = synthesis.parts.filter(kind=PartKind.QUESTION).latest("number")
    assert (newest.number, newest.parent) == (5, rejected.parent)
    assert "From the seed" in shown(client, newest, "questions")
    again = decide(client, newest, "questions", action="regenerate", note="Ask about pilots.")
    assert again.state == PartState.REGENERATED
    run(client, synthesis, "questions")
    heir = synthesis.parts.get(replaces=newest)
    assert (heir.state, heir.data["method"]) == (PartState.CLEAR, newest.data["method"])
    assert heir.text != newest.text
    go_on(client, synthesis, "questions")


def _review_points(client: Client, synthesis: Synthesis) -> None:
    """A merged point gives its passages and the points that it was made of, and takes them back."""
    points = synthesis.parts.filter(kind=PartKind.POINT)
    question = points.order_by("number")[0].parent
    one, other = points.filter(parent=question).order_by("number")[:2]
    before = dict(other.data)
    assert "Made of these points" in shown(client, one, "scoring")
    decide(client, one, "scoring", action="merge", into=str(other.uid))
    other.refresh_from_db()
    assert other.data["made_of"] == [*before["made_of"], *one.data["made_of"]]
    assert other.data["evidence"] == [*before["evidence"], *one.data["evidence"]]
    client.post(address("undo", synthesis.uid, "scoring"))
    other.refresh_from_db()
    assert {name: other.data[name] for name in before} == before


def test_an_edit_makes_stale_what_hangs_on_it_and_the_steps_make_that_again(
    client: Client, server: FakeServer, engine: SearchServer
) -> None:
    synthesis = begin(client, server, engine)
    for name in ("seeds", "questions", "subquestions", "collecting", "extracting", "aggregating", "scoring"):
        run(client, synthesis, name)
        if synthesis.steps.get(name=name).state == StepState.REVIEW:
            go_on(client, synthesis, name)
    question = synthesis.parts.filter(kind=PartKind.QUESTION).order_by("number")[0]
    decide(client, question, "questions", action="edit", text="Why did the tide at Ilmer turn so late that year?")
    stale = set(synthesis.parts.filter(state=PartState.STALE).values_list("kind", flat=True))
    assert stale == {PartKind.QUERY, PartKind.DOCUMENT, PartKind.POINT}
    kept = synthesis.parts.filter(kind=PartKind.POINT, state=PartState.CLEAR).count()
    assert kept == 3 * 3
    for name in ("subquestions", "collecting", "extracting", "aggregating", "scoring"):
        run(client, synthesis, name)
        if synthesis.steps.get(name=name).state == StepState.REVIEW:
            go_on(client, synthesis, name)
    assert not synthesis.parts.filter(state=PartState.STALE).exists()
    assert synthesis.parts.filter(kind=PartKind.POINT, state=PartState.CLEAR).count() == kept + 3
    first = synthesis.parts.filter(kind=PartKind.QUERY, number=question.number).latest("generation")
    assert first.text == "Why did the tide at Ilmer turn so late that year?"
    document = synthesis.parts.filter(kind=PartKind.DOCUMENT, parent=first).order_by("number")[0]
    points = synthesis.parts.filter(kind=PartKind.POINT, parent=question)
    untouched = set(points.filter(state=PartState.CLEAR).exclude(uses=document))
    decide(client, document, "collecting", action="reject", reason="other")
    assert set(points.filter(state=PartState.STALE)) == set(points.filter(uses=document))
    assert set(synthesis.steps.filter(state=StepState.STALE).values_list("name", flat=True)) == {
        "aggregating", "scoring",
    }  # fmt: skip
    for name in ("aggregating", "scoring"):
        run(client, synthesis, name)
    assert untouched < set(points.filter(state=PartState.CLEAR))
    _is_partition(synthesis)


def _is_partition(synthesis: Synthesis) -> None:
    """Every point of a document that stands is in exactly one key point."""
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT, state=PartState.CLEAR)
    points = synthesis.parts.filter(kind=PartKind.POINT, state=PartState.CLEAR)
    made_of = [(one["document"], one["text"]) for point in points for one in point.data["made_of"]]
    listed = [(document.number, one["point"]) for document in documents for one in document.data["points"]]
    assert sorted(made_of) == sorted(listed)


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
    client: Client, server: FakeServer, engine: SearchServer, changed: dict[str, Any], reason: str
) -> None:
    response = client.post(address("questions"), form(server, **{"search": [engine.address], **changed}))
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert not Synthesis.objects.exists()
