"""Trials: a few worked examples that somebody answers before the work of a study, off the clock and unpaid.

They are of no study's items, and stand apart from answers: nothing that counts labels, time or cost reads them.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.studies import Annotator, Study


class TrialExamples(models.Model):
    """Examples of a study's own, one version of them; the newest applies to tries that begin.

    An empty text has none. `body` is TOML in the form of the `trial.toml` of the study's kind.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="trial_examples")
    body = models.TextField(blank=True)
    replaces = models.BooleanField(
        default=False, help_text="Whether the built-in examples are left out; otherwise they come after these."
    )
    set_aside = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Examples that became items of the study, as set.number, by spaces; tries leave them out.",
    )
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["study", "pk"]
        verbose_name_plural = "trial examples"

    def __str__(self) -> str:
        return f"{self.study_id}: {len(self.body)} characters"


class Trial(models.Model):
    """One try of one person in one study, and how it ended. `pass_share` is what the study asked for then."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="trials")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="trials")
    number = models.PositiveSmallIntegerField(help_text="The tries of this person in this study, from 1.")
    n_asked = models.PositiveSmallIntegerField()
    n_right = models.PositiveSmallIntegerField(null=True, blank=True)
    pass_share = models.DecimalField(max_digits=5, decimal_places=4, null=True, blank=True)
    is_passed = models.BooleanField(null=True, blank=True)
    begun_at = models.DateTimeField()
    examples = models.ForeignKey(
        TrialExamples,
        null=True,
        blank=True,
        on_delete=models.RESTRICT,
        related_name="trials",
        help_text="The study's own examples then; none where it had none.",
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "annotator", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "annotator", "number"], name="trial_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="trial_number_from_1"),
            models.CheckConstraint(
                condition=Q(n_right=None) | Q(n_right__lte=F("n_asked")), name="trial_right_of_asked"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, n_right=None, is_passed=None)
                | Q(ended_at__isnull=False, n_right__isnull=False, is_passed__isnull=False),
                name="trial_ended_is_judged",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.study_id}, try {self.number}"


class TrialAnswer(models.Model):
    """The first complete answer to one question of a trial; later ones do not count and are not kept."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="answers")
    item = models.CharField(max_length=40, help_text="The name of the example.")
    question = models.CharField(max_length=40, blank=True, help_text="Where an example asks several.")
    answer: models.JSONField[Any, Any] = models.JSONField(default=dict)
    is_right = models.BooleanField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["trial", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "item", "question"], name="trialanswer_once"),
        ]

    def __str__(self) -> str:
        return f"{self.trial_id}: {self.item} {self.question}".rstrip()
