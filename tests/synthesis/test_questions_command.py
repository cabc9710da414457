"""`synthesize questions` against servers that repeat, forget, invent, break JSON, stall, answer 429 and 500."""

import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError

from benchmarks.engine import runs
from benchmarks.io.schemas import long2rag
from benchmarks.models import JudgeCall, KeyPoint, Question, Span
from extensions.synthesis.models import PartKind, Synthesis, SynthesisPart, SynthesisReply
from tests.fake_openai import FakeServer
from tests.synthesis.driver import Command, Dying, texts_of
from tests.synthesis.scripted import FACTS
from tests.synthesis.scripted_questions import QuestionScript, SearchServer, result

pytestmark = pytest.mark.django_db

SMALL = (
    *("--categories", "causal", "comparative", "--domains", "history", "sports", "--per-cell", "2"),
    *("--picked", "2", "--documents", "3", "--results", "3"),
)
FEW = ("--per-cell", "1")
"""One question of each kind, and so half of all that is asked."""
SEEDS = (
    {"question": "Why do harbours silt up faster after storms than in calm years?", "answer": "word " * 40},
    {"question": "Why did the masons of Aldery leave before winter?", "answer": "word " * 30},
    {"question": "Why do gulls nest on roofs?", "answer": "word " * 20},
    {"question": "How do stone moles compare with wooden ones over a century?", "answer": "word " * 50},
    {"question": "What is the capital of France and who says so?", "answer": "word " * 90},
)


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    path = tmp_path / "seeds.jsonl"
    path.write_text("".join(f"{json.dumps(seed)}\n" for seed in SEEDS))
    return path


@pytest.fixture
def command(server: FakeServer, seeds: Path) -> Command:
    return Command(server, "A harbour", "questions", seeds, *SMALL)


