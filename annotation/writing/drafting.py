"""Save what a person types: nothing posted is discarded, nothing is overwritten unseen, nothing is counted twice.

A refused text is stored beside the accepted ones, with a code, before the refusal is raised. In order: settle;
then a replay is answered; then state, tab and revision are checked; then the revision is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from annotation import clock
from annotation.clock import ClockState, State
from annotation.models import DraftRevision, Session, SessionEvent
from annotation.writing import packing
from annotation.writing.locking import LARGEST_MS, Lapse, LockedSession, locked
from benchmarks.io.published import sha256_of

LONG_DRAFT = 200
"""Characters from which emptying a draft needs a confirmation."""


MAX_TEXT_BYTES = 60 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the browser reports; `seq` counts within its tab, `at_ms` is its own clock."""

    seq: int
    type: str
    payload: dict[str, Any]
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A text on its way to the server, with the revision it builds on; `typed_at_ms` is the browser's clock."""

    op_id: str
    base_rev: int
    text: str
    client_active_ms: int | None = None
    source: str = "typing"
    confirm_empty: bool = False
    typed_at_ms: int | None = None
    offline_ms: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A complete POST: the tab, its draft if there is one, its events."""

    tab_id: str
    draft: Draft | None = None
    replaces_sha256: str = ""
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The clock as a browser shows it; times in milliseconds of active time."""

    state: str
    active_ms: int
    remaining_ms: int
    limit_ms: int
    next_mark_ms: int | None
    is_active_tab: bool
    pauses_in_ms: int | None = None
    paused_by: str = ""
    rev: int | None = None
    refused: str = ""


class Refused(Exception):
    """The server did not do it; `status` says how things stand."""

    code = "refused"

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(self.code)


class DraftRefused(Refused):
    """The text was stored, but it is not the draft; the draft of the server comes along, without its revision."""

    def __init__(self, status: Status, *, your_text: str, server_text: str) -> None:
        self.your_text, self.server_text = your_text, server_text
        super().__init__(status)


class StaleDraft(DraftRefused):
    """The text builds on a revision that is not the latest."""

    code = "conflict"


class TabLost(DraftRefused):
    """Another tab has claimed the session."""

    code = "tab_lost"


class EmptyNeedsConfirmation(DraftRefused):
    """An empty text over a long draft, without a word that it is meant."""

    code = "empty"


class SessionPaused(DraftRefused):
    """The person has paused; the text can be sent again once work goes on."""

    code = "paused"


class NotStarted(DraftRefused):
    """The session has not begun."""

    code = "not_started"


class SessionClosed(DraftRefused):
    code = "closed"


class ConsentMissing(DraftRefused):
    """The person has withdrawn their consent."""

    code = "consent"


class DraftTooLong(Exception):
    """Over 60 KB: the one text that is not stored; it stays in the browser."""


REFUSALS: dict[str, type[DraftRefused]] = {kind.code: kind for kind in DraftRefused.__subclasses__()}


def save(*, session: Session, message: Message, now: datetime) -> Status:
    """Store a draft as the next revision, stamped with the active time of its arrival.

    The same op_id again gives the same revision and stores nothing. A text equal to the last one is a revision
    like any other: a save without a change is not the same as no save. Raises a DraftRefused after storing the
    text, or DraftTooLong without; Session.DoesNotExist where the query finds nothing.
    """
    return carry(session=session, message=message, now=now, then=status_of)


def choose(*, session: Session, message: Message, now: datetime) -> Status:
    """Go on with one of two texts after a conflict; `replaces_sha256` names the server's text that it replaces.

    If the server's text has changed meanwhile it is a conflict again, with the newer one.
    """
    if message.draft is None or not message.replaces_sha256:
        raise ValueError("a choice needs a draft and the hash of what it replaces")
    chosen = replace(message.draft, source="resolve", confirm_empty=True)
    return carry(session=session, message=replace(message, draft=chosen), now=now, then=status_of)


