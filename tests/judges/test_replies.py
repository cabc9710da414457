"""What a server sent, read in one place: without reasoning, from parts, and errors by what they mean."""

import json
from typing import Any

import pytest

from benchmarks.engine.tasks.coverage import CoverageReply
from benchmarks.engine.tasks.key_points import AutodsQuestion
from benchmarks.judges.base import ResponseFormat
from benchmarks.judges.parsing import LabelAnswer, Problem, read_labels
from benchmarks.judges.questions import BadConfiguration, ModelConfig, limit_of, request_body
from benchmarks.judges.replies import Failure, Reply, Trouble, read_body, read_reply, without_reasoning

SERVER = {"base_url": "http://127.0.0.1:1/v1", "model": "sparrow-1"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Plain < text.", "Plain < text."),
        (" Kept as it is ", " Kept as it is "),
        ("<think>One</think> Two", "Two"),
        ("the template opened it</think>\n\nTwo", "Two"),
        ("<think>a</think> b <think>c</think> d", "d"),
        ("<think>It never ends", ""),
        ("a</think> <think>nor does this", ""),
        ("<thinking>One</thinking>Two", "Two"),
        ("[THINK]One[/THINK]Two", "Two"),
        ("<|channel|>analysis<|message|>One<|channel|>final<|message|>Two", "Two"),
    ],
)
def test_reasoning_goes_up_to_its_last_end(text: str, answer: str) -> None:
    assert without_reasoning(text) == answer


@pytest.mark.parametrize(
    ("message", "text", "refusal"),
    [
        ({"content": None}, "", ""),
        ({"content": {"text": "no"}}, "", ""),
        ({"content": 7, "refusal": False}, "", ""),
        ({"content": [{"type": "text", "text": "One "}, "no", {"type": "text", "text": "two"}]}, "One two", ""),
        ({"content": [{"type": "thinking", "thinking": "[9]"}]}, "", ""),
        ({"content": [{"type": "refusal", "refusal": "I will not."}]}, "", "I will not."),
    ],
)
def test_a_text_is_a_text_or_parts_of_one(message: dict[str, Any], text: str, refusal: str) -> None:
    reply = read_reply({"choices": [{"message": message}]}, {}, 1)
    assert (reply.text, reply.refusal) == (text, refusal)


@pytest.mark.parametrize("reason", ["length", "model_length", "MAX_TOKENS"])
def test_servers_have_several_words_for_the_limit(reason: str) -> None:
    assert read_reply({"choices": [{"finish_reason": reason}]}, {}, 1).is_cut_off


@pytest.mark.parametrize(
    ("counted", "estimate", "is_cut"),
    [(4096, 39_615, True), (4096, 8_192, False), (10, 900, False), (0, 39_615, False), (None, 39_615, False)],
)
def test_a_count_under_half_of_the_estimate_shows_a_cut(counted: int | None, estimate: int, is_cut: bool) -> None:
    reply = read_reply({"choices": [], "usage": {"prompt_tokens": counted}}, {}, 1)
    assert bool(reply.cut_because(estimate)) is is_cut


@pytest.mark.parametrize(
    ("status", "body", "trouble", "message"),
    [
        (200, {"error": {"message": "No money", "code": "402"}}, Trouble.DENIED, "402: No money"),
        (200, {"error": {"message": "Slow", "code": "rate_limit_exceeded"}}, Trouble.BUSY, "429: Slow"),
        (200, {"error": "Odd"}, Trouble.FOREIGN, "Odd"),
        (200, {"choices": [], "detail": "Odd"}, Trouble.FOREIGN, "Odd"),
        (
            200,
            {"choices": [{"finish_reason": "error"}]},
            Trouble.TRANSIENT,
            "500: The generation ended in an error.",
        ),
        (200, {"message": "Who are you?"}, Trouble.FOREIGN, "Who are you?"),
        (200, {"choices": None, "code": 503}, Trouble.TRANSIENT, "503: The server gives no reason."),
        (200, "a text", Trouble.FOREIGN, "The server's answer is not a chat completion."),
        (429, {"error": {"message": "Broke", "code": "insufficient_quota"}}, Trouble.DENIED, "429: Broke"),
        (400, {"error": {"error": {"message": "Deep"}}}, Trouble.REJECTED, "400: Deep"),
        (400, {"message": "Is gone", "code": "model_decommissioned"}, Trouble.DENIED, "400: Is gone"),
        (
            400,
            {"error": {"message": "Hm.", "param": "model"}},
            Trouble.DENIED,
            "400: Hm. The server refuses “model”.",
        ),
        (400, {"error": {"message": "No json_schema here"}}, Trouble.FORMAT, "400: No json_schema here"),
        (400, {"error": {"message": "Bad", "param": "response_format"}}, Trouble.FORMAT, "400: Bad"),
        (
            502,
            {"error": {"message": "Provider error", "metadata": {"raw": "upstream"}}},
            Trouble.TRANSIENT,
            "502: Provider error: upstream",
        ),
        (302, {}, Trouble.DENIED, "302: The server gives no reason."),
    ],
)
def test_an_error_is_classed_by_its_code(status: int, body, trouble: Trouble, message: str) -> None:
    failure = read_body(json.dumps(body).encode(), {}, 1, status=status)
    assert isinstance(failure, Failure)
    assert (failure.trouble, failure.message, failure.may_be_paid) == (trouble, message, status == 502)