def test_questions_come_out_with_documents_and_key_points(
    command: Command, engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept = tmp_path / "questions.jsonl", list[str]()
    monkeypatch.setattr(runs, "RENEW_EVERY", timedelta(0))
    monkeypatch.setattr(runs, "keep", lambda *, run, items, now: kept.append(run.judge.kind))
    report = command.report(QuestionScript(), "--search", engine.address, "--out", str(out), "--into-corpus")
    steps = report["steps"]
    assert steps["seeds"]["sentence"] == (
        "Asked for 4, got 3, flagged: 1 × meets too few criteria, missing: 1 of comparative."
    )
    assert steps["questions"]["sentence"] == "Asked for 8, got 8."
    rows = long2rag.parse(out)
    assert [len(row.documents) for row in rows] == [3] * 8
    texts = [{document.number: document.text for document in row.documents} for row in rows]
    for row, held in zip(rows, texts, strict=True):
        assert {point.text for point in row.key_points} == set(FACTS[:4])
        for span in (span for point in row.key_points for span in point.spans):
            assert held[span.document][span.start : span.end] == span.quote
        assert all(point.autods and point.autods > 0.7 for point in row.key_points)
    assert {(row.category, row.domain) for row in rows} == {
        (category, domain) for category in ("causal", "comparative") for domain in ("history", "sports")
    }
    assert Question.objects.filter(dataset=Synthesis.objects.get().dataset).count() == 8
    assert KeyPoint.objects.count() == 32
    assert Span.objects.filter(is_exact=False).count() == 0
    assert report["questions"]["by_method"].keys() == {"wider", "deeper"}
    assert kept.count("search") == len(engine.bodies)


def test_each_check_catches_what_it_is_for_and_the_report_counts_it(
    command: Command, engine: SearchServer
) -> None:
    script = QuestionScript(
        n_short=2, invents=True, loses=1, repeats=1, weak="barges", breaks=31, busy=23, fails=29, stalls=67
    )
    report = command.report(
        script, "--search", engine.address, "--ask-again", "--timeout", "1", "--concurrency", "1"
    )
    steps = report["steps"]
    assert report["unusable_because"] == {
        "It has … words; it must have from … to … .": 1,
        "More than once: … . Every number is in exactly one group.": 1,
    }
    assert steps["questions"]["dropped"] == {"the reply could not be used": 1}
    assert steps["questions"]["got"] == 8
    assert steps["collecting"]["dropped"].keys() == {"a duplicate"}
    assert steps["extracting"]["dropped"] == {"its passage is not in the text": 24}
    assert steps["scoring"]["flagged"] == {"its AutoDS score is too low": 8}
    assert steps["scoring"]["got"] == 24
    assert [row["flags"] for row in report["flagged"] if row["kind"] == "point"] == [
        ["its AutoDS score is too low"]
    ] * 8
    assert report["repaired_replies"] == script.played["broken"] + 1 + 1  # a short question, a bad grouping
    assert {"busy", "failed", "broken", "lost", "repeated", "stalled"} <= script.played.keys()


def test_killed_and_resumed_it_asks_nothing_again_and_ends_the_same(
    command: Command, server: FakeServer, engine: SearchServer
) -> None:
    script = QuestionScript()
    whole = command.report(script, *FEW, "--search", engine.address, "--concurrency", "1")
    texts, n_searches = texts_of(whole["synthesis"]), len(engine.bodies)
    Synthesis.objects.all().delete()
    JudgeCall.objects.all().delete()
    usual, engine.bodies, uid, script = engine.behaviour, [], "", QuestionScript()
    for most in (3, 9, 27, 38):
        dying = Dying(script, most)
        with suppress(SystemExit, CommandError):
            command.report(
                dying,
                *(["--resume", uid] if uid else [*FEW, "--search", engine.address]),
                "--concurrency",
                "1",
            )
        assert dying.n > most, "it was cut off"
        uid = str(Synthesis.objects.get().uid)
    engine.behaviour = lambda number, body: (500, {})
    with suppress(SystemExit, CommandError):
        command.report(script, "--resume", uid, "--concurrency", "1")
    engine.behaviour = usual
    again = command.report(script, "--resume", uid, "--concurrency", "1")
    replies = SynthesisReply.objects.exclude(prompt="search")
    assert replies.count() == JudgeCall.objects.filter(state="answered", is_repair=False).count()
    assert SynthesisReply.objects.filter(prompt="search").count() == n_searches
    assert texts_of(uid) == texts
    assert again["questions"] == whole["questions"]
    n_asked, n_searched = server.n_asked, len(engine.bodies)
    command.report(script, "--resume", uid)
    assert (server.n_asked, len(engine.bodies)) == (n_asked, n_searched)


def test_a_model_without_log_probabilities_is_stopped_and_another_one_goes_on(
    command: Command, engine: SearchServer
) -> None:
    script = QuestionScript(has_logprobs=False)
    with pytest.raises(CommandError, match="gives no log-probabilities"):
        command.report(script, *FEW, "--search", engine.address, "--concurrency", "2")
    assert script.played["score"] <= 4
    uid = str(Synthesis.objects.get().uid)
    script.has_logprobs = True
    report = command.report(script, "--resume", uid, "--model-for", "scoring=other")
    assert report["models"]["scoring"] == "other"
    assert report["steps"]["scoring"]["got"] == 16


def test_uploads_are_ranked_by_a_rerank_model_without_duplicates(
    command: Command, server: FakeServer, tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(5):
        (folder / f"{n}.txt").write_text(
            f"{result(n)['text']} Why do harbours silt up" if n == 4 else result(n)["text"]
        )
    (folder / "copy.txt").write_text(result(2)["text"])
    ranked = ("--documents-from", folder, "--rerank", server.address, "ranker", "--autods-from", "0")
    report = command.report(QuestionScript(), *ranked)
    assert SynthesisPart.objects.filter(kind=PartKind.UPLOAD).count() == 5
    asked = [body for body in server.bodies if "documents" in body]
    assert len(asked) == 8
    assert all(len(body["documents"]) == 5 for body in asked)
    about = SynthesisPart.objects.filter(kind=PartKind.QUESTION, text__startswith="Why do harbours silt").first()
    assert about is not None
    first = SynthesisPart.objects.filter(kind=PartKind.DOCUMENT, parent__parent=about).order_by("number").first()
    assert first.title == "4"
    assert report["steps"]["scoring"]["got"] > 0
    assert not any("You help to choose what" in str(body) for body in server.bodies)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "There are no documents"),
        (("--search", "https://elsewhere.example/search"), "is not allowed; SEARCH_URLS lists"),
        (("--search", "ENGINE", "--per-cell", "0"), "per_cell is 1 or more"),
        (("--search", "ENGINE", "--model-for", "collecting=x"), "collected by a search"),
    ],
)
def test_what_cannot_begin_says_why(
    command: Command, engine: SearchServer, arguments: tuple[str, ...], reason: str
) -> None:
    named = [engine.address if each == "ENGINE" else each for each in arguments]
    with pytest.raises(CommandError, match=reason):
        command.report(QuestionScript(), *named)
    assert not Synthesis.objects.exists()


def test_a_set_without_key_points_is_reported_and_its_card_written(
    command: Command, engine: SearchServer, tmp_path: Path
) -> None:
    card, out = tmp_path / "card.md", tmp_path / "questions.jsonl"
    options = (*FEW, "--search", engine.address, "--card", card, "--out", out, "--allow-short")
    with pytest.raises(CommandError, match="No question has a key point that stands"):
        command.lines(QuestionScript(weak=" "), *options)
    said, _err = command.lines(QuestionScript(weak=" "), "--resume", Synthesis.objects.get().uid)
    assert "left out, as no key point stands: 4" in said
    assert "scoring" in card.read_text()
    assert not out.exists()


def test_a_file_that_cannot_be_written_keeps_no_other_back(
    command: Command, engine: SearchServer, tmp_path: Path
) -> None:
    card, out = tmp_path / "card.md", tmp_path / "nowhere" / "questions.jsonl"
    with pytest.raises(CommandError, match=r"nowhere.*: No such file"):
        command.report(QuestionScript(), *FEW, "--search", engine.address, "--card", str(card), "--out", str(out))
    assert card.exists()
