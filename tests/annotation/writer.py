"""A writer at the desk, for tests: a started session and the verbs, at so many milliseconds after its start."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from annotation.models import DraftRevision, Session, Snapshot
from annotation.writing import drafting, sessions, settling
from annotation.writing.drafting import Draft, Message, Status
from tests.makers import NOW, give_consent, make_assignment, make_writing_study

_OPERATIONS = count(1)


def start_session(person, *, study_fields: dict[str, Any] | None = None, **plan) -> Session:
    """A session that `person` has just started at NOW, in a study of their own."""
    study = make_writing_study(annotators=[person], study_fields=study_fields, **plan)
    give_consent(person)
    return sessions.start(assignment=make_assignment(annotator=person, study=study), attested=True, now=NOW)


def after(ms: int) -> datetime:
    """So many milliseconds after NOW."""
    return NOW + timedelta(milliseconds=ms)


class Writer:
    """One browser tab on a session; `rev` is the revision that it knows."""

    def __init__(self, session: Session, tab_id: str = "tab-1", rev: int | None = None) -> None:
        self.session, self.tab_id = session, tab_id
        self.rev = session.draft_rev if rev is None else rev

    def message(self, text: str | None = None, **fields) -> Message:
        """A POST of this tab; keywords of `Draft`, `events` or `replaces_sha256`."""
        outer = {name: fields.pop(name) for name in ("events", "replaces_sha256") if name in fields}
        values: dict[str, Any] = {"op_id": f"op-{next(_OPERATIONS)}", "base_rev": self.rev, **fields}
        draft = None if text is None else Draft(text=text, **values)
        return Message(tab_id=self.tab_id, draft=draft, **outer)

    def save(self, at_ms: int, text: str, **fields) -> Status:
        """Post a draft, and take over its revision if it was accepted."""
        return self._keep(
            drafting.save(session=self.session, message=self.message(text, **fields), now=after(at_ms))
        )

    def choose(self, at_ms: int, text: str, **fields) -> Status:
        """Go on with a text after a conflict."""
        return self._keep(
            drafting.choose(session=self.session, message=self.message(text, **fields), now=after(at_ms))
        )

    def pause(self, at_ms: int, text: str | None = None, **fields) -> Status:
        """Pause, with a draft or without."""
        return self._keep(
            sessions.pause(session=self.session, message=self.message(text, **fields), now=after(at_ms))
        )

    def submit(self, at_ms: int, text: str | None = None, **fields) -> Status:
        """Submit, with a draft or without."""
        return self._keep(
            sessions.submit(session=self.session, message=self.message(text, **fields), now=after(at_ms))
        )

    def resume(self, at_ms: int) -> Status:
        return sessions.resume(session=self.session, message=self.message(), now=after(at_ms))

    def beat(self, at_ms: int, **fields) -> Status:
        """Send a sign of life."""
        return sessions.heartbeat(session=self.session, message=self.message(**fields), now=after(at_ms))

    def claim(self, at_ms: int) -> tuple[Status, str]:
        """Make this the tab that writes."""
        status, text = sessions.claim_tab(session=self.session, message=self.message(), now=after(at_ms))
        self._keep(status)
        return status, text

    def settle(self, at_ms: int) -> Session:
        """Let some seconds pass, then settle."""
        self.session.refresh_from_db()
        return settling.settle(session=self.session, now=after(at_ms))

    def row(self) -> Session:
        """The session as stored."""
        return Session.objects.get(pk=self.session.pk)

    def snapshots(self) -> dict[int, str]:
        """Texts by mark."""
        return dict(Snapshot.objects.filter(session=self.session).values_list("mark_ms", "text"))

    def revisions(self) -> list[tuple[int | None, int, str, str]]:
        """(rev, active_ms, text, reject_code) of everything that was posted."""
        rows = DraftRevision.objects.filter(session=self.session).order_by("pk")
        return list(rows.values_list("rev", "active_ms", "text", "reject_code"))

    def _keep(self, status: Status) -> Status:
        if status.rev is not None:
            self.rev = status.rev
        return status
