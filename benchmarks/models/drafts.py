"""Summaries and responses in the making: what a summarizer was shown, and every text it gave on the way."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.calls import JudgeCall
from benchmarks.models.corpora import Subtopic
from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.questions import Question, Response
from benchmarks.models.summaries import Summary, System


class Draft(models.Model):
    """A subtopic or a question as a summarizer gets it, frozen: the numbers of the documents in the order shown.

    `n_bullets` is the number of bullets of a summary it was asked for, empty where it may choose; of a source
    `n_sentences` and `new_tokens` are those of its dataset. Where the last document was cut at the token budget,
    `cut` says by which count of tokens, and how much is shown of it (`characters`) and of all (`words`).
    `condition` says
    what the documents of a question are made into; `notes_of` is the draft of another system whose snippets or
    summaries of them are taken, and `n_words` how long all was that the response was written from. In experiments
    of position documents of other sources stand among its own: `others` has their keys by the number under which
    they are shown, and `relevant` is the only document to summarize, where they are marked.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="drafts", verbose_name="summarizer")
    subtopic: models.ForeignKey[Any, Any] = models.ForeignKey(
        Subtopic, null=True, blank=True, on_delete=models.CASCADE, related_name="drafts"
    )
    question: models.ForeignKey[Any, Any] = models.ForeignKey(
        Question, null=True, blank=True, on_delete=models.CASCADE, related_name="drafts"
    )
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="drafts")
    documents: models.JSONField[Any, Any] = models.JSONField(default=list)
    others: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    relevant = models.PositiveIntegerField(null=True, blank=True)
    n_bullets = models.PositiveSmallIntegerField(null=True, blank=True)
    n_sentences = models.PositiveSmallIntegerField(null=True, blank=True)
    new_tokens = models.PositiveIntegerField(null=True, blank=True)
    cut: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    condition = models.CharField(max_length=200, blank=True)
    notes_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    n_words = models.PositiveIntegerField(null=True, blank=True)
    summary = models.OneToOneField(Summary, null=True, blank=True, on_delete=models.SET_NULL, related_name="draft")
    response = models.OneToOneField(
        Response, null=True, blank=True, on_delete=models.SET_NULL, related_name="draft"
    )
    created_at = models.DateTimeField()

    SEEN_BY = ("subtopic", "question")
    objects: ClassVar[models.Manager[Draft]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["subtopic", "system"]
        constraints = [
            models.UniqueConstraint(fields=["subtopic", "system"], name="draft_one_per_system"),
            models.UniqueConstraint(fields=["question", "system"], name="draft_question_one_per_system"),
            models.CheckConstraint(
                condition=Q(subtopic__isnull=False, question=None, response=None)
                | Q(subtopic=None, question__isnull=False, summary=None),
                name="draft_one_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subtopic_id or self.question_id}/{self.system_id}"


class DraftText(models.Model):
    """A text of a draft; append-only. Number 0 is the finished one, others those of blocks or documents.

    It is valid if it is what was asked for, a summary only if its bullets all cite documents that were shown;
    `raw` says what is wrong.
    """

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="texts")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    is_valid = models.BooleanField(default=True)
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    run = models.ForeignKey(JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="draft_texts")
    call = models.ForeignKey(
        JudgeCall, null=True, blank=True, on_delete=models.SET_NULL, related_name="draft_texts"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["draft", "number"]
        constraints = [models.UniqueConstraint(fields=["draft", "number"], name="drafttext_number_unique")]

    def __str__(self) -> str:
        return f"{self.draft_id}/{self.number}"
