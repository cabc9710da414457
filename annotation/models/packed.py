"""Rows of sessions that are over, kept compressed: the one exception to "append, don't edit"."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.sessions import Session


class PackedRows(models.Model):
    """All drafts or events of one session, compressed, but for the rows that figures and decisions name.

    `rows` is JSON by columns, compressed as .xz, which `annotation.writing.packing` writes and reads.
    """

    class Table(models.TextChoices):
        """Of which table the rows are."""

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
