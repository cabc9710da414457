"""Compare what clients were told with what is stored. Pure; each finding is a sentence.

What is looked for: something acknowledged that is missing, something kept in a browser that never arrived, an
answer or a verdict that is there twice, a clock that ran back, ran ahead of time or passed its limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

SLACK_MS = 50
"""Between the clock of a client and that of the server within one machine."""


@dataclass(frozen=True, slots=True)
class Save:
    """A text that the server has answered for: as revision `rev`, or apart from the draft.

    `active_ms` is the clock in the answer; `sent_s` and `answered_s` are times of the client, in seconds.
    """

    session: str
    op_id: str
    sha256: str
    rev: int | None
    active_ms: int
    sent_s: float
    answered_s: float


@dataclass(frozen=True, slots=True)
class Act:
    """An act of label work that the server has answered for: an answer to a question of a task, or an undo.

    `has_changed` is false where the server said that there was nothing to do; `undone_on` is the task on which it
    says that an undo took something back.
    """

    person: str
    task: str
    op_id: str
    question: str = ""
    answer: str = ""
    is_undo: bool = False
    only_here: bool = False
    has_changed: bool = True
    undone_on: str = ""


@dataclass
class Log:
    """Everything that one client knows: decisions as point and note, which is different in each.

    `held` is what it thinks the server has as draft, by session (SHA-256), `unsent` names what it still keeps in
    the end, `troubles` what no script expects.
    """

    saves: list[Save] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    decisions: list[tuple[str, str]] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)
    unsent: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    n_retries: int = 0


class Revision(NamedTuple):
    """A stored text; `rev` is empty where it was refused."""

    op_id: str
    rev: int | None
    sha256: str
    active_ms: int


class Period(NamedTuple):
    """A stretch of work (ms since the epoch); without an end it is open."""

    started_ms: int
    ended_ms: int | None
    acc_before_ms: int


class StoredSession(NamedTuple):
    """A session as the database has it; revisions as they were stored, marks as active time and revision."""

    state: str
    limit_ms: int
    acc_ms: int
    mark_every_ms: int
    draft_sha256: str
    revisions: list[Revision]
    periods: list[Period]
    marks: list[tuple[int, int | None]]


class StoredAct(NamedTuple):
    """A row of label work."""

    person: str
    task: str
    op_id: str
    question: str
    answer: str
    is_current: bool
    is_undo: bool


class Stored(NamedTuple):
    """The end of the database; `verdicts` has a key for each verdict of a model, as often as it is stored."""

    sessions: dict[str, StoredSession]
    acts: list[StoredAct]
    decisions: list[tuple[str, str, bool]]
    verdicts: list[str]


def problems(logs: Sequence[Log], stored: Stored) -> list[str]:
    """Everything that is wrong; nothing if all is well."""
    kept = [f"kept in a browser and never taken: {what}" for log in logs for what in log.unsent]
    odd = [f"not what a script expects: {what}" for log in logs for what in log.troubles]
    twice = [f"doubled: the verdict {key} is stored {n} times" for key, n in _repeated(stored.verdicts)]
    people = {row.person for row in stored.acts} | {act.person for log in logs for act in log.acts}
    acts = [line for person in people for line in _acts_of(person, logs, stored)]
    return [*_texts(logs, stored), *_clocks(logs, stored), *acts, *_decisions(logs, stored), *twice, *kept, *odd]


def _texts(logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    by_op = {(uid, row.op_id): row for uid, session in stored.sessions.items() for row in session.revisions}
    for log in logs:
        for save in log.saves:
            row = by_op.get((save.session, save.op_id))
            if row is None or row.sha256 != save.sha256:
                yield f"lost: the text {save.op_id} of session {save.session}, acknowledged"
            elif save.rev is not None and row.rev != save.rev:
                yield f"lost: revision {save.rev} of session {save.session} is {row.rev or 'refused'}"
        for uid, held in log.held.items():
            if stored.sessions[uid].draft_sha256 != held:
                yield f"lost: the draft of session {uid} is not what its writer was told"
    for uid, session in stored.sessions.items():
        for op_id, _n in _repeated(row.op_id for row in session.revisions):
            yield f"doubled: the text {op_id} of session {uid}"


def _clocks(logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    told = defaultdict[str, list[Save]](list)
    for log in logs:
        for save in log.saves:
            told[save.session].append(save)
    for uid, session in stored.sessions.items():
        yield from (f"clock: {what}, session {uid}" for what in _clock_of(session))
    for uid, saves in told.items():
        for save, next_save in pairwise(saves):
            gained = next_save.active_ms - save.active_ms
            passed = (next_save.answered_s - save.sent_s) * 1000
            if gained < 0:
                yield f"clock: ran back by {-gained} ms, session {uid}"
            elif gained > passed + SLACK_MS:
                yield f"clock: {gained} ms of work in {passed:.0f} ms, session {uid}"


def _clock_of(session: StoredSession) -> Iterator[str]:
    accepted = sorted((row for row in session.revisions if row.rev is not None), key=lambda row: row.rev or 0)
    if [row.rev for row in accepted] != list(range(1, len(accepted) + 1)):
        yield "revisions are not 1, 2, 3 …"
    if any(row.active_ms > next_row.active_ms for row, next_row in pairwise(accepted)):
        yield "ran back between two revisions"
    closed = [row.ended_ms - row.started_ms for row in session.periods if row.ended_ms is not None]
    before = [0, *accumulate(closed)][: len(session.periods)]
    if sum(closed) != session.acc_ms or [row.acc_before_ms for row in session.periods] != before:
        yield "is not the sum of its periods"
    if (session.state == "running") != any(row.ended_ms is None for row in session.periods):
        yield "has an open period although it does not run, or none although it does"
    if max([session.acc_ms, *(row.active_ms for row in session.revisions)]) > session.limit_ms:
        yield "passed its limit"
    marks = range(session.mark_every_ms, session.acc_ms, session.mark_every_ms)
    if not {mark_ms for mark_ms, _rev in session.marks} >= set(marks):
        yield "has no snapshot at a mark that it passed"
    for mark_ms, rev in session.marks:
        wanted = max((row.rev or 0 for row in accepted if row.active_ms <= mark_ms), default=0)
        if (rev or 0) != wanted:
            yield f"has revision {rev} in the snapshot at {mark_ms} ms, where {wanted} was the last"


def _acts_of(person: str, logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    """One person's acts: each that changed something is one row, and what holds in the end follows from them."""
    told = [act for log in logs for act in log.acts if act.person == person and act.has_changed]
    rows = [row for row in stored.acts if row.person == person]
    wanted = {(act.task, act.op_id) for act in told if not act.is_undo}
    undone = {act.op_id for act in told if act.is_undo}
    there = Counter((row.task, row.op_id) for row in rows if not row.is_undo)
    undos = Counter(row.op_id for row in rows if row.is_undo)
    yield from (f"lost: the answer {op_id} to task {task}, acknowledged" for task, op_id in wanted - there.keys())
    yield from (f"lost: the undo {op_id}, acknowledged" for op_id in undone - undos.keys())
    for key, n in [*there.items(), *undos.items()]:
        if n > 1 or key not in wanted | undone:
            yield f"doubled: {key} is stored {n} times, and was acknowledged {'once' if n > 1 else 'never'}"
    for place, n in _repeated((row.task, row.question) for row in rows if row.is_current):
        yield f"doubled: {n} answers hold at once on {place}"
    holds = {(row.task, row.question): row.answer for row in rows if row.is_current}
    for place, answer in held_after(told).items():
        if holds.get(place, "") != answer:
            yield f"lost: {place} holds “{holds.get(place, '')}” and not “{answer}”"


