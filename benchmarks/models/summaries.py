"""Systems and their summaries, whose text never changes, and where these take their content from.

Links point at the numbered lines of a summary. Positions of content are computed once for each order of documents.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.apps import apps
from django.db import models
from django.db.models import Exists, OuterRef, Q

from benchmarks.access.sight import FencedQuerySet, Sight, in_sight
from benchmarks.models.corpora import Haystack, Subtopic
from benchmarks.models.querysets import SummaryQuerySet
from benchmarks.states import SummaryOrigin, SystemKind


class System(models.Model):
    """A summarizer with its retriever (or the full context in some document order), or people."""

    Kind = SystemKind

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    key = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=5, choices=Kind, default=Kind.MODEL)
    summarizer = models.CharField(max_length=120)
    retriever = models.CharField(max_length=120, blank=True, help_text="Empty: the full context.")
    document_order = models.CharField(
        max_length=40, blank=True, help_text="Of a full-context run: sort, rev-sort …"
    )

    objects: ClassVar[models.Manager[System]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["summarizer", "retriever", "document_order"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SystemKind.values), name="system_kind_known"),
        ]

    def __str__(self) -> str:
        return " · ".join(
            part for part in (self.summarizer, self.retriever or "full", self.document_order) if part
        )

    @staticmethod
    def SEEN_BY(sight: Sight) -> Q:
        """Those with a text in sight, and those without any: names of systems are read off their texts."""
        seen, anything = [], []
        for name in ("Summary", "Response"):
            texts = apps.get_model("benchmarks", name)
            of_system = texts._base_manager.filter(system=OuterRef("pk"))
            seen.append(Exists(of_system.filter(in_sight(texts, sight))))
            anything.append(Exists(of_system))
        return Q(seen[0]) | Q(seen[1]) | ~(Q(anything[0]) | Q(anything[1]))


class Summary(models.Model):
    """One immutable text that answers a subtopic's query; line n is the n-th line of `text`.

    Texts of writing sessions are rows too (origin `session`): one for each distinct text of a subtopic,
    so that the same text is judged once whoever wrote it and however often it was saved. Texts that only came with
    annotated summaries (origin `annotated`) stand beside the one of the haystack's file, which leaderboards count.
    """

    Origin = SummaryOrigin

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    subtopic = models.ForeignKey(Subtopic, on_delete=models.CASCADE, related_name="summaries")
    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="summaries")
    origin = models.CharField(max_length=9, choices=Origin, default=Origin.IMPORTED)
    text = models.TextField(blank=True)
    text_sha256 = models.CharField(max_length=64)
    visible_words = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many words of its documents the writer saw; empty: all."
    )
    scores: models.JSONField[Any, Any] = models.JSONField(
        default=dict, blank=True, help_text="Scores that came with the text, by the name of their metric."
    )
    created_at = models.DateTimeField()

    SEEN_BY = "haystack"
    objects = SummaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ["subtopic", "system", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(origin__in=SummaryOrigin.values),
                name="summary_origin_known",
            ),
            models.UniqueConstraint(
                fields=["subtopic", "system"],
                condition=~Q(origin__in=[SummaryOrigin.SESSION.value, SummaryOrigin.ANNOTATED.value]),
                name="summary_one_per_system",
            ),
            models.UniqueConstraint(
                fields=["subtopic", "system", "text_sha256"],
                condition=Q(origin=SummaryOrigin.ANNOTATED.value),
                name="summary_annotated_text_unique",
            ),
            models.UniqueConstraint(
                fields=["subtopic", "text_sha256"],
                condition=Q(origin=SummaryOrigin.SESSION.value),
                name="summary_session_text_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subtopic_id}/{self.system_id}"

    @property
    def has_page(self) -> bool:
        """Whether researchers read it as a corpus; texts of sessions are read in their session."""
        return self.origin != self.Origin.SESSION

    @property
    def lines(self) -> list[str]:
        """The lines that links and verdicts number from 1; published texts keep their empty lines."""
        return self.text.split("\n") if self.text else []


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
