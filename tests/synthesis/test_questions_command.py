"""`synthesize questions` against servers that repeat, forget, invent, break JSON, stall, answer 429 and 500."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.engine import runs
from benchmarks.io.schemas import long2rag
from benchmarks.models import JudgeCall, KeyPoint, Question, Span
from extensions.synthesis import collecting
from extensions.synthesis.models import PartKind, Synthesis, SynthesisPart, SynthesisReply
from tests.fake_openai import MODEL, Behaviour, FakeServer, failing
from tests.running import json_of
from tests.synthesis.scripted import FACTS
from tests.synthesis.scripted_questions import QuestionScript, SearchServer, result
from tests.synthesis.scripted_questions import searching as running

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
def engine(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    monkeypatch.setattr(collecting, "BACKOFF_S", 0.0)
    with running() as server:
        settings.SEARCH_URLS = [server.address]
        yield server


def make(server: FakeServer, script: Behaviour, seeds: Path, *arguments: str) -> dict[str, Any]:
    """Run the command; gives its report."""
    server.behaviour = script
    command = ("synthesize", "questions", seeds, "--topic", "A harbour", "--model", MODEL)
    return dict(json_of(*command, *SMALL, *arguments))


def test_questions_come_out_with_documents_and_key_points(
    server: FakeServer, engine: SearchServer, seeds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept = tmp_path / "questions.jsonl", list[str]()
    monkeypatch.setattr(runs, "RENEW_EVERY", timedelta(0))
    monkeypatch.setattr(runs, "keep", lambda *, run, items, now: kept.append(run.judge.kind))
    report = make(server, QuestionScript(), seeds, "--search", engine.address, "--out", str(out), "--into-corpus")
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
            assert held[span.document][span.start : span.end] == span.quote  # type: ignore[index]
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
    server: FakeServer, engine: SearchServer, seeds: Path
) -> None:
    script = QuestionScript(
        n_short=2, invents=True, loses=1, repeats=1, weak="barges", breaks=31, busy=23, fails=29, stalls=67
    )
    report = make(
        server, script, seeds, "--search", engine.address, "--ask-again", "--timeout", "1", "--concurrency", "1"
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
    server: FakeServer, engine: SearchServer, seeds: Path
) -> None:
    script = QuestionScript()
    whole = make(server, script, seeds, *FEW, "--search", engine.address, "--concurrency", "1")
    texts, n_searches = _texts(whole["synthesis"]), len(engine.bodies)
    Synthesis.objects.all().delete()
    JudgeCall.objects.all().delete()
    usual, engine.bodies, uid, script = engine.behaviour, [], "", QuestionScript()
    for most in (3, 9, 27, 38):
        dying = _Dying(script, most)
        with suppress(SystemExit, CommandError):
            make(
                server,
                dying,
                seeds,
                *(["--resume", uid] if uid else [*FEW, "--search", engine.address]),
                "--concurrency",
                "1",
            )
        assert dying.n > most, "it was cut off"
        uid = str(Synthesis.objects.get().uid)
    engine.behaviour = lambda number, body: (500, {})
    with suppress(SystemExit, CommandError):
        make(server, script, seeds, "--resume", uid, "--concurrency", "1")
    engine.behaviour = usual
    again = make(server, script, seeds, "--resume", uid, "--concurrency", "1")
    replies = SynthesisReply.objects.exclude(prompt="search")
    assert replies.count() == JudgeCall.objects.filter(state="answered", is_repair=False).count()
    assert SynthesisReply.objects.filter(prompt="search").count() == n_searches
    assert sorted(_texts(uid)) == sorted(texts)
    assert again["questions"] == whole["questions"]
    n_asked, n_searched = server.n_asked, len(engine.bodies)
    make(server, script, seeds, "--resume", uid)
    assert (server.n_asked, len(engine.bodies)) == (n_asked, n_searched)


class _Dying:
    """Denies all requests after so many, as a key that was withdrawn does: the run pauses in the middle."""

    def __init__(self, script: QuestionScript, most: int) -> None:
        self.script, self.most, self.n = script, most, 0

    def __call__(self, number: int, body: dict[str, Any]) -> Any:
        self.n += 1
        return failing(401, "no") if self.n > self.most else self.script(number, body)


def _texts(uid: str) -> list[str]:
    rows = SynthesisPart.objects.filter(synthesis__uid=uid).order_by("kind", "number")
    return [f"{row.kind} {row.number} {row.state} {row.text}" for row in rows]


def test_a_model_without_log_probabilities_is_stopped_and_another_one_goes_on(
    server: FakeServer, engine: SearchServer, seeds: Path
) -> None:
    script = QuestionScript(has_logprobs=False)
    with pytest.raises(CommandError, match="gives no log-probabilities"):
        make(server, script, seeds, *FEW, "--search", engine.address, "--concurrency", "2")
    assert script.played["score"] <= 4
    uid = str(Synthesis.objects.get().uid)
    script.has_logprobs = True
    report = make(server, script, seeds, "--resume", uid, "--model-for", "scoring=other")
    assert report["models"]["scoring"] == "other"
    assert report["steps"]["scoring"]["got"] == 16


def test_uploads_are_ranked_by_a_rerank_model_without_duplicates(
    server: FakeServer, seeds: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(5):
        (folder / f"{n}.txt").write_text(
            f"{result(n)['text']} Why do harbours silt up" if n == 4 else result(n)["text"]
        )
    (folder / "copy.txt").write_text(result(2)["text"])
    report = make(
        server, QuestionScript(), seeds, "--documents-from", str(folder), "--rerank", server.address, "ranker",
        "--autods-from", "0",
    )  # fmt: skip
    assert SynthesisPart.objects.filter(kind=PartKind.UPLOAD).count() == 5
    asked = [body for body in server.bodies if "documents" in body]
    assert len(asked) == 8
    assert all(len(body["documents"]) == 5 for body in asked)
    about = SynthesisPart.objects.filter(kind=PartKind.QUESTION, text__startswith="Why do harbours silt").first()
    assert about is not None
    first = SynthesisPart.objects.filter(kind=PartKind.DOCUMENT, parent__parent=about).order_by("number").first()
    assert first is not None
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
    server: FakeServer, engine: SearchServer, seeds: Path, arguments: tuple[str, ...], reason: str
) -> None:
    named = [engine.address if each == "ENGINE" else each for each in arguments]
    with pytest.raises(CommandError, match=reason):
        make_last(server, seeds, *named)
    assert not Synthesis.objects.exists()


def test_a_set_without_key_points_is_reported_and_its_card_written(
    server: FakeServer, engine: SearchServer, seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card, out = tmp_path / "card.md", tmp_path / "questions.jsonl"
    files = ("--card", str(card), "--out", str(out), "--allow-short")
    with pytest.raises(CommandError, match="No question has a key point that stands"):
        make_last(server, seeds, *FEW, "--search", engine.address, *files, script=QuestionScript(weak=" "))
    assert "left out, as no key point stands: 4" in capsys.readouterr().out
    assert "scoring" in card.read_text()
    assert not out.exists()


def test_a_file_that_cannot_be_written_keeps_no_other_back(
    server: FakeServer, engine: SearchServer, seeds: Path, tmp_path: Path
) -> None:
    card, out = tmp_path / "card.md", tmp_path / "nowhere" / "questions.jsonl"
    with pytest.raises(CommandError, match=r"nowhere.*: No such file"):
        make_last(server, seeds, *FEW, "--search", engine.address, "--card", str(card), "--out", str(out))
    assert card.exists()


def make_last(server: FakeServer, seeds: Path, *arguments: str, script: Behaviour | None = None) -> None:
    """The command with options that count, whatever is usual here."""
    server.behaviour = script or QuestionScript()
    topic = ("--topic", "A harbour", "--model", MODEL)
    call_command("synthesize", "questions", str(seeds), *topic, *SMALL, *arguments, stderr=io.StringIO())
