"""Summaries in the making: what a summarizer was shown for a subtopic, and every text it gave on the way."""

from __future__ import annotations

from typing import Any

from django.db import models

from benchmarks.models.calls import JudgeCall
from benchmarks.models.corpora import Subtopic
from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.summaries import Summary, System


class Draft(models.Model):
    """A subtopic as a summarizer gets it, frozen: the numbers of the documents in the order shown.

    `n_bullets` is the number of bullets it was asked for, empty where it may choose.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="drafts", verbose_name="summarizer")
    subtopic = models.ForeignKey(Subtopic, on_delete=models.CASCADE, related_name="drafts")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="drafts")
    documents: models.JSONField[Any, Any] = models.JSONField(default=list)
    n_bullets = models.PositiveSmallIntegerField(null=True, blank=True)
    summary = models.OneToOneField(Summary, null=True, blank=True, on_delete=models.SET_NULL, related_name="draft")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["subtopic", "system"]
        constraints = [models.UniqueConstraint(fields=["subtopic", "system"], name="draft_one_per_system")]

    def __str__(self) -> str:
        return f"{self.subtopic_id}/{self.system_id}"


class DraftText(models.Model):
    """A text of a draft; append-only. Number 0 is the finished one, others are those of blocks, from 1.

    It is valid if it has bullets that all cite documents that were shown; `raw` says what is wrong.
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
