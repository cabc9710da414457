"""A timed writing session and everything recorded of it; durations in integer milliseconds.

Revisions, snapshots, events and credits are append-only. The rules live in `annotation.clock` and
`annotation.writing`; the constraints here say what may never be stored. Rows of sessions that are over are kept
compressed: the one exception to "append, don't edit".

A late summary is a `DraftRevision` with the code `closed`; late notes have a table of their own, since nobody but
their writer reads them. They change no snapshot.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation import clock
from annotation.models.studies import Annotator, Assignment, Guideline
from annotation.querysets import CreditRequestQuerySet, SessionQuerySet
from annotation.states import SessionState, SnapshotKind, WritingDisconnectPolicy, known
from benchmarks.models import Summary
from benchmarks.models.groups import kept_without


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else clock.to_ms(moment)


class Session(models.Model):
    """One person writing one summary against the server's clock."""

    State = SessionState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="session")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="sessions")
    guideline = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=9, choices=State, default=State.READY)

    limit_ms = models.PositiveIntegerField(help_text="With credits.")
    mark_every_ms = models.PositiveIntegerField()
    grace_ms = models.PositiveIntegerField(default=10_000)
    disconnect_policy = models.CharField(max_length=12, default=WritingDisconnectPolicy.KEEP_RUNNING.value)
    lease_ms = models.PositiveIntegerField(default=180_000)
    config: models.JSONField[Any, Any] = models.JSONField(
        default=dict, help_text="Frozen copy of the plan: preset, aids, paste policy, guideline version …"
    )
    document_numbers: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="Frozen order.")

    acc_ms = models.PositiveIntegerField(default=0, help_text="Active time of the closed periods.")
    run_started_at = models.DateTimeField(null=True, blank=True)
    clock_hwm = models.DateTimeField(null=True, blank=True, help_text="Latest instant this session has seen.")
    host_clocks: models.JSONField[Any, Any] = models.JSONField(
        null=True,
        blank=True,
        help_text="By machine when it was started by its own clock (ms): this changes when the clock is set.",
    )
    last_seen_at = models.DateTimeField(null=True, blank=True)
    next_due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    last_mark_ms = models.PositiveIntegerField(default=0, help_text="Latest mark with a snapshot.")

    draft_rev = models.PositiveIntegerField(default=0)
    draft_text = models.TextField(blank=True)
    active_tab = models.CharField(max_length=40, blank=True)
    notes_text = models.TextField(blank=True, help_text="The annotator's own; never scored.")
    read_documents: models.JSONField[Any, Any] = models.JSONField(default=list, blank=True)
    marked_passages: models.JSONField[Any, Any] = models.JSONField(
        default=list, blank=True, help_text="The annotator's own, never scored: document, start, end, colour."
    )

    attested_before_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=20, blank=True)
    void_reason = models.TextField(blank=True)
    questions_declined_at = models.DateTimeField(null=True, blank=True)
    as_typed_at = models.DateTimeField(
        null=True, blank=True, help_text="When texts as typed were found; empty: not yet, or a text came since."
    )
    late_text = models.ForeignKey(
        "annotation.DraftRevision",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Arrived after the end and was accepted by a researcher, beside the final snapshot.",
    )

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        permissions = [("void_session", "Can void a session")]
        constraints = [
            known("state", SessionState, "session_state_known"),
            models.CheckConstraint(
                condition=Q(state=SessionState.RUNNING.value, run_started_at__isnull=False)
                | (~Q(state=SessionState.RUNNING.value) & Q(run_started_at=None)),
                name="session_open_period_iff_running",
            ),
            models.CheckConstraint(condition=Q(acc_ms__lte=F("limit_ms")), name="session_never_over_limit"),
            known("disconnect_policy", WritingDisconnectPolicy, "session_disconnect_known"),
            models.CheckConstraint(
                condition=Q(late_text=None)
                | Q(state__in=[SessionState.SUBMITTED.value, SessionState.EXPIRED.value], ended_at__isnull=False),
                name="session_late_text_only_after_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.uid} ({self.state})"

    @property
    def clock_state(self) -> clock.ClockState:
        return clock.ClockState(
            limit_ms=self.limit_ms,
            mark_every_ms=self.mark_every_ms,
            state=clock.State(self.state),
            grace_ms=self.grace_ms,
            disconnect_policy=clock.Policy(self.disconnect_policy),
            lease_ms=self.lease_ms,
            acc_ms=self.acc_ms,
            run_started_at_ms=_ms(self.run_started_at),
            clock_hwm_ms=_ms(self.clock_hwm) or 0,
            last_seen_ms=_ms(self.last_seen_at),
            last_mark_ms=self.last_mark_ms,
            started_at_ms=_ms(self.started_at),
            ended_at_ms=_ms(self.ended_at),
            end_reason=self.end_reason,
        )

    def active_ms_at(self, now: datetime) -> int:
        """Active time (ms) at `now`, also where nobody has settled it."""
        if self.run_started_at is None:
            return self.acc_ms
        state = self.clock_state
        return clock.active_ms(state, clock.advance(state, clock.to_ms(now)))


class ActivePeriod(models.Model):
    """A stretch of work; the sum of the closed ones is `acc_ms`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="periods")
    seq = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    acc_before_ms = models.PositiveIntegerField()
    start_reason = models.CharField(max_length=20)
    end_reason = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["session", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="period_seq_unique"),
            models.UniqueConstraint(fields=["session"], condition=Q(ended_at=None), name="period_one_open"),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=F("started_at")), name="period_ends_after_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}#{self.seq}"


class DraftRevision(models.Model):
    """A text that reached the server; rejected ones are kept too, with a code, and never counted."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="revisions")
    rev = models.PositiveIntegerField(null=True, blank=True)
    op_id = models.CharField(max_length=40)
    base_rev = models.PositiveIntegerField()
    tab_id = models.CharField(max_length=40, blank=True)
    text = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64)
    received_at = models.DateTimeField()
    typed_at = models.DateTimeField(null=True, blank=True, help_text="Last key, by the browser's clock.")
    active_ms = models.PositiveIntegerField()
    client_active_ms = models.PositiveIntegerField(null=True, blank=True)
    late_ms = models.PositiveIntegerField(default=0)
    offline_ms = models.PositiveIntegerField(
        default=0, help_text="How long the browser says it had been without a connection."
    )
    source = models.CharField(max_length=20)
    accepted = models.BooleanField()
    reject_code = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["session", "pk"]
        indexes = [
            models.Index(fields=["session", "accepted", "active_ms"], name="revision_by_time"),
            models.Index(fields=["session"], condition=Q(reject_code="closed"), name="revision_late"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "op_id"], name="revision_op_unique"),
            models.UniqueConstraint(
                fields=["session", "rev"], condition=Q(accepted=True), name="revision_rev_unique"
            ),
            models.CheckConstraint(
                condition=Q(accepted=True, rev__isnull=False, reject_code="")
                | (Q(accepted=False, rev=None) & ~Q(reject_code="")),
                name="revision_accepted_iff_numbered",
            ),
            models.CheckConstraint(
                condition=Q(typed_at=None) | Q(typed_at__lte=F("received_at")), name="revision_typed_before"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} r{self.rev or '-'}"


class Snapshot(models.Model):
    """The text at a mark of active time, or the final one; never updated except for its link to the summary."""

    Kind = SnapshotKind

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="snapshots")
    mark_ms = models.PositiveIntegerField()
    kind = models.CharField(max_length=5, choices=Kind)
    revision = models.ForeignKey(DraftRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True)
    staleness_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Since the revision; empty: no save."
    )
    filled_by = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    summary = kept_without(Summary, "snapshots")

    class Meta:
        ordering = ["session", "mark_ms"]
        indexes = [
            models.Index(fields=["id"], condition=Q(summary=None), name="snapshot_not_yet_scored"),
            models.Index(fields=["session", "summary", "id"], name="snapshot_by_summary"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "mark_ms"], name="snapshot_mark_unique"),
            models.UniqueConstraint(
                fields=["session"], condition=Q(kind=SnapshotKind.FINAL.value), name="snapshot_one_final"
            ),
            known("kind", SnapshotKind, "snapshot_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} {self.kind} {self.mark_ms} ms"


class TypedText(models.Model):
    """The text that had been typed by a mark, where another is recorded there: this one arrived later.

    Figures use it only where a page asks for texts as typed. `rev` is empty for one that arrived after the end.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="typed_texts")
    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="as_typed")
    rev = models.PositiveIntegerField(null=True, blank=True)
    typed_at = models.DateTimeField()
    received_at = models.DateTimeField()
    text = models.TextField(blank=True)
    summary = kept_without(Summary)

    class Meta:
        ordering = ["session", "snapshot__mark_ms"]
        indexes = [
            models.Index(fields=["id"], condition=Q(summary=None), name="typed_text_not_yet_scored"),
        ]

    def __str__(self) -> str:
        return f"{self.snapshot} as typed"


class SessionEvent(models.Model):
    """A report of the browser: searches, pastes by class, visibility, gaps, translation. No keys or contents."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events")
    tab_id = models.CharField(max_length=40)
    client_seq = models.PositiveIntegerField()
    type = models.CharField(max_length=30)
    at_server = models.DateTimeField()
    happened_at = models.DateTimeField(
        null=True, blank=True, help_text="By the browser's clock, within the session and not after the receipt."
    )
    active_ms = models.PositiveIntegerField()
    payload: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["session", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "tab_id", "client_seq"], name="event_seq_unique"),
            models.CheckConstraint(
                condition=Q(happened_at=None) | Q(happened_at__lte=F("at_server")), name="event_happened_before"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id} {self.type}"

    @property
    def at(self) -> datetime:
        """When it happened, as far as that is known."""
        return self.happened_at or self.at_server


