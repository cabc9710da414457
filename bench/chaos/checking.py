"""Compare what clients were told with what is stored. Pure; each finding is a sentence.

What is looked for: something acknowledged that is missing, something kept in a browser that never arrived, an
answer or a verdict that is there twice, a clock that ran back, ran ahead of time or passed its limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from bench.chaos.logs import Act, Log, Save, Stored, StoredAct, StoredSession

SLACK_MS = 50
"""Between the clock of a client and that of the server within one machine."""


def problems(logs: Sequence[Log], stored: Stored) -> list[str]:
    """Everything that is wrong; nothing if all is well."""
    return [*_texts(logs, stored), *_clocks(logs, stored), *_acts(logs, stored), *_decisions(logs, stored),
            *_verdicts(stored), *_left_over(logs)]  # fmt: skip


def _left_over(logs: Sequence[Log]) -> Iterator[str]:
    for log in logs:
        yield from (f"kept in a browser and never taken: {what}" for what in log.unsent)
        yield from (f"not what a script expects: {what}" for what in log.troubles)


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
        for op_id, n in Counter(row.op_id for row in session.revisions).items():
            if n > 1:
                yield f"doubled: the text {op_id} of session {uid}"


def _clocks(logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    told: defaultdict[str, list[Save]] = defaultdict(list)
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
    if (
        sum(closed) != session.acc_ms
        or [row.acc_before_ms for row in session.periods]
        != [
            0,
            *accumulate(closed),
        ][: len(session.periods)]
    ):
        yield "is not the sum of its periods"
    if (session.state == "running") != any(row.ended_ms is None for row in session.periods):
        yield "has an open period although it does not run, or none although it does"
    if max([session.acc_ms, *(row.active_ms for row in session.revisions)]) > session.limit_ms:
        yield "passed its limit"
    marks = range(session.mark_every_ms, session.acc_ms, session.mark_every_ms)
    if not {row.mark_ms for row in session.marks} >= set(marks):
        yield "has no snapshot at a mark that it passed"
    for mark in session.marks:
        wanted = max((row.rev or 0 for row in accepted if row.active_ms <= mark.mark_ms), default=0)
        if (mark.rev or 0) != wanted:
            yield f"has revision {mark.rev} in the snapshot at {mark.mark_ms} ms, where {wanted} was the last"


def _acts(logs: Sequence[Log], stored: Stored) -> Iterator[str]:
    rows: defaultdict[str, list[StoredAct]] = defaultdict(list)
    for row in stored.acts:
        rows[row.person].append(row)
    told: defaultdict[str, list[Act]] = defaultdict(list)
    for log in logs:
        for act in log.acts:
            told[act.person].append(act)
    for person in {*rows, *told}:
        yield from _acts_of(told[person], rows[person])


def _acts_of(told: Sequence[Act], rows: Sequence[StoredAct]) -> Iterator[str]:
    """One person's acts: each that changed something is one row, and what holds in the end follows from them."""
    wanted = {(act.task, act.op_id) for act in told if act.has_changed and not act.is_undo}
    undone = {act.op_id for act in told if act.has_changed and act.is_undo}
    there = Counter((row.task, row.op_id) for row in rows if not row.is_undo)
    undos = Counter(row.op_id for row in rows if row.is_undo)
    for task, op_id in wanted - there.keys():
        yield f"lost: the answer {op_id} to task {task}, acknowledged"
    for op_id in undone - undos.keys():
        yield f"lost: the undo {op_id}, acknowledged"
    for key, n in [*there.items(), *undos.items()]:
        if n > 1 or key not in wanted | undone:
            yield f"doubled: {key} is stored {n} times, and was acknowledged {'once' if n > 1 else 'never'}"
    current = Counter((row.task, row.question) for row in rows if row.is_current)
    for place, n in current.items():
        if n > 1:
            yield f"doubled: {n} answers hold at once on {place}"
    holds = {(row.task, row.question): row.answer for row in rows if row.is_current}
    for place, answer in held_after(told).items():
        if holds.get(place, "") != answer:
            yield f"lost: {place} holds “{holds.get(place, '')}” and not “{answer}”"


def held_after(told: Sequence[Act]) -> dict[tuple[str, str], str]:
    """What holds on each question of each task after these acts of one person, in order.

    An undo sent again after a reload is for its own task alone, but may have been delivered before, for any: there
    the answer says which. Of others the rule does.
    """
    holds: dict[tuple[str, str], str] = {}
    done: list[tuple[tuple[str, str], str]] = []
    for act in told:
        if not act.has_changed:
            continue
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
    there = Counter((point, note) for point, note, _is_current in stored.decisions)
    told = {(row.point, row.note) for log in logs for row in log.decisions}
    for key in told - there.keys():
        yield f"lost: the decision {key}, acknowledged"
    for key, n in there.items():
        if n > 1:
            yield f"doubled: the decision {key} is stored {n} times"
    for point, n in Counter(point for point, _note, is_current in stored.decisions if is_current).items():
        if n > 1:
            yield f"doubled: {n} decisions hold at once on {point}"


def _verdicts(stored: Stored) -> Iterator[str]:
    for key, n in Counter(stored.verdicts).items():
        if n > 1:
            yield f"doubled: the verdict {key} is stored {n} times"
