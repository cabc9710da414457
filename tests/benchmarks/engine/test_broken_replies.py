"""Replies that break parsers and databases: nesting, NUL, halves of surrogates, huge numbers, sheer length."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.engine import judging, runs, sending
from benchmarks.engine.tasks.coverage import CoverageQuestion, CoverageReply
from benchmarks.engine.tasks.key_points import AutodsQuestion
from benchmarks.engine.tasks.points import (
    EntailmentQuestion,
    EntailmentReply,
    ExtractionQuestion,
    read_points,
)
from benchmarks.judges import parsing
from benchmarks.judges.parsing import MOST_BYTES, MOST_CHARACTERS, NOTE, LabelAnswer, Problem, read_labels
from benchmarks.judges.replies import Reply, read_body
from benchmarks.models import Extraction, Judge, JudgeCall, JudgeRun, KeyPoint, ResponsePoint
from tests.benchmarks.engine.asking import make_judge, request
from tests.fake_openai import Answer, FakeServer
from tests.makers import make_haystack, make_summary
from tests.makers_recall import make_response

DEEP = 100_000
BREAKING = {
    "nested lists": "[" * DEEP,
    "nested objects": '{"a":' * DEEP,
    "nested in prose": "Sure: " + '{"coverage":[' * DEEP,
    "a long fence": "```" + " " * DEEP,
    "braces": '{"' * DEEP,
    "NUL": '{"coverage": "full", "bullet_ids": [1], "why": "\x00"}',
    "an escaped NUL": '{"coverage": "fu\\u0000ll", "bullet_ids": [1]}',
    "half a surrogate": '{"coverage": "\ud83d", "bullet_ids": []}',
    "an escaped half": '{"coverage": "none", "bullet_ids": [], "why": "\\ud83d"}',
    "a number without end": '{"coverage": "full", "bullet_ids": [' + "9" * 5000 + "]}",
    "a large number": '{"coverage": "full", "bullet_ids": [' + "9" * 4000 + "]}",
    "not a number": '{"coverage": "full", "bullet_ids": [NaN, Infinity]}',
}


def run_on_summaries(server: FakeServer) -> tuple[Judge, JudgeRun]:
    """One summary, three insights."""
    make_summary(subtopic=make_haystack().subtopics.get(number=1), text="- Nothing happened.")
    judge = make_judge(server)
    return judge, request(judge)


# The way of a reply through a run


@pytest.mark.django_db
@pytest.mark.parametrize("content", BREAKING.values(), ids=BREAKING.keys())
def test_a_reply_that_breaks_things_is_one_answer_and_the_run_ends(server: FakeServer, content: str) -> None:
    server.behaviour = lambda n, body: Answer(content)
    judge, run = run_on_summaries(server)
    done = judging.run_pending(run=run, clock=timezone.now)
    assert (done.n_done, done.n_failed, run.state) == (1, 0, JudgeRun.State.DONE)
    assert judge.verdicts.count() == 3
    assert server.n_asked <= 6, "once, and one repair"
    assert set(JudgeCall.objects.values_list("state", "n_sent")) == {("answered", 1)}
    cleaned = [call.reply.get(NOTE) for call in JudgeCall.objects.all()]
    assert all(cleaned) is (len(content) > MOST_CHARACTERS or "\x00" in content or "\ud83d" in content)


@pytest.mark.django_db
def test_one_bad_reply_leaves_the_answers_beside_it_alone(server: FakeServer) -> None:
    bad = "pier opens"
    server.behaviour = lambda n, body: (
        Answer("[" * DEEP + "\x00") if bad in body["messages"][1]["content"] else None
    )
    judge, run = run_on_summaries(server)
    judging.run_pending(run=run, clock=timezone.now)
    assert sorted(judge.verdicts.values_list("is_valid", flat=True)) == [False, True, True]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10**30, "completion_tokens": 5},
        {"prompt_tokens": [1], "completion_tokens": {"a": 1}},
        {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 10**9}},
        {"prompt_tokens": 1.5, "completion_tokens": float("inf"), "completion_tokens_details": "none"},
    ],
)
def test_counts_that_are_no_counts_stop_nothing(server: FakeServer, usage: dict[str, Any]) -> None:
    server.behaviour = lambda n, body: Answer('{"coverage": "none", "bullet_ids": []}', usage=usage)
    judge, run = run_on_summaries(server)
    judging.run_pending(run=run, clock=timezone.now)
    assert judge.verdicts.filter(is_valid=True).count() == 3
    for call in JudgeCall.objects.all():
        assert (call.cached_tokens or 0) <= (call.prompt_tokens or 0) or call.prompt_tokens is None


@pytest.mark.django_db
@pytest.mark.parametrize("status", [200, 400, 500])
def test_an_answer_of_the_server_that_is_nested_without_end_is_asked_a_bounded_number_of_times(
    server: FakeServer, status: int
) -> None:
    nested = []
    for _ in range(900):  # as deep as this test's own JSON printer goes; parsers are slower by a frame a level
        nested = [nested]
    server.behaviour = lambda n, body: Answer(
        '{"coverage": "none", "bullet_ids": []}', status=status, usage={"x": nested}, error=_error(status, nested)
    )
    judge, run = run_on_summaries(server)
    for _ in range(runs.MAX_ATTEMPTS):
        try:
            judging.run_pending(run=run, clock=timezone.now)
        except sending.CallFailed:
            continue
    done = judging.run_pending(run=run, clock=timezone.now)
    assert (done.n_pending, run.state) == (0, JudgeRun.State.DONE)
    assert server.n_asked <= 3 * runs.MAX_ATTEMPTS * sending.MAX_SENT
    assert (judge.verdicts.count() == 3) is (status == 200)


def _error(status: int, nested) -> dict[str, Any] | None:
    return None if status == 200 else {"message": "\x00\ud800 no", "code": None, "param": nested}


@pytest.mark.django_db
def test_points_with_characters_that_cannot_be_stored_keep_their_other_words(
    server: FakeServer, judge: Judge
) -> None:
    make_response("alpha", system="heron", n_points=1, text="Alpha holds.")
    server.behaviour = lambda n, body: Answer('{"points": ["Alpha \\u0000 holds \\ud83d.", "It is so."]}')
    judging.run_pending(run=request(judge, "extraction"), clock=timezone.now)
    assert Extraction.objects.get().is_valid
    assert list(ResponsePoint.objects.values_list("text", flat=True)) == [
        "Alpha \ufffd holds \ufffd.",
        "It is so.",
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("task", ["coverage", "recall", "extraction", "autods"])
def test_no_transaction_is_open_while_a_reply_is_read(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    seen: list[bool] = []

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def read(*args, **kwargs):
            seen.append(connection.in_atomic_block)
            return real(*args, **kwargs)

        return read

    for kind in (CoverageQuestion, EntailmentQuestion, ExtractionQuestion, AutodsQuestion):
        monkeypatch.setattr(kind, "read", watched(kind.read))
    judge = make_judge(server)
    twin = make_judge(server, "twin")
    make_summary(subtopic=make_haystack().subtopics.get(number=1), text="- Nothing happened.")
    make_response("alpha", system="heron", n_points=1, text="Alpha holds.")
    for again in (judge, twin):
        judging.run_pending(run=request(again, task), clock=timezone.now)
        KeyPoint.objects.update(autods=None)
    assert len(seen) >= 2, "once as it came, once as it was kept"
    assert not any(seen), "annotators' saves would wait for it"


# Parsers alone

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)
PIECES = st.lists(
    st.sampled_from([
        "{", "}", "[", "]", '"', "```", "```json\n", " ", "\n", ":", ",", "\x00", "\ud800", "\\ud800", "\\u0000",
        '"coverage"', '"full"', '"bullet_ids"', '"insight"', '"verdicts"', '"points"', '"answer"', '"evidence"',
        "1", "9" * 30, "-0", "1e999", "NaN", "true", "null",
    ]),
    max_size=60,
).map("".join)  # fmt: skip
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "coverage": JSON | st.sampled_from(["none", "partial", " FULL "]),
        "bullet_ids": JSON | st.lists(st.integers()),
        "answer": JSON | st.sampled_from(["yes", "no", "neutral"]),
        "evidence": JSON | st.lists(st.integers(0, 3)),
        "points": JSON | st.lists(st.text()),
        "verdicts": st.lists(st.dictionaries(st.sampled_from(["insight", "point", "coverage"]), JSON), max_size=4),
    },
).map(json.dumps)
REPLIES = ANY_TEXT | PIECES | JSON.map(json.dumps) | SHAPED


def usable_everywhere(value: object) -> bool:
    """Whether a database takes it: text in UTF-8 without NUL."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    text.encode()
    return "\\u0000" not in text


