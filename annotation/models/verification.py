"""Key point verification: settings, answers, spot checks, adjudications, and which labels make the dataset."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.answers import Adjudication, Answer
from annotation.models.studies import Annotator, Study
from annotation.states import DatasetRule, known, share
from benchmarks.models import Judge, KeyPoint, Response
from benchmarks.models.groups import account_field
from benchmarks.scoring.keypoints import Entailment
from benchmarks.states import Grounded, Keyness


class VerificationPlan(models.Model):
    """The settings of a verification study; shares are from 0 to 1."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="verification_plan")
    control_share = models.DecimalField(
        max_digits=5, decimal_places=4, default="0.1", help_text="Of the questions; everyone gets them."
    )
    people_per_question = models.PositiveSmallIntegerField(default=1)
    narrows_first = models.BooleanField(
        default=False, help_text="Tasks come in the order in which labels narrow figures soonest."
    )
    share_without_highlight = models.DecimalField(
        max_digits=5, decimal_places=4, default=0, help_text="Of the key points, to measure anchoring."
    )
    n_attention_checks = models.PositiveSmallIntegerField(
        default=0, help_text="Key points of other questions, which the text cannot hold."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(control_share__gte=0) & Q(control_share__lte=1), name="verificationplan_control_share"
            ),
            models.CheckConstraint(
                condition=Q(share_without_highlight__gte=0) & Q(share_without_highlight__lte=1),
                name="verificationplan_plain_share",
            ),
            models.CheckConstraint(condition=Q(people_per_question__gte=1), name="verificationplan_people"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.control_share} for everyone"


class PointLabel(Answer):
    """The two judgments on a key point. Empty `grounded` is a cleared answer; `keyness` stands after a yes."""

    key_point = models.ForeignKey(KeyPoint, on_delete=models.PROTECT, related_name="labels")
    grounded = models.CharField(max_length=3, choices=Grounded, blank=True)
    keyness = models.CharField(max_length=8, choices=Keyness, blank=True)

    class Meta(Answer.Meta):
        constraints = [
            *Answer.Meta.constraints,
            models.CheckConstraint(
                condition=Q(grounded__in=["", *Grounded.values]), name="pointlabel_grounded_known"
            ),
            models.CheckConstraint(
                condition=Q(keyness__in=["", *Keyness.values]), name="pointlabel_keyness_known"
            ),
            models.CheckConstraint(
                condition=Q(keyness="") | Q(grounded=Grounded.YES.value), name="pointlabel_keyness_after_yes"
            ),
            models.CheckConstraint(
                condition=Q(is_complete=True, grounded=Grounded.NO.value)
                | (Q(is_complete=True, grounded=Grounded.YES.value) & ~Q(keyness=""))
                | (Q(is_complete=False, keyness="") & ~Q(grounded=Grounded.NO.value)),
                name="pointlabel_complete_iff_answered",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.grounded or 'cleared'} {self.keyness}".rstrip()


class PointAdjudication(Adjudication):
    """A researcher's decision on a key point, with the reason. It never enters agreement."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="point_adjudications")
    key_point = models.ForeignKey(KeyPoint, on_delete=models.PROTECT, related_name="adjudications")
    grounded = models.CharField(max_length=3, choices=Grounded)
    keyness = models.CharField(max_length=8, choices=Keyness, blank=True)

    class Meta(Adjudication.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["study", "key_point"], condition=Q(is_current=True), name="pointadjudication_one_current"
            ),
            models.CheckConstraint(
                condition=Q(grounded=Grounded.NO.value, keyness="")
                | Q(grounded=Grounded.YES.value, keyness__in=Keyness.values),
                name="pointadjudication_whole_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key_point_id}: {self.grounded} {self.keyness}".rstrip()


class DatasetVersion(models.Model):
    """Whose labels make the dataset of a study, and how: a choice on record, the newest number applies."""

    Rule = DatasetRule

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="dataset_versions")
    number = models.PositiveIntegerField()
    annotators = models.ManyToManyField(Annotator, related_name="+")
    rule = models.CharField(max_length=11, choices=Rule, default=Rule.UNANIMOUS)
    autods_threshold = models.FloatField(
        null=True, blank=True, help_text="Key points under this score are left out; those without one stay."
    )
    selection_seed = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Of the half of the control group on which the people were chosen."
    )
    note = models.TextField(blank=True)
    made_by = account_field()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="datasetversion_number_unique"),
            known("rule", DatasetRule, "datasetversion_rule_known"),
            share("autods_threshold", "datasetversion_threshold_is_share"),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} v{self.number} ({self.rule})"


class SpotCheck(models.Model):
    """A sample of one person's answers, drawn by seed for a researcher to review."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="spot_checks")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="spot_checks")
    seed = models.PositiveBigIntegerField()
    note = models.TextField(blank=True)
    made_by = account_field()
    made_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.study_id}"


class SpotCheckMark(models.Model):
    """One answer of the sample, as it was when drawn, and what the researcher thinks of it."""

    spot_check = models.ForeignKey(SpotCheck, on_delete=models.CASCADE, related_name="marks")
    label = models.ForeignKey(PointLabel, on_delete=models.RESTRICT, related_name="spot_marks")
    is_right = models.BooleanField(null=True, blank=True)
    note = models.TextField(blank=True)
    marked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["spot_check", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["spot_check", "label"], name="spotcheckmark_once"),
            models.CheckConstraint(
                condition=Q(is_right=None, marked_at=None) | Q(is_right__isnull=False, marked_at__isnull=False),
                name="spotcheckmark_marked_when",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label_id}: {self.is_right}"


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