class ClockCredit(models.Model):
    """Active time that an admin gave back, with a reason."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="credits")
    delta_ms = models.IntegerField()
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["session", "pk"]
        constraints = [models.CheckConstraint(condition=~Q(delta_ms=0), name="credit_not_zero")]

    def __str__(self) -> str:
        return f"{self.session_id} {self.delta_ms:+d} ms"


class CreditRequest(models.Model):
    """An annotator asks for time back, or remarks on the measured time."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="credit_requests")
    minutes = models.PositiveIntegerField(null=True, blank=True)
    reason = models.TextField()
    at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    credit = models.OneToOneField(
        ClockCredit, null=True, blank=True, on_delete=models.SET_NULL, related_name="request"
    )

    objects = CreditRequestQuerySet.as_manager()

    class Meta:
        ordering = ["session", "pk"]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.reason[:40]}"


class SessionReport(models.Model):
    """Answers of the annotator to the questions after the session."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="report")
    time_was_enough = models.BooleanField()
    used_no_model = models.BooleanField()
    comment = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["session"]

    def __str__(self) -> str:
        return f"{self.session_id}"


class Exclusion(models.Model):
    """A researcher leaves a session out of figures, with a reason; lifting it keeps the row."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="exclusions")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["session"], condition=Q(lifted_at=None), name="exclusion_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.reason[:40]}"


