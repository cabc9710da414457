"""Where summaries take their content from, computed once for each order of the documents."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.summaries import Summary


class TextPosition(models.Model):
    """The content of one summary in documents shown in one order; the key is a hash of order and reference."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="positions")
    key = models.CharField(max_length=64)
    content = models.BinaryField(help_text="Compressed JSON.")

    SEEN_BY = "summary"
    objects: ClassVar[models.Manager[TextPosition]] = FencedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "key"], name="position_key_unique")]

    def __str__(self) -> str:
        return f"{self.summary_id}/{self.key[:8]}"
