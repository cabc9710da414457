"""People at work, as the scripts of their pages do it: one thing at a time, in order, nothing forgotten.

A person has what a browser keeps (`kept`, `acts`), which outlives a reload, and what a page knows, which does not.
The rules are those of static/js/talk.js, session/autosave.js and labelling/outbox.js; only the waiting is shorter,
so that more happens in a minute.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from bench.chaos.checking import Act, Log, Save, sha

TIMEOUT_S = 5.0
"""For which a page waits for an answer; 15 s in a browser."""
PACE = 0.1
"""How long people wait beside people in a browser."""
FORM = "application/x-www-form-urlencoded"
OK, REDIRECT, LOST_LOGIN, TOO_MANY, TROUBLE = 200, 302, (401, 403), 429, 500


class Unreachable(Exception):
    """Nothing came that the site would answer, or it is in trouble."""


class Reloaded(Exception):
    """The page was closed and opened anew: what it knew is gone, what the browser kept is there."""


class GaveUp(Exception):
    """The work is over, and the server still does not take it."""


@dataclass
class Line:
    """The way to the site: several web servers, the next one where one refuses, as a proxy does it."""

    ports: list[int]
    headers: dict[str, str]
    at: int = 0
    connection: HTTPConnection | None = None

    def ask(self, path: str, body: str | None, content: str) -> tuple[int, str, bytes]:
        """Send a request; status, address of a redirection and body. Raises Unreachable."""
        for _ in self.ports:
            connection = self.connection or HTTPConnection("127.0.0.1", self.ports[self.at], timeout=TIMEOUT_S)
            try:
                if self.connection is None:
                    connection.connect()
                    self.connection = connection
            except OSError:  # nothing was sent
                self.at = (self.at + 1) % len(self.ports)
                continue
            try:
                method = "GET" if body is None else "POST"
                connection.request(method, path, body, {**self.headers, "Content-Type": content})
                answer = connection.getresponse()
                read = answer.status, answer.headers["Location"] or "", answer.read()
            except (OSError, HTTPException, ValueError, AttributeError) as error:
                self.hang_up()
                raise Unreachable from error
            if read[0] >= TROUBLE or read[0] == TOO_MANY:
                raise Unreachable
            return read
        raise Unreachable

    def hang_up(self) -> None:
        """Begin anew, with another server."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.at = (self.at + 1) % len(self.ports)

    def cut(self) -> bool:
        """Break the connection under whatever is on its way; tells whether there was one."""
        line = self.connection.sock if self.connection is not None else None
        if line is None:
            return False
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        return True


