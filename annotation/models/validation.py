"""Validation of the judge that scores key point recall: settings, and what people say of the same pairs."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.answers import Answer
from annotation.models.studies import Study
from benchmarks.models import Judge, KeyPoint, Response
from benchmarks.scoring.keypoints import Entailment


class WhyNot(models.TextChoices):
    """Why a point is not entailed: the reasons of Long²RAG (section 6.1), and that the response says otherwise."""

    INCOMPLETE = "incomplete", "incomplete"
    GENERAL = "general", "too general"
    MISSING = "missing", "not mentioned"
    CONTRADICTED = "contradicted", "contradicted"


class ValidationPlan(models.Model):
    """The settings of a validation study. Where the verdict is shown, figures say so."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="validation_plan")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="validation_plans")
    people_per_item = models.PositiveSmallIntegerField(default=2)
    narrows_first = models.BooleanField(
        default=False, help_text="Tasks come in the order in which labels narrow figures soonest."
    )
    shows_verdict = models.BooleanField(default=False)
    asks_why_not = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(people_per_item__gte=1), name="validationplan_people_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.judge_id}"


class EntailmentLabel(Answer):
    """Whether a response entails a key point, by one person; empty is a cleared answer.

    `snippet_start` and `snippet_end` (excluded) count code points of the response's text and mark what supports
    the answer, if anything was marked. `why_not` may stand after any answer but yes; each has reasons of its own,
    but older rows have any of them.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="labels")
    key_point = models.ForeignKey(KeyPoint, on_delete=models.PROTECT, related_name="entailment_labels")
    answer = models.CharField(max_length=7, blank=True)
    snippet_start = models.PositiveIntegerField(null=True, blank=True)
    snippet_end = models.PositiveIntegerField(null=True, blank=True)
    verdict_shown = models.BooleanField(default=False)
    why_not = models.CharField(max_length=12, choices=WhyNot, blank=True)

    class Meta(Answer.Meta):
        constraints = [
            *Answer.Meta.constraints,
            models.CheckConstraint(
                condition=Q(
                    is_complete=True,
                    answer__in=[Entailment.YES.value, Entailment.NO.value, Entailment.NEUTRAL.value],
                )
                | Q(is_complete=False, answer=""),
                name="entailmentlabel_complete_iff_answered",
            ),
            models.CheckConstraint(
                condition=Q(why_not="")
                | Q(why_not__in=WhyNot.values, answer__in=[Entailment.NO.value, Entailment.NEUTRAL.value]),
                name="entailmentlabel_why_after_no",
            ),
            models.CheckConstraint(
                condition=Q(snippet_start=None, snippet_end=None) | Q(snippet_start__lt=F("snippet_end")),
                name="entailmentlabel_snippet_ordered",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.answer or 'cleared'}"
