"""Bases of answers of label work and of decisions on them: a change is a new row, and the first one stays."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Annotator, Guideline, Study
from annotation.models.tasks import LabelTask
from annotation.querysets import AnswerQuerySet
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERED, Coverage


class Answer(models.Model):
    """One answer of an annotator to an item; the newest is current.

    `is_complete` is false while something asked is open, and of a cleared answer; such answers count for nothing.
    `is_check` marks answers that enter no figure: to attention checks, and in training. `supersedes` is the answer
    that this one took the place of, `undoes` the one it took back; `op_id` names the act in the browser, so that a
    repeated delivery is known.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="%(class)ss")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="%(class)ss")
    task = models.ForeignKey(LabelTask, on_delete=models.RESTRICT, related_name="%(class)ss")
    guideline = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    is_complete = models.BooleanField()
    is_current = models.BooleanField(default=True)
    is_unsure = models.BooleanField(default=False)
    is_check = models.BooleanField(default=False)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="undone_by"
    )
    op_id = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    objects = AnswerQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["task"], condition=Q(is_current=True), name="%(class)s_one_current"),
            models.UniqueConstraint(fields=["task", "op_id"], name="%(class)s_one_row_per_act"),
        ]


class Adjudication(models.Model):
    """Who decided, when and why; `was_blind` says that names and judges were hidden when it was made.

    Append-only: a new decision supersedes the old one. The current ones are the gold set of the study.
    """

    note = models.TextField(blank=True)
    was_blind = models.BooleanField(default=False)
    is_current = models.BooleanField(default=True)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        abstract = True
        ordering = ["study", "pk"]


class CoverageAdjudication(Adjudication):
    """The decided coverage of an insight by a summary, in a study, with the covering lines, counted from 1."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="coverage_adjudications")
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="adjudications")
    insight = models.ForeignKey(Insight, on_delete=models.PROTECT, related_name="adjudications")
    coverage = models.CharField(max_length=7)
    lines: models.JSONField[Any, Any] = models.JSONField(default=list)
    is_linked = models.BooleanField()

    class Meta(Adjudication.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["study", "summary", "insight"],
                condition=Q(is_current=True),
                name="coverageadjudication_one_current",
            ),
            models.CheckConstraint(
                condition=Q(coverage=Coverage.NONE.value, is_linked=False)
                | Q(coverage__in=list(COVERED), is_linked=True),
                name="coverageadjudication_covered_iff_linked",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.summary_id}/{self.insight_id}: {self.coverage}"
