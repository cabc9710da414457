"""The prompts that a server gets, field by field as the papers list them, for haystacks and for sources."""

import json
import re
from datetime import datetime
from typing import Any

import pytest
from django.core.management import CommandError
from django.utils import timezone

from benchmarks.engine import retrieving
from benchmarks.engine.summarizing import Source
from benchmarks.engine.versions import NotPossible
from benchmarks.models import (
    Document,
    Draft,
    DraftText,
    Haystack,
    Insight,
    JudgeRun,
    SourceDataset,
    Subtopic,
    Summary,
)
from benchmarks.retrieval.registry import make
from benchmarks.summarizers import documents as token_budget
from benchmarks.summarizers.config import FOCUS
from tests.benchmarks.engine.asking import summarizer
from tests.fake_openai import Answer, FakeServer, failing
from tests.makers import make_haystack
from tests.running import json_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
BULLETS = "- It leaves at six [1].\n- It was rebuilt [2].\n- Seals came [3]."
PASTED = (
    '[N_conversations] talks on "[SCENARIO]" by [PARTICIPANTS].\n'
    "[CONVERSATIONS]\nGive [N_insights] points on [QUERY]"
)
NEWS = '[N_articles] reports on "[TOPIC]."\n[ARTICLES]\nGive the [N_insights] main points on "[SUBTOPIC]".'


def summarize(*arguments: str):
    return json_of("summarize", "--system", "heron", *arguments)


def texts(body: dict[str, Any]) -> tuple[str, str]:
    """What the system message says, and what the user's."""
    said = {message["role"]: message["content"] for message in body["messages"]}
    return said.get("system", ""), said["user"]


@pytest.fixture
def talks(db: None) -> Haystack:
    haystack = make_haystack(metadata={"participants": ["Mayor", "engineer"]})
    haystack.subtopics.update(description="the timetable")
    return haystack


# Haystacks


@pytest.mark.parametrize("method", ["at-once", "hierarchical", "incremental"])
def test_every_request_has_all_fields_of_the_paper(server: FakeServer, talks: Haystack, method: str) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    summarizer(server, method=method, block_words=150)
    summarize("--haystack", "ferry", "--order", "top")
    of_first = [texts(body) for body in server.bodies if "part 1?" in texts(body)[1]]
    assert len(of_first) == {"at-once": 1, "hierarchical": 3, "incremental": 2}[method]
    for system, user in of_first:
        known = "Topic: The island ferry\nParticipants: Mayor, engineer\nSubtopic: the timetable\n"
        assert known in system + "\n"
        assert user.endswith("Query:\nWhat do the reports say about part 1?\n\nSummary:")
        assert re.search(r"\[\d, \d\]", system), "citations in brackets"
        assert "{" not in system
    finished = of_first[-1][0]
    assert "exactly 3 bullets" in finished
    assert "200 to 300 words" in finished
    if method == "at-once":
        assert "You get 6 numbered documents" in finished
    numbers = [int(n) for _system, user in of_first for n in re.findall(r"^\[(\d)\] ", user, re.MULTILINE)]
    assert sorted(set(numbers)) == [1, 2, 3, 4, 5, 6]


def test_a_pasted_prompt_is_the_whole_request(server: FakeServer, talks: Haystack) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    summarizer(server, prompt=PASTED, shuffle="file")
    summarize("--haystack", "ferry", "--concurrency", "1")
    documents = dict(talks.documents.values_list("number", "text"))
    shown = "".join(f"Conversation {number}:\n{documents[number]}\n\n" for number in range(1, 7))
    system, user = texts(server.bodies[0])
    assert system == ""
    assert user == (
        f'6 talks on "The island ferry" by Mayor, engineer.\n{shown}\n'
        "Give 3 points on What do the reports say about part 1?"
    )
    assert [len(body["messages"]) for body in server.bodies] == [1, 1]


def test_news_are_asked_for_as_many_points_as_the_documents_shown_hold(
    server: FakeServer, talks: Haystack
) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    Insight.objects.filter(subtopic__number=1, number=3).update(gold_documents=[])
    now = timezone.now()
    row = retrieving.request(haystack=talks, retriever=make("oracle", {}), now=now, wake=False)
    retrieving.advance(uid=row.uid, clock=timezone.now)
    for bullets, expected in (("insights", "3"), ("held", "2"), ("shown", "1")):
        Insight.objects.filter(subtopic__number=1, number=2).update(gold_documents=[4, 5, 6])
        summarizer(server, prompt=NEWS, bullets=bullets, token_budget=60)
        server.bodies.clear()
        summarize("--haystack", "ferry", "--retriever", "oracle", "--concurrency", "1")
        user = texts(server.bodies[0])[1]
        assert user.startswith("1 reports on")
        assert f'Give the {expected} main points on "the timetable".' in user, bullets