def carry(
    *, session: Session, message: Message, now: datetime, then: Callable[[LockedSession, str], Status]
) -> Status:
    """Take the message's draft, if there is one, and act on the session in the same transaction.

    `then` runs once the draft was taken; if it was refused nothing else happens, and the refusal is raised after
    the commit that keeps its text.
    """
    draft = message.draft
    if draft is not None and len(draft.text.encode()) > MAX_TEXT_BYTES:
        raise DraftTooLong
    try:
        outcome = _carry(session, message, now, then)
    except IntegrityError:
        # The op_id is taken: by a text that was refused then and would pass now, or by a delivery of the same
        # operation that came in between. Either way it is stored by now, and this is its replay.
        outcome = _carry(session, message, now, then, is_replay=True)
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def refuse_without_consent(*, session: Session, message: Message, now: datetime) -> ConsentMissing:
    """Store the draft of a message as refused, and nothing else of it; gives the refusal. DraftTooLong if not."""
    draft = message.draft
    if draft is None:
        raise ValueError("there is no text to keep")
    if len(draft.text.encode()) > MAX_TEXT_BYTES:
        raise DraftTooLong
    with locked(session, now=now) as held:
        held.settle()
        stored = _operation(held, draft.op_id)
        if stored is not None and stored.sha256 != sha256_of(draft.text):
            draft = _under_another_id(draft)
            stored = _operation(held, draft.op_id)
        if stored is None:
            _insert(held, message.tab_id, draft, code=ConsentMissing.code)
        status = status_of(held, message.tab_id)
        return ConsentMissing(status, your_text=draft.text, server_text=held.row.draft_text)


def _carry(
    session: Session,
    message: Message,
    now: datetime,
    then: Callable[[LockedSession, str], Status],
    *,
    is_replay: bool = False,
) -> Status | Refused:
    tab_id, draft = message.tab_id, message.draft
    with locked(session, now=now) as held:
        touch(held, tab_id)
        record_events(held, message)
        if draft is None:
            return then(held, tab_id)
        named = message.replaces_sha256
        is_the_one = bool(named) and named == sha256_of(held.row.draft_text)
        if is_the_one:
            draft = replace(draft, base_rev=held.row.draft_rev)
        code = _objection(held, tab_id, draft) or (StaleDraft.code if named and not is_the_one else "")
        # An operation that was accepted builds on an older revision, so that its replay never looks acceptable:
        # only what is objectionable needs the look for an earlier delivery.
        if is_replay or code:
            stored = _operation(held, draft.op_id)
            if stored is not None:
                return _replay(held, tab_id, draft, stored, then)
        if code:
            return _reject(held, tab_id, draft, code)
        rev = held.row.draft_rev + 1
        _insert(held, tab_id, draft, rev=rev)
        held.put(draft_rev=rev, draft_text=draft.text, active_tab=held.row.active_tab or tab_id)
        return replace(then(held, tab_id), rev=rev)


def touch(held: LockedSession, tab_id: str) -> None:
    """Settle; only the tab that writes keeps a lease alive."""
    if held.row.active_tab in {"", tab_id}:
        held.touch()
    else:
        held.settle()


def _operation(held: LockedSession, op_id: str) -> DraftRevision | None:
    row = DraftRevision.objects.filter(session=held.row.pk, op_id=op_id).first()
    return row or (packing.revision_of(held.row.pk, op_id) if held.state.is_over else None)


def _objection(held: LockedSession, tab_id: str, draft: Draft) -> str:
    """The code of what forbids this draft, empty if nothing does."""
    row, state = held.row, held.state.state
    if held.state.is_over:
        return SessionClosed.code
    if state == State.READY:
        return NotStarted.code
    lapse = held.lapse()
    if lapse is not None and not lapse.is_lease and draft.text != row.draft_text:
        return SessionPaused.code
    if row.active_tab not in {"", tab_id}:
        return TabLost.code
    if draft.base_rev != row.draft_rev:
        return StaleDraft.code
    is_emptied = not draft.text.strip() and len(row.draft_text.strip()) >= LONG_DRAFT
    return EmptyNeedsConfirmation.code if is_emptied and not draft.confirm_empty else ""


