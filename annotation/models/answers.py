"""Answers of label work and decisions on them: their bases, coverage, ratings, and labels made elsewhere.

Append-only: a change is a new row that supersedes the old one, and the first answer stays. Labels made here are
covered exactly when linked once they are complete; imported ones are kept as published, and `breaks_rule` says
where they are not.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Cast, Replace, StrIndex
from django.db.models.lookups import GreaterThan

from annotation.models.studies import Annotator, Guideline, Study
from annotation.models.tasks import LabelTask
from annotation.querysets import AnswerQuerySet
from benchmarks.models import Insight, Judge, Summary
from benchmarks.models.groups import account_field
from benchmarks.scoring.likert import LEVELS
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage


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
    made_by = account_field()
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


class CoverageLabel(Answer):
    """How much of an insight a summary covers, by one person, and in which lines (numbered from 1).

    Empty coverage is a cleared answer. A covered choice without a line is not complete yet. Labels
    made elsewhere have no task. Those of training are marked as checks: they were given with feedback.
    """

    task = models.ForeignKey(  # type: ignore[assignment]  # that of a label made elsewhere is empty
        LabelTask, null=True, blank=True, on_delete=models.RESTRICT, related_name="coveragelabels"
    )
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="coverage_labels")
    insight = models.ForeignKey(Insight, on_delete=models.CASCADE, related_name="coverage_labels")
    coverage = models.CharField(max_length=7, blank=True)
    lines: models.JSONField[Any, Any] = models.JSONField(default=list)
    is_linked = models.BooleanField(default=False)
    is_imported = models.BooleanField(default=False)
    breaks_rule = models.BooleanField(default=False)
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["study", "annotator", "summary", "insight", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "summary", "insight"],
                condition=Q(is_current=True),
                name="label_one_current",
            ),
            models.UniqueConstraint(
                fields=["task", "op_id"], condition=~Q(op_id=""), name="label_one_row_per_act"
            ),
            models.CheckConstraint(condition=Q(coverage__in=["", *COVERAGES]), name="label_coverage_known"),
            models.CheckConstraint(
                condition=~Q(coverage="") | Q(is_complete=False), name="label_cleared_is_incomplete"
            ),
            models.CheckConstraint(
                condition=Q(is_imported=True)
                | Q(is_complete=False)
                | Q(coverage__in=["", Coverage.NONE.value], is_linked=False)
                | Q(coverage__in=list(COVERED), is_linked=True),
                name="label_covered_iff_linked",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.coverage or 'cleared'}"


class ExternalLabel(models.Model):
    """A categorical label made elsewhere: an item of its own key, and the cluster it belongs to, if any."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="external_labels")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="external_labels")
    task = models.CharField(max_length=40, blank=True)
    item = models.CharField(max_length=300)
    label = models.CharField(max_length=120)
    cluster = models.CharField(max_length=300, blank=True)
    links: models.JSONField[Any, Any] = models.JSONField(default=list, blank=True)
    imported_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "item", "annotator"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "task", "item"], name="external_label_once_per_item"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}: {self.label}"


class ExternalVerdict(models.Model):
    """What a judge said elsewhere of an item of external labels: a prediction or suggestion in a tool's file."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="external_verdicts")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="external_verdicts")
    task = models.CharField(max_length=40, blank=True)
    item = models.CharField(max_length=300)
    label = models.CharField(max_length=120)
    imported_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "item", "judge"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "judge", "task", "item"], name="external_verdict_once_per_item"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}: {self.label}"


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


class RatingPlan(models.Model):
    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="rating_plan")
    people_per_item = models.PositiveSmallIntegerField(default=2)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(people_per_item__gte=1), name="ratingplan_people_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.people_per_item} a summary"


_TEXT = Cast("ratings", models.TextField())


def _has(text: Any, part: str) -> Q:
    return Q(GreaterThan(StrIndex(text, Value(part)), 0))


def _without(*values: object) -> Any:
    """The ratings as text, less those of these values; a colon is in the others. Any SQLite knows how."""
    text: Any = Replace(_TEXT, Value("}"), Value(","))
    for value in values:
        text = Replace(text, Value(f": {value},"), Value(","))
    return text


class RatingLabel(Answer):
    """How one person rates a summary: from 1 to 5 by the key of each aspect, null where it is not rated yet."""

    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="rating_labels")
    ratings: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta(Answer.Meta):
        constraints = [
            *Answer.Meta.constraints,
            models.CheckConstraint(
                condition=_has(_TEXT, ":") & ~_has(_without("null", *LEVELS), ":"),
                name="ratinglabel_on_the_scale",
            ),
            models.CheckConstraint(
                condition=Q(is_complete=False) & _has(_TEXT, ": null")
                | Q(is_complete=True) & ~_has(_TEXT, ": null"),
                name="ratinglabel_complete_iff_all_rated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {', '.join(str(value or '–') for value in self.ratings.values())}"