@given(REPLIES)
@example("[" * DEEP)
@example('{"a":' * DEEP)
@example('{"verdicts":[' * 20_000)
@example('{"points": ["' + "a" * MOST_CHARACTERS)
@example('{"coverage": "full", "bullet_ids": [' + "9" * 4000 + "]}")
@example('{"coverage": "full", "bullet_ids": [' + "9" * 5000 + "]}")
def test_any_text_gives_an_answer_or_a_problem_that_can_be_stored(text: str) -> None:
    answers: list[Any] = [
        *read_labels(text, CoverageReply, keys=("1",), numbers=(1, 2), several=False).values(),
        *read_labels(text, CoverageReply, keys=("1", "2"), numbers=(1, 2), several=True).values(),
        *read_labels(text, EntailmentReply, keys=("1",), numbers=(1, 2), several=False).values(),
        *read_labels(text, EntailmentReply, keys=("1", "2"), numbers=(1, 2), several=True).values(),
        read_points(text),
    ]
    for answer in answers:
        assert isinstance(answer, Problem | LabelAnswer | tuple)
        assert usable_everywhere(list(answer) if isinstance(answer, tuple) else vars(answer))


@given(
    st.dictionaries(st.sampled_from(["choices", "usage", "id", "model", "error", "code", "detail"]), JSON)
    | st.lists(JSON, max_size=1)
    | JSON
)
@example({"error": {"code": "\x00", "message": [{"loc": ["body", "\ud800"], "msg": "\x00"}]}})
@example({"error": {"code": "content_filter", "message": "\x00\ud800"}})
@example({"error": {"failed_generation": "\x00\ud800"}})
def test_any_answer_of_a_server_is_a_reply_or_a_failure_that_can_be_stored(data) -> None:
    for status in (200, 400, 500):
        assert usable_everywhere(vars(read_body(json.dumps(data).encode(), {}, 1, status=status)))


