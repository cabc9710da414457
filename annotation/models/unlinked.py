"""Why bullets of a summary cover no insight (SummHay, A.8), beside the coverage labels of a task. Append-only."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotation.models.answers import Answer
from benchmarks.models import Summary


class UnlinkedReason(models.TextChoices):
    """Why a bullet covers no insight."""

    SUBTOPIC = "subtopic", "another subtopic"
    GENERAL = "general", "too general"
    UNSUPPORTED = "unsupported", "unsupported"


class UnlinkedLabel(Answer):
    """Reasons by line of a summary, all that one person gave; a line that is linked by now counts for nothing.

    `reasons` is {line, counted from 1, as text: reason}. It is optional, so a task is done without one.
    """

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="unlinked_labels")
    reasons: models.JSONField[Any, Any] = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.annotator_id}: {len(self.reasons)} reasons"