class PackedRows(models.Model):
    """All drafts or events of one session, compressed, but for the rows that figures and decisions name.

    `rows` is JSON by columns, compressed as .xz, which `annotation.writing.packing` writes and reads.
    """

    class Table(models.TextChoices):
        REVISIONS = "revisions", "drafts"
        EVENTS = "events", "events"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="packed")
    table = models.CharField(max_length=9, choices=Table)
    n_rows = models.PositiveIntegerField()
    rows = models.BinaryField()
    packed_at = models.DateTimeField()
    search_words_gone_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Of events: when the words that were searched for went."
    )

    class Meta:
        ordering = ["session", "table"]
        verbose_name_plural = "packed rows"
        constraints = [
            models.UniqueConstraint(fields=["session", "table"], name="packedrows_once"),
            models.CheckConstraint(condition=Q(table__in=["revisions", "events"]), name="packedrows_table_known"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.n_rows} {self.table}"


class LateDecision(models.Model):
    """A researcher accepts or declines a late text, with a reason; the newest decision on a text is in force.

    `Session.late_text` names the text that is accepted now. `summary` is what the judges score of it.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="late_decisions")
    revision = models.ForeignKey(DraftRevision, on_delete=models.CASCADE, related_name="late_decisions")
    is_accepted = models.BooleanField()
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()
    summary = kept_without(Summary)
    copied_lines: models.JSONField[Any, Any] = models.JSONField(
        null=True, blank=True, help_text="As in a copy check; empty: not compared yet."
    )

    class Meta:
        ordering = ["session", "pk"]
        indexes = [
            models.Index(
                fields=["id"], condition=Q(is_accepted=True, summary=None), name="late_text_not_yet_scored"
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="late_decision_has_a_reason"),
            models.CheckConstraint(
                condition=Q(is_accepted=True) | Q(summary=None), name="late_text_scored_only_if_accepted"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {'accepted' if self.is_accepted else 'declined'}"

    @property
    def text(self) -> str:
        return self.revision.text


class LateNotes(models.Model):
    """Notes that came after the end, or from a tab that had lost the session; only their writer reads them."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="late_notes")
    op_id = models.CharField(max_length=40)
    tab_id = models.CharField(max_length=40)
    text = models.TextField()
    typed_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField()
    reject_code = models.CharField(max_length=20)

    class Meta:
        verbose_name_plural = "late notes"
        ordering = ["session", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "op_id"], name="late_notes_op_unique"),
            models.CheckConstraint(
                condition=Q(typed_at=None) | Q(typed_at__lte=F("received_at")), name="late_notes_typed_before"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {len(self.text)} characters"
