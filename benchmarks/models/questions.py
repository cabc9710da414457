"""Questions with their documents, key points with verbatim spans, and the responses of systems.

Texts are written by an import and never edited; what people say of key points lives in `annotation`.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.corpora import Haystack
from benchmarks.models.groups import account_field, group_field, kept_without
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.models.summaries import System


class Question(models.Model):
    """A question that needs a long answer from several documents."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    dataset = models.SlugField(max_length=80)
    key = models.CharField(max_length=120, help_text="The id of the question in its dataset.")
    text = models.TextField()
    category = models.CharField(max_length=60, blank=True, db_index=True)
    domain = models.CharField(max_length=60, blank=True, db_index=True)
    haystack = kept_without(
        Haystack,
        "questions",
        help_text="The haystack whose documents and insights these are, if they are of one.",
    )
    language = models.CharField(max_length=20, default="en")
    n_words = models.PositiveIntegerField(default=0, help_text="Of all its documents.")
    created_by = account_field()
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    group = group_field("questions")

    SEEN_BY = "group"
    NAMED_BY = ("dataset", "key")
    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering = ["dataset", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="question_key_unique"),
            models.CheckConstraint(condition=~Q(dataset=""), name="question_has_dataset"),
        ]

    def __str__(self) -> str:
        return self.text if len(self.text) <= 120 else self.text[:119] + "…"


class QuestionDocument(models.Model):
    """One document that was retrieved for a question, numbered from 1."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="documents")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField()
    n_words = models.PositiveIntegerField()

    SEEN_BY = "question"
    objects: ClassVar[models.Manager[QuestionDocument]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["question", "number"]
        constraints = [
            models.UniqueConstraint(fields=["question", "number"], name="questiondocument_number_unique"),
            models.UniqueConstraint(fields=["question", "key"], name="questiondocument_key_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="questiondocument_number_from_1"),
        ]

    def __str__(self) -> str:
        return self.title or f"[{self.number}]"


class KeyPoint(models.Model):
    """A point of a good answer, as extracted; `autods` is the share of yes of a model asked whether it is key."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="key_points")
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    text = models.TextField()
    autods = models.FloatField(null=True, blank=True)

    SEEN_BY = "question"
    objects: ClassVar[models.Manager[KeyPoint]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["question", "number"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="keypoint_key_unique"),
            models.UniqueConstraint(fields=["question", "number"], name="keypoint_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="keypoint_number_from_1"),
            models.CheckConstraint(
                condition=Q(autods=None) | (Q(autods__gte=0) & Q(autods__lte=1)), name="keypoint_autods_is_share"
            ),
        ]

    def __str__(self) -> str:
        return self.text if len(self.text) <= 120 else self.text[:119] + "…"


class Span(models.Model):
    """A passage that a key point was taken from, as quoted, and where it is in the document.

    `start` and `end` count code points of the document's text, `end` excluded; both are null where the passage
    was not found. `match_ratio` (0 to 1) says how alike quote and text are, 1 for the same letters.
    """

    key_point = models.ForeignKey(KeyPoint, on_delete=models.CASCADE, related_name="spans")
    number = models.PositiveIntegerField()
    document = models.ForeignKey(
        QuestionDocument, null=True, blank=True, on_delete=models.CASCADE, related_name="spans"
    )
    quote = models.TextField()
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    match_ratio = models.FloatField(null=True, blank=True)
    is_exact = models.BooleanField(default=False)

    class Meta:
        ordering = ["key_point", "number"]
        constraints = [
            models.UniqueConstraint(fields=["key_point", "number"], name="span_number_unique"),
            models.CheckConstraint(
                condition=Q(start=None, end=None, match_ratio=None)
                | Q(
                    document__isnull=False,
                    start__isnull=False,
                    end__isnull=False,
                    match_ratio__gt=0,
                    match_ratio__lte=1,
                ),
                name="span_located_or_not",
            ),
            models.CheckConstraint(condition=Q(start=None) | Q(start__lt=F("end")), name="span_start_before_end"),
            models.CheckConstraint(condition=Q(is_exact=False) | Q(match_ratio=1), name="span_exact_is_whole"),
        ]

    def __str__(self) -> str:
        return f"{self.key_point_id}: {self.start}–{self.end}" if self.is_located else f"{self.key_point_id}: –"

    @property
    def is_located(self) -> bool:
        """Whether the passage was found in a document."""
        return self.start is not None


class Response(models.Model):
    """A system's answer to a question; the text never changes."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="responses")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="responses")
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    n_words = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    SEEN_BY = "question"
    objects: ClassVar[models.Manager[Response]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["question", "system"]
        constraints = [
            models.UniqueConstraint(fields=["question", "system"], name="response_one_per_system"),
        ]

    def __str__(self) -> str:
        return f"{self.question_id}/{self.system_id}"
