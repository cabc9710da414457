"""Servers of the OpenAI protocol with ways of their own, over HTTP: what becomes of runs of judges and writers.

`docs/model-judges.md` has the table for users.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from django.utils import timezone

from benchmarks.engine import judging, runs, summarizing
from benchmarks.engine.summarizing import Source
from benchmarks.models import Document, DraftText, JudgeCall, JudgeRun, LostReply, Subtopic, Summary, Verdict
from tests.benchmarks.engine.asking import SAID, coverages, make_judge, request, summarizer, work
from tests.fake_openai import Answer, FakeServer, completion, failing, judged
from tests.makers import make_summary

pytestmark = pytest.mark.django_db

DOCS = Path(__file__).parents[3] / "docs" / "model-judges.md"
DRAFT = '{"coverage": "none", "bullet_ids": []}\n- Nothing is said [9].'
N_WORDS = 9_000


@dataclass(frozen=True)
class Quirk:
    """What a server says in place of a good answer, and what becomes of it.

    `used`: the good answer. `invalid`: stored as unusable, after `times` requests on each insight. `paused`:
    nothing is stored, and the run stops after `times` requests. `words` are in the problem, or in the message.
    """

    server: str
    says: Callable[[int, dict[str, Any], str], Answer | None]
    then: Literal["used", "invalid", "paused"]
    words: str = ""
    times: int = 1
    is_long: bool = False


def body(value, status: int = 200) -> Answer:
    return Answer(raw=json.dumps(value).encode(), status=status)


def choice(asked: dict[str, Any], **fields) -> Answer:
    """A chat completion with other fields in its choice."""
    return body({**completion(asked, Answer()), "choices": [{"index": 0, **fields}]})


def detail(*fields: str) -> Answer:
    """A FastAPI server refuses fields of the request."""
    rows = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
        for name in fields
    ]
    return body({"detail": rows}, 422)


def only(
    first: int, answer: Callable[[dict[str, Any]], Answer]
) -> Callable[[int, dict[str, Any], str], Answer | None]:
    """Only the first requests are answered so."""
    return lambda n, asked, good: answer(asked) if n <= first else None


FILTERED = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "type": None, "param": "prompt", "code": "content_filter", "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}  # fmt: skip
TEMPERATURE = {
    "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is.",
    "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value",
}  # fmt: skip
NO_JSON = {
    "message": "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
    "type": "invalid_request_error", "code": "json_validate_failed", "failed_generation": "",
}  # fmt: skip
MODERATED = {
    "code": 403,
    "message": "Your input was flagged",
    "metadata": {"reasons": ["x"], "flagged_input": "y"},
}
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"
STREAM = b'data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"- It"}}]}\n\ndata: [DONE]\n\n'

QUIRKS = {
    "reasoning whose tag the template opened": Quirk(
        "vLLM", lambda n, asked, good: Answer(f"Maybe {DRAFT}\n</think>\n\n{good}"), "used"
    ),
    "reasoning with a draft in a fence": Quirk(
        "vLLM", lambda n, asked, good: Answer(f"<think>\n```json\n{DRAFT}\n```\nNo.</think>{good}"), "used"
    ),
    "an error without choices": Quirk(
        "vLLM",
        only(2, lambda asked: body({"object": "error", "message": "Is dead", "code": 503, "choices": None})),
        "used",
    ),
    "a response format that it does not know": Quirk(
        "LM Studio",
        lambda n, asked, good: failing(400, "'response_format.type' must be 'text'")
        if "response_format" in asked
        else Answer(good),
        "used",
    ),
    "an error that is a text": Quirk(
        "LM Studio",
        lambda n, asked, good: body({"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        "paused", "Unexpected endpoint", times=4,
    ),
    "a prompt that was cut": Quirk(
        "Ollama",
        lambda n, asked, good: Answer(good, usage={"prompt_tokens": 4096, "completion_tokens": 9}),
        "invalid", "4,096", is_long=True,
    ),
    "a model that is not there": Quirk(
        "Ollama", lambda n, asked, good: failing(404, "model 'sparrow-1' not found"), "paused", "not found"
    ),
    "a prompt that a filter refuses": Quirk(
        "Azure", lambda n, asked, good: Answer(status=400, error=FILTERED), "invalid", "content management policy"
    ),
    "a temperature that is refused": Quirk(
        "Azure", lambda n, asked, good: Answer(status=400, error=TEMPERATURE), "paused", "blank temperature"
    ),
    "no credits, with status 200": Quirk(
        "OpenRouter",
        lambda n, asked, good: body({"error": {"message": "Insufficient credits", "code": 402}}),
        "paused", "402: Insufficient credits",
    ),
    "too many requests, with status 200": Quirk(
        "OpenRouter",
        only(2, lambda asked: body({"error": {"message": "Rate limit exceeded", "code": 429}})), "used",
    ),
    "an error in the choice": Quirk(
        "OpenRouter",
        only(
            2,
            lambda asked: choice(
                asked,
                finish_reason="error",
                error={"code": 502, "message": "Upstream is down"},
                message={"role": "assistant", "content": "- It"},
            ),
        ),
        "used",
    ),
    "a text that its moderation flagged": Quirk(
        "OpenRouter", lambda n, asked, good: Answer(status=403, error=MODERATED), "invalid", "flagged"
    ),
    "thinking and text in parts": Quirk(
        "Mistral",
        lambda n, asked, good: choice(
            asked,
            finish_reason="stop",
            message={
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]},
                    {"type": "text", "text": good[:9]},
                    {"type": "text", "text": good[9:]},
                ],
            },
        ),
        "used",
    ),
    "another name of the limit": Quirk(
        "Mistral", lambda n, asked, good: detail("max_completion_tokens"), "paused", "“max_tokens”"
    ),
    "a generation that is no JSON": Quirk(
        "Groq", lambda n, asked, good: Answer(status=400, error=NO_JSON), "invalid", times=2
    ),
    "an error in a list": Quirk(
        "Gemini",
        lambda n, asked, good: body(
            [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], 400
        ),
        "paused", "400: API key not valid.",
    ),
    "a filter that leaves no message": Quirk(
        "Gemini",
        lambda n, asked, good: choice(asked, finish_reason="content_filter: PROHIBITED_CONTENT"),
        "invalid",
    ),
    "a field that is not permitted": Quirk(
        "FastAPI gateway", lambda n, asked, good: detail("temperature"), "paused",
        "422: temperature: Extra inputs are not permitted",
    ),
    "no permission": Quirk(
        "FastAPI gateway", lambda n, asked, good: body({"detail": "Not authenticated"}, 401), "paused",
        "401: Not authenticated",
    ),
    "a log-in page": Quirk(
        "HTML page", lambda n, asked, good: Answer(raw=PAGE), "paused", "a web page (“Sign in”)", times=4
    ),
    "a page of a proxy": Quirk(
        "HTML page", only(2, lambda asked: Answer(raw=PAGE, status=503)), "used"
    ),
    "a stream that nobody asked for": Quirk(
        "event stream", lambda n, asked, good: Answer(raw=STREAM), "paused", "an event stream", times=4
    ),
    "an error in a stream": Quirk(
        "event stream",
        lambda n, asked, good: Answer(raw=b': wait\n\ndata: {"error": {"code": 402, "message": "No money"}}\n\n'),
        "paused", "402: No money",
    ),
}  # fmt: skip


def behave(server: FakeServer, quirk: Quirk) -> None:
    server.behaviour = lambda n, asked: quirk.says(n, asked, judged(asked))


def nothing_is_charged() -> bool:
    """Whether no reply counts as lost, and nothing that is no answer as one."""
    return not LostReply.objects.exists() and not JudgeCall.objects.filter(state="asked").exists()


@pytest.mark.parametrize("quirk", QUIRKS.values(), ids=QUIRKS.keys())
def test_a_judge(server: FakeServer, subtopic: Subtopic, quirk: Quirk) -> None:
    make_summary(subtopic=subtopic, text=f"{SAID}\n- {'word ' * N_WORDS}" if quirk.is_long else SAID)
    behave(server, quirk)
    judge = make_judge(server)
    run = request(judge, concurrency=1)
    work(run)
    run.refresh_from_db()
    assert nothing_is_charged()
    if quirk.then == "paused":
        assert (run.state, server.n_asked, Verdict.objects.count()) == ("paused", quirk.times, 0)
        assert quirk.words in run.message
        server.behaviour = None
        runs.resume_run(run=run)
        run.refresh_from_db()
        work(run)
    assert (run.state, judge.verdicts.count()) == ("done", 3)
    if quirk.then == "invalid":
        assert server.n_asked == 3 * quirk.times
        problems = {verdict.raw["problem"] for verdict in judge.verdicts.filter(is_valid=False)}
        assert all(quirk.words in problem for problem in problems)
        assert coverages(judge) == {"": 3}
    else:
        assert coverages(judge) == {"full": 1, "none": 2}


@pytest.mark.parametrize("quirk", QUIRKS.values(), ids=QUIRKS.keys())
def test_a_summarizer(server: FakeServer, subtopic: Subtopic, quirk: Quirk) -> None:
    if quirk.is_long:
        Document.objects.filter(number=5).update(text="word " * N_WORDS)
    behave(server, quirk)
    run = writing(server, subtopic)
    work(run)
    run.refresh_from_db()
    assert nothing_is_charged()
    if quirk.then == "paused":
        assert (run.state, server.n_asked, DraftText.objects.count()) == ("paused", quirk.times, 0)
        assert quirk.words in run.message
        server.behaviour = None
        runs.resume_run(run=run)
        run.refresh_from_db()
        work(run)
    text = DraftText.objects.get()
    assert run.state == "done"
    if quirk.then == "invalid":
        assert (server.n_asked, text.is_valid, text.text, Summary.objects.count()) == (1, False, "", 0)
        assert quirk.words in text.raw["problem"]
    else:
        assert text.text == Summary.objects.get().text == judged(server.bodies[-1])


def writing(server: FakeServer, subtopic: Subtopic) -> JudgeRun:
    """A run that writes one summary of all documents."""
    heron = summarizer(server, bullets="free")
    subtopic = Subtopic.objects.select_related("haystack").get(pk=subtopic.pk)
    drafts = summarizing.drafted(judge=heron, subjects=[subtopic], shown=Source(), now=timezone.now())
    return judging.request_run(
        judge=heron, task=summarizing.TASK, subjects=drafts, reason="test", now=timezone.now(),
        options=judging.ModelOptions(concurrency=1),
    )  # fmt: skip


def test_the_docs_name_every_server() -> None:
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    assert {quirk.server for quirk in QUIRKS.values()} <= {row.split(" | ")[0].removeprefix("| ") for row in rows}