def test_the_length_may_have_no_lower_end(server: FakeServer, talks: Haystack) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    summarizer(server, words_from=None)
    summarize("--haystack", "ferry")
    assert all("have at most 300 words" in texts(body)[0] for body in server.bodies)


def test_orders_are_one_for_all_subtopics_or_one_each_and_have_a_middle(
    server: FakeServer, talks: Haystack
) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    orders: dict[str, list[list[int]]] = {}
    for shuffle in ("each", "one", "file"):
        summarizer(server, shuffle=shuffle)
        summarize("--haystack", "ferry")
        drafts = Draft.objects.order_by("-judge__version", "subtopic")[:2]
        orders[shuffle] = [list(draft.documents) for draft in drafts]
    assert orders["each"][0] != orders["each"][1]
    assert orders["one"][0] == orders["one"][1] != [1, 2, 3, 4, 5, 6]
    assert orders["file"] == [[1, 2, 3, 4, 5, 6]] * 2
    assert summarize("--haystack", "ferry", "--order", "middle")["documents"] == "fl-ctxt-middle"
    second = Draft.objects.get(system__document_order="middle", subtopic__number=2)
    assert second.documents == [2, 1, 4, 5, 6, 3]


@pytest.mark.parametrize("counted", ["cl100k", "words"])
def test_the_document_that_crosses_the_budget_is_cut_and_the_run_says_how_tokens_are_counted(
    server: FakeServer, talks: Haystack, counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if counted == "cl100k":
        pytest.importorskip("bpe_openai")
    monkeypatch.setattr(token_budget, "find_spec", lambda name: counted == "cl100k" or None)
    server.behaviour = lambda number, body: Answer(BULLETS)
    summarizer(server, budget_rule="cut", token_budget=200)
    report = summarize("--haystack", "ferry", "--retriever", "keywords", "--concurrency", "1")
    assert report["cut_by"] == counted
    draft = Draft.objects.get(subtopic__number=1)
    *whole, last = draft.documents
    documents = dict(talks.documents.values_list("number", "text"))
    kept = documents[last][: draft.cut["characters"]]
    assert draft.cut["tokens"] == counted
    assert 0 < len(kept) < len(documents[last])
    shown = [documents[number] for number in whole] + [kept]
    assert 198 <= sum(token_budget.size_of(text, counted) for text in shown) <= 200
    assert draft.cut["words"] == sum(len(text.split()) for text in shown)
    assert f"[{last}] {kept}\n\nQuery" in texts(server.bodies[0])[1]
    assert JudgeRun.objects.get().scope["cut_by"] == counted


def test_without_the_rule_the_document_is_whole(server: FakeServer, talks: Haystack) -> None:
    server.behaviour = lambda number, body: Answer(BULLETS)
    summarizer(server, token_budget=200)
    assert "cut_by" not in summarize("--haystack", "ferry", "--retriever", "keywords")
    assert all(draft.cut == {} for draft in Draft.objects.all())


# Sources


def take(now: datetime, *, references: str = "Short.", dataset: str = "arxiv") -> None:
    lines = [
        {
            "key": f"s{number}",
            "documents": [
                f"Part {part} of item {number} says beta{part}. "
                + " ".join(
                    f"Line {n} of item {number} tells how part {part} of work {n} goes on." for n in range(15)
                )
                for part in "ab"
            ],
            "reference": references,
        }
        for number in range(2)
    ]
    import_sources(lines, now=now, dataset=dataset)


def sentences(n: int, reply: int = 0) -> Answer:
    return Answer(" ".join(f"Sentence {at} says {reply}." for at in range(n)))


@pytest.mark.parametrize(
    ("method", "n_requests"), [("at-once", 2), ("hierarchical", 10), ("incremental", 8), ("focus", 2)]
)
def test_sources_are_asked_for_the_papers_task_and_nothing_is_remarked(
    server: FakeServer, now: datetime, method: str, n_requests: int
) -> None:
    take(now)
    server.behaviour = lambda number, body: sentences(6, number)
    focus = {"focus": FOCUS} if method == "focus" else {"method": method, "block_words": 100}
    summarizer(server, **focus, temperature=0.3, top_k=50)
    report = summarize("--haystack", "arxiv", "--concurrency", "1")
    assert (report["written"], report["not_as_asked"], server.n_asked) == (2, 0, n_requests)
    assert not any(row.raw["remarks"] for row in DraftText.objects.all())
    for body in server.bodies:
        system, user = texts(body)
        assert system == ""
        assert "in 6 sentences" in user
        assert not re.search(r"bullet|citation|\[\d", user)
        assert (body["max_completion_tokens"], body["top_k"], body["temperature"]) == (512, 50, 0.3)
        assert (FOCUS in user) is (method == "focus")
    of_first = [texts(body)[1] for body in server.bodies if "item 0" in texts(body)[1]]
    whole = "\n".join(of_first)
    assert 0 < whole.index("beta" + "a") < whole.index("beta" + "b")
    if method == "at-once":
        documents = Document.objects.filter(haystack__key="arxiv/s0").order_by("number")
        assert "\n\n".join(row.text for row in documents) in whole
    if method == "incremental":
        assert "Summary of all parts before this one:\n(none" in of_first[0]
        assert "before this one:\nSentence 0 says 1." in of_first[1]
    if method == "hierarchical":
        assert any("Sentence 5 says 1.\n\nSentence 0" in texts(body)[1] for body in server.bodies)
    assert Summary.objects.filter(origin="generated").first().text.startswith("Sentence 0")


@pytest.mark.parametrize("method", ["at-once", "hierarchical", "incremental"])
def test_another_reference_changes_no_byte_of_any_prompt(server: FakeServer, now: datetime, method: str) -> None:
    sent: list[list[str]] = []
    take(now, dataset="letters", references="One. Two. Three.")
    server.behaviour = lambda number, body: sentences(3)
    for reference in ("x", "A much longer reference. " * 40):
        Insight.objects.update(text=reference)
        Insight.objects.filter(number__gt=2).delete()
        Draft.objects.all().delete()
        JudgeRun.objects.all().delete()
        DraftText.objects.all().delete()
        summarizer(server, method=method, block_words=100, seed=len(sent))
        server.bodies.clear()
        summarize("--haystack", "letters", "--concurrency", "1")
        sent.append([json.dumps(body["messages"]) for body in server.bodies])
    assert sent[0] == sent[1]
    assert len(sent[0]) >= 2


def test_the_length_is_the_papers_or_once_that_of_the_references_and_people_change_it(now: datetime) -> None:
    for dataset in ("xsum", "letters"):
        take(now, dataset=dataset, references="One two. " * 4)
    known = {row.name: (row.n_sentences, row.new_tokens) for row in SourceDataset.objects.all()}
    assert known == {"xsum": (1, 64), "letters": (4, 64)}


def test_a_pasted_prompt_of_the_other_paper_is_the_whole_request(server: FakeServer, now: datetime) -> None:
    take(now)
    server.behaviour = lambda number, body: sentences(6)
    summarizer(server, source_prompt="Text: [text]\nNow in [n] sentences:")
    summarize("--haystack", "arxiv", "--concurrency", "1")
    documents = Document.objects.filter(haystack__key="arxiv/s0").order_by("number")
    shown = "\n\n".join(row.text for row in documents)
    assert server.bodies[0]["messages"] == [{"role": "user", "content": f"Text: {shown}\nNow in 6 sentences:"}]


def test_sources_have_no_other_order_and_no_retriever(server: FakeServer, now: datetime) -> None:
    take(now)
    subtopics = list(Subtopic.objects.select_related("haystack"))
    for source in (Source(order="top"), Source("keywords", "x")):
        with pytest.raises(NotPossible, match="in the order that they have"):
            source.fitting(subtopics)


def test_the_offline_baseline_writes_sentences_of_sources_too(now: datetime) -> None:
    take(now)
    assert json_of("summarize", "--system", "extractive", "--haystack", "arxiv")["not_as_asked"] == 0
    assert all(
        "[" not in text and not text.startswith("-") for text in Summary.objects.values_list("text", flat=True)
    )


def test_the_decodings_of_the_paper_are_named(server: FakeServer, now: datetime) -> None:
    take(now)
    server.behaviour = lambda number, body: sentences(6, number)
    summarizer(server)
    drawn = {}
    for name in ("top-k", "greedy", "top-p"):
        summarize("--haystack", "arxiv", "--decoding", name)
        body = server.bodies[-1]
        drawn[name] = {key: body[key] for key in ("temperature", "top_k", "top_p") if key in body}
    assert drawn == {
        "top-k": {"temperature": 0.3, "top_k": 50},
        "greedy": {"temperature": 0.0},
        "top-p": {"temperature": 1.0, "top_p": 0.95},
    }


def test_a_server_that_takes_no_top_k_pauses_the_run_before_anything_is_paid(
    server: FakeServer, now: datetime
) -> None:
    take(now)
    server.behaviour = lambda number, body: failing(400, "Unrecognized request argument supplied: top_k")
    summarizer(server, top_k=50)
    assert (summarize("--haystack", "arxiv", "--concurrency", "1")["written"], server.n_asked) == (0, 1)
    run = JudgeRun.objects.get()
    assert run.state == JudgeRun.State.PAUSED
    assert "top_k" in run.message
    server.behaviour = None
    elsewhere = summarizer(server, top_k=50, base_url="https://api.openai.com/v1")
    with pytest.raises(CommandError, match=r"api.openai.com takes no top-k"):
        summarize("--haystack", "arxiv", "--system-version", str(elsewhere.version), "--estimate")
    assert server.n_asked == 1