def test_a_plain_text_and_a_page_are_the_words_of_an_error() -> None:
    plain = read_body(b"Internal Server Error", {}, 1, status=500)
    page = read_body(b"<html><title>Bad\x00 gateway</title></html>", {}, 1, status=502)
    assert isinstance(plain, Failure)
    assert isinstance(page, Failure)
    assert plain.message == "500: Internal Server Error"
    assert page.message == "502: a web page (“Bad\ufffd gateway”)"


def test_what_a_server_could_not_use_is_a_reply_that_cost_nothing() -> None:
    error = {"message": "Generated JSON does not match the schema.", "failed_generation": '{"cov'}
    reply = read_body(json.dumps({"error": error}).encode(), {}, 1, status=400)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.usage.prompt_tokens, reply.refused_because) == ('{"cov', 0, "")


def read(text: str) -> LabelAnswer | Problem:
    return read_labels(text, CoverageReply, keys=("1",), numbers=(1, 2), several=False)["1"]


FULL, NONE = '{"coverage": "full", "bullet_ids": [1]}', '{"coverage": "none", "bullet_ids": []}'


def test_only_answers_that_can_be_used_and_differ_are_too_many() -> None:
    full = LabelAnswer("1", "full", (1,))
    assert read(f"{FULL} I say it again: ```json\n{FULL}\n```") == full
    assert read(f'The form is {{"coverage": "none|full", "bullet_ids": []}}. {FULL}') == full
    assert read(f'{{"coverage": "full", "bullet_ids": [7]}} no, {FULL}') == full
    assert isinstance(read(f"{NONE} or {FULL}"), Problem)
    assert isinstance(read(f'{{"first": {FULL}}}'), Problem)


def test_of_several_items_only_those_with_two_answers_are_asked_about_again() -> None:
    rows = [{"insight": 1, **json.loads(FULL)}, {"insight": 2, **json.loads(NONE)}]
    other = [rows[0], {"insight": 2, **json.loads(FULL)}]
    text = f"{json.dumps(rows)} and {json.dumps({'verdicts': other})}"
    found = read_labels(text, CoverageReply, keys=("1", "2"), numbers=(1, 2), several=True)
    assert found["1"] == LabelAnswer("1", "full", (1,))
    assert isinstance(found["2"], Problem)


def test_the_usual_name_of_the_limit_is_no_part_of_what_is_stored() -> None:
    assert "limit_name" not in ModelConfig.from_mapping(SERVER).as_mapping()
    other = ModelConfig.from_mapping({**SERVER, "limit_name": "max_tokens"})
    assert ModelConfig.from_mapping(other.as_mapping()) == other
    with pytest.raises(BadConfiguration, match="limit_name"):
        ModelConfig.from_mapping({**SERVER, "limit_name": "max"})


def test_what_a_task_needs_is_sent_under_the_names_that_the_server_takes() -> None:
    config = ModelConfig.from_mapping({**SERVER, "limit_name": "max_tokens", "temperature": None})
    body = request_body(config, AutodsQuestion(subject_key="1", question="?", point="."), ResponseFormat.NONE)
    assert (limit_of(body), body["max_tokens"], body["logprobs"]) == (1, 1, True)
    assert not {"temperature", "max_completion_tokens"} & body.keys()