def test_an_answer_that_is_too_long_or_too_deep_is_a_reply_without_a_text() -> None:
    for body in (b" " * (MOST_BYTES + 1), b"[" * DEEP, b'{"usage": ' + b"9" * 5000 + b"}"):
        reply = read_body(body, {}, 1)
        assert isinstance(reply, Reply)
        assert (reply.text, reply.usage.prompt_tokens, bool(reply.raw[NOTE])) == ("", None, True)
        assert sys.getsizeof(json.dumps(reply.raw)) < 1000


@pytest.mark.parametrize(
    "piece", ["```" + " ", "``` ", '{"a":', '{"', '{ "a": [', "{", '{"a": "', " \n", '{"verdicts": [{'], ids=repr
)
def test_reading_takes_time_in_proportion_to_the_length(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in characters that JSON parsers are given, so that a busy machine changes nothing."""
    given_to_parsers: list[int] = []
    loads, raw_decode = json.loads, json.JSONDecoder.raw_decode

    def counted_loads(text: str):
        given_to_parsers.append(len(text))
        return loads(text)

    class Decoder(json.JSONDecoder):
        def raw_decode(self, text: str, idx: int = 0):
            given_to_parsers.append(len(text))
            return raw_decode(self, text, idx)

    monkeypatch.setattr(json, "loads", counted_loads)
    monkeypatch.setattr(parsing, "_DECODER", Decoder())

    def work(n: int) -> int:
        given_to_parsers.clear()
        text = ("```" + piece * n)[:n]
        with pytest.raises(ValueError, match="no complete JSON"):
            parsing.extract_json(text)
        return sum(given_to_parsers)

    small, large = work(5_000), work(20_000)
    assert 0 < large <= 5 * small
    assert large <= 60 * 20_000
