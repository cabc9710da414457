"""Text that reached the server after the end of a session, and the decision of a researcher about it.

A late summary is a `DraftRevision` with the code `closed`; late notes have a table of their own, since nobody but
their writer reads them. Nothing in here changes a snapshot.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.sessions import DraftRevision, Session
from benchmarks.models import Summary


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
    summary = models.ForeignKey(Summary, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
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
        """The text that was decided about."""
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
