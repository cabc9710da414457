"""What is recorded of a writing session, and what follows from its text."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotation.models import (
    ActivePeriod,
    ClockCredit,
    CopyCheck,
    CreditRequest,
    DraftRevision,
    Exclusion,
    GrowthCheck,
    LateDecision,
    LateNotes,
    PackedRows,
    Session,
    SessionEvent,
    SessionReport,
    Snapshot,
)
from benchmarks.models import Summary
from benchmarks.personal import Acts, Erased, Held, Reason, Seen, Subject

_TIME = _("To measure the time that a text took, to pay for it, and to treat everybody alike.")
_SESSION = ("session__uid",)

HELD = (
    Held(
        model=DraftRevision,
        name="drafts",
        subject=Subject.WRITING,
        what=_("The text as it is written: each version with the time at which it was typed and arrived."),
        why=_("To show how a text grows over time, and so that nothing is lost."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(
            *(
                "session__uid",
                "rev",
                "text",
                "received_at",
                "typed_at",
                "active_ms",
                "client_active_ms",
                "late_ms",
            ),
            *("offline_ms", "source", "accepted", "reject_code"),
        ),
        withheld={Reason.TECHNICAL: ("op_id", "base_rev", "tab_id", "sha256")},
    ),
    Held(
        model=Snapshot,
        name="snapshots",
        subject=Subject.WRITING,
        what=_("A copy of the text about every ten minutes of work, and the final text."),
        why=_("To measure how good a text is after how much time."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "mark_ms", "kind", "text", "staleness_ms", "filled_by", "created_at"),
        withheld={Reason.TECHNICAL: ("revision", "summary")},
    ),
    Held(
        model=Session,
        name="sessions",
        subject=Subject.WRITING,
        what=_(
            "When a session began and ended, how, which documents were marked as read, and what was "
            "promised before."
        ),
        why=_TIME,
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=(
            *("uid", "assignment__uid", "state", "limit_ms", "mark_every_ms", "config", "document_numbers"),
            *("acc_ms", "last_seen_at", "draft_text", "read_documents", "attested_before_at", "created_at"),
            *(
                "started_at",
                "ended_at",
                "end_reason",
                "void_reason",
                "questions_declined_at",
                "guideline__version",
            ),
        ),
        withheld={
            Reason.TECHNICAL: (
                *(
                    "grace_ms",
                    "disconnect_policy",
                    "lease_ms",
                    "run_started_at",
                    "clock_hwm",
                    "host_clocks",
                    "next_due_at",
                ),
                *("last_mark_ms", "draft_rev", "active_tab", "late_text"),
            )
        },
    ),
    Held(
        model=ActivePeriod,
        name="work_periods",
        subject=Subject.WRITING,
        what=_("When work begins and pauses, and why the clock stopped."),
        why=_TIME,
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "seq", "started_at", "ended_at", "acc_before_ms", "start_reason", "end_reason"),
    ),
    Held(
        model=SessionEvent,
        name="events",
        subject=Subject.WRITING,
        what=_(
            "The words searched for in the documents and how many hits there were; when the page is hidden or "
            "out of focus; long breaks; of pastes and copies their source and size, not the text."
        ),
        why=_("To know how a text came about, and whether it is the person's own."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "type", "at_server", "happened_at", "active_ms", "payload"),
        withheld={Reason.TECHNICAL: ("tab_id", "client_seq")},
        setting="RETAIN_SESSION_EVENTS_DAYS",
    ),
    Held(
        model=PackedRows,
        name="packed",
        subject=Subject.WRITING,
        what=_("Drafts and events of sessions that are over, compressed."),
        why=_("To need less space; they are in the files of drafts and of events."),
        seen_by=Seen.NOBODY,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        withheld={Reason.TWICE: ("table", "n_rows", "rows", "packed_at", "search_words_gone_at")},
        setting="RETAIN_SEARCH_WORDS_DAYS",
    ),
    Held(
        model=Session,
        name="notes",
        subject=Subject.WRITING,
        what=_("The notes beside the text; they are never scored."),
        why=_("So that they are still there when the page is opened again."),
        seen_by=Seen.SELF,
        erased=Erased.ON_REQUEST,
        annotator="annotator",
        fields=("uid", "notes_text"),
        emptied={"notes_text": ""},
    ),
    Held(
        model=LateNotes,
        name="late_notes",
        subject=Subject.WRITING,
        what=_("Notes that arrived after the end."),
        why=_("So that nothing that somebody wrote is lost."),
        seen_by=Seen.SELF,
        erased=Erased.ALWAYS,
        annotator="session__annotator",
        fields=(*_SESSION, "text", "typed_at", "received_at", "reject_code"),
        withheld={Reason.TECHNICAL: ("op_id", "tab_id")},
    ),
    Held(
        model=LateDecision,
        name="late_texts",
        subject=Subject.WRITING,
        what=_("Whether a text that arrived after the end was accepted, and why."),
        why=_("So that nobody loses work by a bad connection."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "is_accepted", "reason", "at"),
        withheld={
            Reason.TECHNICAL: ("revision", "summary"),
            Reason.SPOILS: ("copied_lines",),
            Reason.OTHERS: ("by",),
        },
    ),
    Held(
        model=CreditRequest,
        name="time_requests",
        subject=Subject.WRITING,
        what=_("Requests for more time with their reason, and the answer."),
        why=_("To make up for time that was lost."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "minutes", "reason", "at", "answer", "answered_at"),
        withheld={Reason.TECHNICAL: ("credit",)},
        emptied={"reason": ""},
    ),
    Held(
        model=ClockCredit,
        name="time_credits",
        subject=Subject.WRITING,
        what=_("Time that an admin gave back, and why."),
        why=_("To make up for time that was lost."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "delta_ms", "reason", "at"),
        withheld={Reason.OTHERS: ("by",)},
    ),
    Held(
        model=SessionReport,
        name="answers_afterwards",
        subject=Subject.WRITING,
        what=_(
            "The answers after a session: whether the time was enough, that no language model was used, a comment."
        ),
        why=_("To judge whether the time limit is fair and the text the person's own."),
        seen_by=Seen.RESEARCHERS,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "time_was_enough", "used_no_model", "comment", "at"),
        emptied={"comment": ""},
    ),
    Held(
        model=Exclusion,
        name="exclusions",
        subject=Subject.WRITING,
        what=_("That a researcher left a session out of results, and why."),
        why=_("So that results can be checked."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="session__annotator",
        fields=(*_SESSION, "reason", "at", "lifted_at"),
        withheld={Reason.OTHERS: ("by",)},
    ),
    Held(
        model=CopyCheck,
        name="copy_checks",
        subject=Subject.WRITING,
        what=_("Which lines of a text repeat its documents word for word, as a program found."),
        why=_("To know whether a text is the person's own."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="snapshot__session__annotator",
        withheld={Reason.SPOILS: ("lines", "n_flagged", "created_at")},
    ),
    Held(
        model=GrowthCheck,
        name="growth_checks",
        subject=Subject.WRITING,
        what=_("Where a text grew faster than somebody types, as a program found."),
        why=_("To know whether a text is the person's own."),
        seen_by=Seen.RESEARCHERS_ONLY,
        erased=Erased.ON_REQUEST,
        annotator="snapshot__session__annotator",
        withheld={Reason.SPOILS: ("jumps", "n_flagged", "created_at")},
    ),
    Held(
        model=Summary,
        name="scored_texts",
        subject=Subject.WRITING,
        what=_("The texts of snapshots as summaries, with what judges and other people say of them."),
        why=_("To compare texts of people with those of programs."),
        seen_by=Seen.PUBLISHED,
        erased=Erased.ON_REQUEST,
        annotator="snapshots__session__annotator",
        withheld={
            Reason.TWICE: ("text", "text_sha256", "visible_words", "created_at"),
            Reason.JUDGED: ("scores",),
            Reason.TECHNICAL: ("uid", "subtopic", "haystack", "system", "origin"),
        },
    ),
)

ACTS = tuple(Acts(model, ("by",)) for model in (ClockCredit, Exclusion, LateDecision))

DURING = tuple(
    held.what for held in HELD if held.name in {"drafts", "snapshots", "work_periods", "events", "notes"}
)
"""What is recorded while somebody writes, in the words of the page before."""
