"""People at work, as the scripts of their pages do it: one thing at a time, in order, nothing forgotten.

A person has what a browser keeps (`kept`, `acts`), which outlives a reload, and what a page knows, which does not.
The rules are those of static/js/session/autosave.js and static/js/labelling/outbox.js.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from bench.chaos.browser import FORM, OK, REDIRECT, Person, Reloaded
from bench.chaos.logs import Act, Decision, Save


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
            page = self._begin(start)
            if page:
                self._write(page)

    def left(self) -> str:
        return f"a text of {len(self.kept['text'])} signs" if self.kept else "the page"

    def _begin(self, start: str) -> str:
        """Promise, and start the clock; gives the address of the session."""
        while True:
            try:
                status, location, _page = self.insist(start, "no_model=on", FORM)
            except Reloaded:
                continue
            if status == REDIRECT:
                return location
            self.log.troubles.append(f"{status} at the start of a session of {self.job['name']}")
            return ""

    def _write(self, page: str) -> None:
        """One session, each opening of its page until it is closed or the session is over."""
        self.page, self.session, self.kept = page, page.rstrip("/").rpartition("/")[2], None
        while True:
            try:
                if self._open():
                    while self._go_on():
                        pass
                return
            except Reloaded:
                continue

    def _open(self) -> bool:
        """Open the page and go on from what the server or the browser has; false where the session is over."""
        self.tab, self.operation = self.new_id(), None
        while True:
            status, body = self._call("claim", {"tab_id": self.tab})
            if status == OK and body["state"] == "paused":
                self._call("resume", {"tab_id": self.tab})
                continue
            break
        if body.get("code") == "closed":
            return self._deliver()
        if status != OK:
            self.log.troubles.append(f"{status} {body.get('code')} for a claim of {self.job['name']}")
            return False
        self.rev, self.text = body.get("rev", 0), body["text"]
        self.saved = self.text
        self.log.held[self.session] = _sha(self.saved)
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
        op_id = mine["op_id"] if mine["op_id"] and mine["sent"] == mine["text"] else self.new_id()
        sent = {"op_id": op_id, "base_rev": mine["base_rev"], "text": mine["text"], "source": "restored"}
        status, body = self._send("draft", sent)
        if status == OK:  # it was the draft once
            self.kept = None
            raise Reloaded
        if body.get("code") == "closed":
            self.kept = None
            return False
        self._resolve(body, mine["text"])
        return True

    def _resolve(self, body: dict[str, Any], text: str) -> None:
        """Go on with one's own text in place of the server's."""
        chosen = {"op_id": self.new_id(), "text": text, "replaces_sha256": body["server_sha256"]}
        self.text, self.operation = text, chosen
        status, answer = self._send("resolve", chosen)
        if status != OK:
            raise Reloaded
        self._taken(answer)

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
            self._taken(body)
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
            self.log.troubles.append(f"{code} for {name} of {self.job['name']}")
        raise Reloaded

    def _deliver(self) -> bool:
        """The session is over: what the server does not hold goes there, to be stored apart."""
        mine = self.kept
        if mine is not None:
            op_id = mine["op_id"] if mine["sent"] == mine["text"] and mine["op_id"] else self.new_id()
            late = {"op_id": op_id, "base_rev": mine["base_rev"], "text": mine["text"], "source": "late"}
            status, body = self._send("draft", late)
            # answered with 200 it was the draft before the end, and only the answer was lost
            self.log.held[self.session] = _sha(mine["text"] if status == OK else body["server_text"])
        self.kept = None
        return False

    def _taken(self, body: dict[str, Any]) -> None:
        operation = self.operation or {}
        self.rev, self.saved, self.operation = body["rev"], operation["text"], None
        self._told()

    def _told(self) -> None:
        """The server holds this text as the draft."""
        self.log.held[self.session] = _sha(self.saved)
        self._keep()

    def _keep(self) -> None:
        """What the browser keeps until the server has it."""
        operation = self.operation or {}
        is_dirty = bool(operation) or self.text != self.saved
        kept = {"text": self.text, "base_rev": self.rev, "op_id": operation.get("op_id", "")}
        self.kept = {**kept, "sent": operation.get("text")} if is_dirty else None

    def _send(self, name: str, operation: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """A message with a text, and a line in the log for its answer."""
        began = time.monotonic()
        status, body = self._call(name, {"tab_id": self.tab, **operation})
        code = "" if status == OK else body.get("code", str(status))
        is_stored = status == OK or "your_text" in body
        if is_stored:
            rev = body.get("rev") if status == OK else None
            done = time.monotonic()
            save = Save(self.session, operation["op_id"], _sha(operation["text"]), rev, code,
                        body["active_ms"], began, done)  # fmt: skip
            self.log.saves.append(save)
        else:
            self.log.troubles.append(f"{status} {code} for {name} of {self.job['name']}")
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
            self.log.troubles.append(f"{status} {body.get('code')} for an act of {self.job['name']}")
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
                    self.log.decisions.append(Decision(page.rstrip("/").rpartition("/")[2], note))
                else:
                    self.log.troubles.append(f"{status} for a decision of {self.job['name']}")
            self.rest(15)


def answer_in(form: str) -> str:
    """The answer in a form of label work, as one string."""
    fields = parse_qs(form)
    words = [*fields.get("coverage", []), ",".join(fields.get("line", [])), *fields.get("grounded", [])]
    return " ".join([*words, *fields.get("keyness", [])]).strip()


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()