def held_after(told: Sequence[Act]) -> dict[tuple[str, str], str]:
    """Answers that hold on each question after these acts of one person, in order; each changed something.

    An undo sent again after a reload is for its own task alone, but may have been delivered before, for any: there
    the answer says which. Of others the rule does.
    """
    holds: dict[tuple[str, str], str] = {}
    done: list[tuple[tuple[str, str], str]] = []
    for act in told:
        if not act.is_undo:
            place = (act.task, act.question)
            done.append((place, holds.get(place, "")))
            holds[place] = act.answer
            continue
        on = (act.undone_on or act.task) if act.only_here else ""
        at = next((n for n in reversed(range(len(done))) if not on or done[n][0][0] == on), None)
        if at is not None:
            place, before = done.pop(at)
            holds[place] = before
    return holds


def _decisions(logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    there = [(point, note) for point, note, _is_current in stored.decisions]
    told = {decision for log in logs for decision in log.decisions}
    yield from (f"lost: the decision {key}, acknowledged" for key in told - set(there))
    yield from (f"doubled: the decision {key} is stored {n} times" for key, n in _repeated(there))
    for point, n in _repeated(point for point, _note, is_current in stored.decisions if is_current):
        yield f"doubled: {n} decisions hold at once on {point}"


def _repeated(keys: Iterable[Any]) -> list[tuple[Any, int]]:
    return [(key, n) for key, n in Counter(keys).items() if n > 1]


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()
