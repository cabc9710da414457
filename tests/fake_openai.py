"""A model server on this machine that speaks the OpenAI protocol over real HTTP, well or badly, as told.

By default it judges by itself: an insight is in full in the bullet that holds all its words, else not at all; so
are points of responses and key points in passages. The points of a response are its sentences; every key point is
key. It also embeds texts, reranks documents and summarizes: a bullet for each of the first documents.
`python -m tests.fake_openai SECONDS [SEED]` prints its address and serves until it is ended, with a seed badly.
"""

import json
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "sparrow-1"
MOST_BULLETS = 4
_BULLET = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


@dataclass
class Answer:
    """What the server sends for one request; `cut` sends half of the body and hangs up, `raw` is all of it."""

    content: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    refusal: str | None = None
    finish_reason: str = "stop"
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 4},
        }
    )
    cut: bool = False
    raw: bytes | None = None
    logprobs: dict[str, Any] | None = None


Behaviour = Callable[[int, dict[str, Any]], Answer | None]
"""(number of the request from 1, its body) to an answer; None for a well-behaved one."""


def judged(body: dict[str, Any]) -> str:
    """Judge one insight by its words."""
    asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
    if asked.endswith("\nSummary:"):
        return summarized(asked)
    if not asked.startswith("Bullets:"):
        return on_points(asked)
    said, _, insight = asked.removesuffix("\nAnswer:").partition("\nInsight:\n")
    words = set(re.findall(r"\w+", insight.lower()))
    for number, text in _BULLET.findall(said):
        if words <= set(re.findall(r"\w+", text.lower())):
            return json.dumps({"coverage": "full", "bullet_ids": [int(number)]})
    return json.dumps({"coverage": "none", "bullet_ids": []})


def summarized(asked: str) -> str:
    """The first sentence of each of the first documents, cited."""
    found = re.findall(r"^\[(\d+)\] ([^.\n]+)", asked, re.MULTILINE)
    return "\n".join(f"- {sentence} [{number}]." for number, sentence in found[:MOST_BULLETS])


def on_points(asked: str) -> str:
    """Take a response apart, or say which points passages say."""
    asked = asked.removesuffix("\nReply:")
    if asked.startswith("Question:") and "\nPoint:\n" in asked:
        return json.dumps({"answer": "agree"})
    if asked.startswith("Question:"):
        answer = asked.partition("\nAnswer:\n")[2]
        return json.dumps({"points": [part.strip() + "." for part in answer.split(".") if part.strip()]})
    parts = re.split(r"\n(Key points?|Points?):\n", asked)
    said, kind, points = parts[0], parts[1], parts[2]
    if not kind.endswith("s"):
        return json.dumps(_entailed(said, points))
    numbered = enumerate(re.findall(r"^\(\d+\) (.*)$", points, re.MULTILINE), 1)
    return json.dumps({"verdicts": [{"point": n, **_entailed(said, point)} for n, point in numbered]})


def _entailed(said: str, point: str) -> dict[str, Any]:
    words = set(re.findall(r"\w+", point.lower()))
    found = [int(n) for n, text in _BULLET.findall(said) if words <= set(re.findall(r"\w+", text.lower()))]
    return {"answer": "yes" if found else "no", "evidence": found[:1]}


def failing(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Answer:
    """An error as the protocol words it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers=named, error={"message": message, "code": code, "type": "error"})


class FakeServer:
    """Counts what it was asked; `behaviour` may change at any time."""

    def __init__(self, *, delay_s: float = 0.0, behaviour: Behaviour | None = None) -> None:
        self.delay_s, self.behaviour = delay_s, behaviour
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most_at_a_time = self._now = 0
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def n_asked(self) -> int:
        return len(self.bodies)

    def start(self) -> None:
        """Serve in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Be gone: connections are refused from now on."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, body: dict[str, Any], key: str) -> Answer:
        """Decide what to send."""
        with self._lock:
            self.bodies.append(body)
            self.keys.append(key)
            number = len(self.bodies)
            self._now += 1
            self.most_at_a_time = max(self.most_at_a_time, self._now)
        try:
            time.sleep(self.delay_s)
            said = self.behaviour and self.behaviour(number, body)
            return said or Answer(judged(body) if "messages" in body else "")
        finally:
            with self._lock:
                self._now -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(body, self.headers.get("Authorization", ""))
            said = {"error": answer.error} if answer.error else _said(self.path, body, answer)
            sent = json.dumps(said).encode() if answer.raw is None else answer.raw
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("x-request-id", f"req-{len(server.bodies)}")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent[: len(sent) // 2] if answer.cut else sent)
            self.close_connection = answer.cut

        def log_message(self, *args) -> None:
            """Keep quiet."""

    return Handler


def _said(path: str, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    if path.endswith("/embeddings"):
        return {
            "data": [{"index": at, "embedding": embedded(text)} for at, text in enumerate(body["input"])][::-1]
        }
    if path.endswith("/rerank"):
        scores = [relevance(body["query"], text) for text in body["documents"]]
        rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return {"results": sorted(rows, key=lambda row: -row["relevance_score"])}
    return completion(body, answer)


def embedded(text: str) -> list[float]:
    """How often each of a few words is in a text."""
    words = re.findall(r"\w+", text.lower())
    return [float(words.count(word)) for word in ("ferry", "island", "fares", "part", "a")]


def relevance(query: str, text: str) -> float:
    """The share of the query's words that a text contains."""
    wanted, held = (set(re.findall(r"\w+", words.lower())) for words in (query, text))
    return len(wanted & held) / len(wanted)


def completion(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.content, "refusal": answer.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": f"{body['model']}-0301",
        "system_fingerprint": "fp_nest",
        "choices": [
            {"index": 0, "message": message, "finish_reason": answer.finish_reason, "logprobs": answer.logprobs}
        ],
        **({"usage": answer.usage} if answer.usage else {}),
    }


@contextmanager
def serving(*, delay_s: float = 0.0, behaviour: Behaviour | None = None) -> Iterator[FakeServer]:
    server = FakeServer(delay_s=delay_s, behaviour=behaviour)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def unruly(seed: int) -> Behaviour:
    """One answer in three is late, cut off, rubbish, an error, or that there were too many requests."""
    dice = random.Random(seed)
    rubbish = (
        lambda: time.sleep(dice.uniform(0.3, 1.5)),
        lambda: Answer("I would rather talk about the ferry."),
        lambda: Answer('{"coverage": "sideways", "bullet_ids": [-1]}'),
        lambda: Answer(raw=b"<html>no</html>"),
        lambda: Answer("{}", cut=True),
        lambda: failing(500),
        lambda: failing(429, "too many", retry_after="1"),
    )
    return lambda _number, _body: dice.choice(rubbish)() if dice.random() < 1 / 3 else None


if __name__ == "__main__":
    with serving(
        delay_s=float(sys.argv[1]), behaviour=unruly(int(sys.argv[2])) if len(sys.argv) > 2 else None
    ) as running:
        print(running.address, flush=True)
        threading.Event().wait()
