"""A model server and a search server that play a script of questions with key points, well or badly as told."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.fake_openai import Answer
from tests.synthesis.scripted import FACTS, Mishaps

_LINE = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
MORE = "given that winter storms close the {0} for weeks and {0} pilots of {0} must wait in {0}"
"""Seventeen words."""


def _word(n: int) -> str:
    """A name like no other one."""
    return "".join("bdfgklmnprstvz"[(n * step) % 14] + "aeiou"[(n + step) % 5] for step in (1, 3, 5, 9)).title()


def logprobs(yes: float) -> dict[str, Any]:
    """What a server lists that prefers yes so far, as a log-probability."""
    listed = [{"token": "yes", "logprob": yes}, {"token": " No", "logprob": -1.0}]
    return {"content": [{"token": "yes", "logprob": yes, "top_logprobs": listed}]}


@dataclass
class QuestionScript(Mishaps):
    """What goes wrong with questions, by prompt.

    `n_short` deepened questions are too little longer, also when they are asked for again with what was wrong;
    `invents` passages that no text has, `loses` a point in so many groupings and `repeats` one in so many.
    """

    OPENINGS: ClassVar[dict[str, str]] = {
        "criterion": "You help to choose questions",
        "category": "Which kind of question",
        "wider": "You write questions for a benchmark of long answers. A given question shows",
        "deeper": "You write questions for a benchmark of long answers. A given question is",
        "split": "Documents that answer",
        "points": "A text is read",
        "together": "Key points of the answer",
    }

    n_short: int = 0
    same: bool = False
    invents: bool = False
    loses: int = 0
    repeats: int = 0
    has_logprobs: bool = True
    weak: str = ""
    n_new: int = 0

    def criterion(self, asked: str) -> dict[str, Any]:
        question = asked.partition("\nQuestion: ")[2]
        is_hard = "Common knowledge" in asked or "takes thought" in asked
        return {"met": not ("capital" in question and is_hard), "reason": "So it is."}

    def category(self, asked: str) -> dict[str, Any]:
        names = _LINE.findall(asked)
        return {"category": names.index("causal" if "Why" in asked else "comparative") + 1}

    def wider(self, asked: str) -> dict[str, Any]:
        given = re.search(r"^Given question: (.*)$", asked, re.MULTILINE)[1]
        domain = re.search(r"^Field: (.*)$", asked, re.MULTILINE)[1]
        self.n_new += 1
        other = "the pier" if self.same else f"{_word(self.n_new)} and {_word(self.n_new)[::-1]}"
        return {"question": f"{given.split()[0]} did {domain} at {other} change so much?"}

    def deeper(self, asked: str) -> dict[str, Any]:
        given = re.search(r"^Given question: (.*)\?$", asked, re.MULTILINE)[1]
        self.n_new += 1
        if self.n_short:
            self.n_short -= 1
            self.played["too short"] += 1
            return {"question": f"{given} now?"}
        return {"question": f"{given} {MORE.format(_word(self.n_new))}?"}

    def split(self, asked: str) -> dict[str, Any]:
        question = re.search(r"^Question: (.*)$", asked, re.MULTILINE)[1]
        if "winter storms" in question:
            return {"kind": "complex", "questions": ["What closes a harbour?", "How many barges of stone?"]}
        return {"kind": "simple", "questions": []}

    def points(self, asked: str) -> dict[str, Any]:
        text, _, there = asked.partition("\nText:\n")[2].partition("\n\nList its key points")
        told = [sentence for sentence in FACTS if sentence in text and f". In short: {sentence}" not in there]
        found = [{"point": f"In short: {sentence}", "passages": [sentence]} for sentence in told[:2]]
        if self.invents and "1. " not in there.partition("These are there")[2]:
            found.append({"point": "The moon is made of cheese.", "passages": ["It is all cheese."]})
            self.played["invented"] += 1
        return {"points": found}

    def together(self, asked: str) -> dict[str, Any]:
        groups: dict[str, list[int]] = {}
        for number, line in enumerate(_LINE.findall(asked), 1):
            groups.setdefault(line, []).append(number)
        rows = [{"point": text.removeprefix("In short: "), "numbers": numbers} for text, numbers in groups.items()]
        if self.loses:
            self.loses -= 1
            self.played["lost"] += 1
            return {"points": rows[1:] or [{"point": "x", "numbers": [99]}]}
        if self.repeats:
            self.repeats -= 1
            self.played["repeated"] += 1
            return {"points": [*rows, rows[0]]}
        return {"points": rows}

    def in_words(self, body: dict[str, Any]) -> Answer | None:
        """Whether a point is key."""
        if not body["messages"][0]["content"].startswith("You help to choose what a good answer"):
            return None
        self.played["score"] += 1
        if not self.has_logprobs:
            return Answer("yes")
        is_weak = bool(self.weak) and self.weak in body["messages"][1]["content"]
        return Answer("yes", logprobs=logprobs(-3.0 if is_weak else -0.1))


def result(n: int, *, title: str = "") -> dict[str, str]:
    """A document that tells two facts."""
    words = " ".join(_word(40 * n + at) for at in range(1, 30))
    text = f"{FACTS[n]} Words: {words}.\n\n{FACTS[n + 1]}"
    return {"url": f"https://example.org/{n}", "title": title or f"Page {n}", "text": text}


Search = Callable[[int, dict[str, Any]], tuple[int, Any]]


class SearchServer:
    """Answers searches as told: (number of the request, what was sent) to (status, JSON value or bytes)."""

    def __init__(self) -> None:
        self.behaviour: Search = lambda number, body: (200, {"results": [result(n) for n in range(body["n"])]})
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/search"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                server.headers.append(dict(self.headers))
                status, value = server.behaviour(len(server.bodies), body)
                sent = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", value.decode())
                if status == 429:
                    self.send_header("Retry-After", "0.01")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def do_GET(self) -> None:
                server.bodies.append({"followed": self.path})
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args) -> None:
                """Keep quiet."""

        return Handler

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def searching() -> Iterator[SearchServer]:
    server = SearchServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