@dataclass
class Person:
    """Somebody at work until `over`, who then sends what is left until `until` at the latest (monotonic).

    Where `is_closed` is set from outside, the page is closed, and opened again at once.
    """

    job: dict[str, Any]
    ports: list[int]
    dice: random.Random
    over: threading.Event
    log: Log = field(default_factory=Log)
    until: float = float("inf")
    is_closed: bool = False

    def __post_init__(self) -> None:
        self.line = Line(self.ports, self.job["headers"])
        self.n_made = 0

    def new_id(self) -> str:
        """A name for an operation, as `newId` makes it."""
        self.n_made += 1
        return f"{self.dice.getrandbits(64):016x}{self.n_made:08x}"

    def object_to(self, what: object) -> None:
        """Note something that no script expects."""
        self.log.troubles.append(f"{what} of {self.job['name']}")

    def rest(self, seconds: float) -> None:
        """Do nothing; shorter once the work is over."""
        self.over.wait(seconds * PACE * (0.5 + self.dice.random()))

    def insist(self, path: str, body: str | None, content: str) -> tuple[int, str, bytes]:
        """Send until there is an answer. Raises Reloaded where the page is closed meanwhile, GaveUp too late."""
        for attempt in count():
            if self.is_closed:
                self.is_closed = False
                self.line.hang_up()
                raise Reloaded
            if time.monotonic() > self.until:
                break
            try:
                answer = self.line.ask(path, body, content)
                if answer[0] not in LOST_LOGIN:
                    return answer
                self.object_to(f"{answer[0]} for {path}")
                time.sleep(5 * PACE)
            except Unreachable:
                self.log.n_retries += 1
                time.sleep(2.0 ** min(attempt, 3) * PACE * (0.8 + 0.4 * self.dice.random()))
        raise GaveUp

    def work(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        """Work, and note what is left unsent, and what this client did not expect."""
        try:
            self.work()
        except GaveUp:
            self.log.unsent.append(f"{self.job['name']}: {self.left()}")
        except Exception as error:
            self.object_to(repr(error))

    def left(self) -> str:
        """Names what the browser still keeps."""
        return "the page"


@dataclass
class Writer(Person):
    """Writes one session after the other, types, saves, pauses, submits; or lets the time run out."""

    kept: dict[str, Any] | None = None
    operation: dict[str, Any] | None = None

    def work(self) -> None:
        """Sessions until it is over, and the one under way to its end."""
        for start in self.job["starts"]:
            if self.over.is_set():
                return
            status, location, _page = self._begin(start)
            if status == REDIRECT:
                self._write(location)
            else:
                self.object_to(f"{status} at the start of a session")

    def left(self) -> str:
        return f"a text of {len(self.kept['text'])} signs" if self.kept else "the page"

    def _begin(self, start: str) -> tuple[int, str, bytes]:
        """Promise, and start the clock."""
        while True:
            with suppress(Reloaded):
                return self.insist(start, "no_model=on", FORM)

    def _write(self, page: str) -> None:
        """One session, each opening of its page until it is closed or the session is over."""
        self.page, self.session, self.kept = page, page.rstrip("/").rpartition("/")[2], None
        while True:
            with suppress(Reloaded):
                if self._open():
                    while self._go_on():
                        pass
                return

    def _open(self) -> bool:
        """Open the page and go on from what the server or the browser has; false where the session is over."""
        self.tab, self.operation = self.new_id(), None
        status, body = self._call("claim", {"tab_id": self.tab})
        while status == OK and body["state"] == "paused":
            self._call("resume", {"tab_id": self.tab})
            status, body = self._call("claim", {"tab_id": self.tab})
        if body.get("code") == "closed":
            return self._deliver()
        if status != OK:
            self.object_to(f"{status} {body.get('code')} for a claim")
            return False
        self.rev, self.text, self.saved = body.get("rev", 0), body["text"], body["text"]
        self.log.held[self.session] = sha(self.saved)
        if body["state"] not in {"running", "paused"}:
            return self._deliver()
        mine = self.kept
        if mine is None or mine["text"] == self.text:
            self._told()
            return True
        if mine["base_rev"] == self.rev or mine["sent"] == self.text:
            self.text = mine["text"]
            return True
        return self._compare(mine)

    def _compare(self, mine: dict[str, Any]) -> bool:
        """A kept text builds on another one than the server's: the server gets it, and the person picks theirs."""
        status, body = self._send("draft", self._as_kept(mine, "restored"))
        if status == OK:  # it was the draft once
            self.kept = None
            raise Reloaded
        if body.get("code") == "closed":
            self.kept = None
            return False
        self._resolve(body, mine["text"])
        return True

    def _as_kept(self, mine: dict[str, Any], source: str) -> dict[str, Any]:
        """A kept text as an operation: the one that was sent before where it is that text."""
        op_id = mine["op_id"] if mine["op_id"] and mine["sent"] == mine["text"] else self.new_id()
        return {"op_id": op_id, "base_rev": mine["base_rev"], "text": mine["text"], "source": source}

    def _resolve(self, body: dict[str, Any], text: str) -> None:
        """Go on with one's own text in place of the server's."""
        self.text = text
        self.operation = {"op_id": self.new_id(), "text": text, "replaces_sha256": body["server_sha256"]}
        status, answer = self._send("resolve", self.operation)
        if status != OK:
            raise Reloaded
        self._taken(answer, self.operation)

    def _go_on(self) -> bool:
        """Type and then save, pause or submit; false once the session is over."""
        if self.over.is_set():
            return self._carry("submit")
        self.text += f"- {self.new_id()} is what several reports say of it [{self.dice.randint(1, 9)}]\n"
        if len(self.text) > 6_000:
            self.text = self.text[-3_000:]
        self._keep()
        what = self.dice.random()
        if what < 0.02:
            return self._carry("submit")
        if what < 0.07:
            return self._carry("pause")
        if what < 0.8:
            is_open = self._carry("draft")
            self.rest(3)
            return is_open
        self.rest(1)
        return True

    def _carry(self, name: str) -> bool:
        """Send the text with a save, a pause or a submit, after the save that was not answered yet."""
        if self.operation and name != "draft" and not self._carry("draft"):
            return False
        self.operation = self.operation or {
            "op_id": self.new_id(), "base_rev": self.rev, "text": self.text, "source": name,
        }  # fmt: skip
        self._keep()
        status, body = self._send(name, self.operation)
        if status == OK:
            self._taken(body, self.operation)
            if name == "pause" and body["state"] == "paused":
                self.rest(2)
                raise Reloaded  # the page of a paused session is another one
            return body["state"] == "running" or name == "draft"
        code, self.operation = body.get("code", str(status)), None
        if code == "closed":
            return self._deliver()
        if code == "conflict":
            self._resolve(body, self.text)
            return True
        if code not in {"tab_lost", "paused"}:
            self.object_to(f"{code} for {name}")
        raise Reloaded

    def _deliver(self) -> bool:
        """The session is over: what the server does not hold goes there, to be stored apart."""
        mine = self.kept
        if mine is not None:
            status, body = self._send("draft", self._as_kept(mine, "late"))
            # answered with 200 it was the draft before the end, and only the answer was lost
            self.log.held[self.session] = sha(mine["text"] if status == OK else body["server_text"])
        self.kept = None
        return False

    def _taken(self, body: dict[str, Any], operation: dict[str, Any]) -> None:
        self.rev, self.saved, self.operation = body["rev"], operation["text"], None
        self._told()

    def _told(self) -> None:
        """The server holds this text as the draft."""
        self.log.held[self.session] = sha(self.saved)
        self._keep()

    def _keep(self) -> None:
        """Store of the browser until the server has it."""
        operation = self.operation or {}
        is_dirty = bool(operation) or self.text != self.saved
        kept = {"text": self.text, "base_rev": self.rev, "op_id": operation.get("op_id", "")}
        self.kept = {**kept, "sent": operation.get("text")} if is_dirty else None

    def _send(self, name: str, operation: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """A message with a text, and a line in the log for its answer."""
        began = time.monotonic()
        status, body = self._call(name, {"tab_id": self.tab, **operation})
        if status == OK or "your_text" in body:
            about = (self.session, operation["op_id"], sha(operation["text"]))
            rev = body.get("rev") if status == OK else None
            self.log.saves.append(Save(*about, rev, body["active_ms"], began, time.monotonic()))
        else:
            self.object_to(f"{status} {body.get('code')} for {name}")
        return status, body

    def _call(self, name: str, message: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, _location, answer = self.insist(f"{self.page}{name}/", json.dumps(message), "application/json")
        return status, json.loads(answer)


@dataclass
class Labeller(Person):
    """Answers and takes back, act by act; acts that are not answered stay in the browser."""

    acts: list[dict[str, Any]] = field(default_factory=list)

    def work(self) -> None:
        while not self.over.is_set() or self.acts:
            if not self.over.is_set():
                self.acts.append(self._new_act())
            try:
                while self.acts and (self.over.is_set() or self.dice.random() < 0.8):
                    self._deliver(self.acts[0])
                    self.acts.pop(0)
            except Reloaded:
                for act in self.acts:  # an undo must not reach what was answered elsewhere since
                    act["only_here"] = act["is_undo"]
            self.rest(2)

    def left(self) -> str:
        return f"{len(self.acts)} acts"

    def _new_act(self) -> dict[str, Any]:
        path, form = self.dice.choice(self.job["requests"])
        is_undo = self.dice.random() < 0.12
        return {"path": path, "form": form, "op_id": self.new_id(), "is_undo": is_undo, "only_here": False}

    def _deliver(self, act: dict[str, Any]) -> None:
        task = act["path"].rstrip("/").split("/")[-2]
        fields = {"op_id": act["op_id"], "task": task, "ago": "0"}
        path, form = act["path"], dict(parse_qsl(act["form"]))
        if act["is_undo"]:
            path, form = path.replace("/choice/", "/undo/"), {"here": "1"} if act["only_here"] else {}
        status, _location, answer = self.insist(path, urlencode({**form, **fields}), FORM)
        body = json.loads(answer)
        if status != OK:
            self.object_to(f"{status} {body.get('code')} for an act")
            return
        has_changed = not (body.get("nothing") or body.get("unchanged"))
        question = "" if act["is_undo"] else form.get("question", "")
        answered = "" if act["is_undo"] else answer_in(act["form"])
        self.log.acts.append(Act(self.job["name"], task, act["op_id"], question, answered, act["is_undo"],
                                 act["only_here"], has_changed, body.get("task", "")))  # fmt: skip


@dataclass
class Reviewer(Person):
    """Decides disagreements on pages without scripts, and presses the button again where an error page came."""

    def work(self) -> None:
        while not self.over.is_set():
            page = self.dice.choice(self.job["pages"])
            note = self.new_id()
            said = {"answer": self.dice.choice(["yes agree", "yes disagree"]), "note": note}
            with suppress(Reloaded):
                shown = self.insist(page, None, FORM)[2]
                seen = shown.partition(b'name="seen" value="')[2].partition(b'"')[0].decode()
                form = urlencode({**said, "seen": seen})
                status, _location, _page = self.insist(page, form, FORM)
                if status == REDIRECT:
                    self.log.decisions.append((page.rstrip("/").rpartition("/")[2], note))
                else:
                    self.object_to(f"{status} for a decision")
            self.rest(15)


def answer_in(form: str) -> str:
    """The answer in a form of label work, as one string."""
    fields = parse_qs(form)
    words = [*fields.get("coverage", []), ",".join(fields.get("line", [])), *fields.get("grounded", [])]
    return " ".join([*words, *fields.get("keyness", [])]).strip()