def _reject(held: LockedSession, tab_id: str, draft: Draft, code: str) -> DraftRefused:
    _insert(held, tab_id, draft, code=code)
    if held.row.as_typed_at:
        held.put(as_typed_at=None)
    return _refusal(held, tab_id, code, your_text=draft.text)


def _refusal(held: LockedSession, tab_id: str, code: str, *, your_text: str) -> DraftRefused:
    return REFUSALS[code](status_of(held, tab_id), your_text=your_text, server_text=held.row.draft_text)


def _insert(held: LockedSession, tab_id: str, draft: Draft, *, rev: int | None = None, code: str = "") -> None:
    lapse = held.lapse()
    late_ms = min(held.at_ms - lapse.at_ms, LARGEST_MS) if lapse else 0
    DraftRevision.objects.create(
        session_id=held.row.pk,
        rev=rev,
        op_id=draft.op_id,
        base_rev=draft.base_rev,
        tab_id=tab_id,
        text=draft.text,
        sha256=sha256_of(draft.text),
        received_at=held.now,
        typed_at=held.claimed(draft.typed_at_ms),
        offline_ms=draft.offline_ms,
        active_ms=held.active_ms,
        client_active_ms=draft.client_active_ms,
        late_ms=max(late_ms, 0),
        source=draft.source,
        accepted=rev is not None,
        reject_code=code,
    )


def _replay(
    held: LockedSession,
    tab_id: str,
    draft: Draft,
    stored: DraftRevision,
    then: Callable[[LockedSession, str], Status],
) -> Status | Refused:
    """Answer a repeated operation as the first time; what was to follow it follows now at the latest."""
    if stored.sha256 != sha256_of(draft.text):
        # Another text under a used id: a fault of the sender, whose text is kept all the same.
        again = _under_another_id(draft)
        if _operation(held, again.op_id) is not None:
            return _refusal(held, tab_id, StaleDraft.code, your_text=draft.text)
        return _reject(held, tab_id, again, StaleDraft.code)
    if not stored.accepted:
        return _refusal(held, tab_id, stored.reject_code, your_text=stored.text)
    return replace(then(held, tab_id), rev=stored.rev)


def _under_another_id(draft: Draft) -> Draft:
    return replace(draft, op_id=sha256_of(f"{draft.op_id} {draft.text}")[:40])


def record_events(held: LockedSession, message: Message) -> None:
    """Append the events that the browser reports; an event sent twice is one row."""
    if not message.events:
        return
    known = packing.events_of(held.row.pk) if held.state.is_over else ()
    rows = [
        SessionEvent(
            session_id=held.row.pk,
            tab_id=message.tab_id,
            client_seq=event.seq,
            type=event.type,
            at_server=held.now,
            happened_at=held.claimed(event.at_ms),
            active_ms=held.active_ms,
            payload=event.payload,
        )
        for event in message.events
        if (message.tab_id, event.seq) not in known
    ]
    SessionEvent.objects.bulk_create(rows, ignore_conflicts=True)


def status_of(held: LockedSession, tab_id: str) -> Status:
    return status_at(held.state, held.at_ms, is_active_tab=held.row.active_tab == tab_id, lapse=held.lapse())


def status_at(state: ClockState, at_ms: int, *, is_active_tab: bool, lapse: Lapse | None = None) -> Status:
    """How a session stands at an instant of its clock; `lapse` is the pause that it is in."""
    return Status(
        state=state.state.value,
        active_ms=clock.active_ms(state, at_ms),
        remaining_ms=clock.remaining_ms(state, at_ms),
        limit_ms=state.limit_ms,
        next_mark_ms=clock.next_mark_ms(state, at_ms),
        is_active_tab=is_active_tab,
        pauses_in_ms=clock.pauses_in_ms(state, at_ms),
        paused_by=lapse.reason if lapse else "",
    )
