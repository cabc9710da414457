"""Label work: the items of a study, who works on which of them in which order, and trials before it.

What the kinds of label work share is here and knows no label; each kind stores its answers in a model of its own.
Trials are a few worked examples, off the clock and unpaid, and of no study's items: nothing that counts labels,
time or cost reads them.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.db.models import F, Q

from annotation.models.studies import Annotator, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.states import ItemRole, LabelTaskState, known, share
from benchmarks.models import Insight, KeyPoint, Question, Response, Summary
from benchmarks.models.groups import account_field
from benchmarks.scoring.summhay import COVERAGES


class LinkingPlan(models.Model):
    """The settings of a linking study. An overlap is a share or a number of items that everyone gets."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="linking_plan")
    allow_several_lines = models.BooleanField(default=False)
    asks_unlinked = models.BooleanField(default=False, help_text="Why bullets cover no insight.")
    people_per_item = models.PositiveSmallIntegerField(default=1)
    narrows_first = models.BooleanField(
        default=False, help_text="Tasks come in the order in which labels narrow figures soonest."
    )
    overlap_share = models.DecimalField(max_digits=5, decimal_places=4, null=True, blank=True)
    overlap_number = models.PositiveIntegerField(null=True, blank=True)
    pass_mark = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="Share of the hidden gold questions that a person should answer as agreed.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(people_per_item__gte=1), name="linkingplan_people_positive"),
            models.CheckConstraint(
                condition=Q(overlap_share=None) | Q(overlap_number=None), name="linkingplan_one_kind_of_overlap"
            ),
            share("overlap_share", "linkingplan_share_of_one"),
            share("pass_mark", "linkingplan_mark_of_one"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.people_per_item} a summary"


class LabelItem(models.Model):
    """One thing that a study wants labels of. `block` names what stays together, for a summary its subtopic.

    Its subject, by kind of study: linking and rating a summary; verification a key point beside the documents of
    `question`, with the spans of `highlight_of` marked; validation a response and a key point. Training comes
    first, tells the agreed answers and enters no figure; gold looks like any other item, in verification it is an
    attention check.
    """

    Role = ItemRole

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="label_items")
    summary: models.ForeignKey[Any, Any] = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.PROTECT, related_name="label_items"
    )
    question: models.ForeignKey[Any, Any] = models.ForeignKey(
        Question, null=True, blank=True, on_delete=models.PROTECT, related_name="label_items"
    )
    key_point: models.ForeignKey[Any, Any] = models.ForeignKey(
        KeyPoint, null=True, blank=True, on_delete=models.PROTECT, related_name="label_items"
    )
    highlight_of = models.ForeignKey(KeyPoint, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    response: models.ForeignKey[Any, Any] = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="label_items"
    )
    block = models.CharField(max_length=80)
    n_questions = models.PositiveSmallIntegerField(
        help_text="Answers that one person gives: insights, for a summary."
    )
    is_overlap = models.BooleanField(default=False, help_text="Everyone gets it.")
    role = models.CharField(max_length=8, choices=Role, default=Role.ORDINARY)
    added_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "summary"], name="labelitem_once"),
            models.UniqueConstraint(fields=["study", "question", "key_point"], name="labelitem_point_once"),
            models.UniqueConstraint(fields=["study", "response", "key_point"], name="labelitem_pair_once"),
            models.CheckConstraint(
                condition=Q(summary__isnull=False, question=None, key_point=None, response=None)
                | Q(summary=None, question__isnull=False, key_point__isnull=False, response=None)
                | Q(summary=None, question=None, key_point__isnull=False, response__isnull=False),
                name="labelitem_one_subject",
            ),
            models.CheckConstraint(condition=Q(n_questions__gte=1), name="labelitem_asks_something"),
            known("role", ItemRole, "labelitem_role_known"),
            models.CheckConstraint(
                condition=Q(role=ItemRole.ORDINARY.value) | Q(is_overlap=True),
                name="labelitem_checks_are_for_everyone",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id}: {self.block}"


class LabelKey(models.Model):
    """The agreed answer to one question of a training or gold item, as it was when the item was added."""

    item = models.ForeignKey(LabelItem, on_delete=models.CASCADE, related_name="keys")
    insight = models.ForeignKey(Insight, on_delete=models.PROTECT, related_name="+")
    coverage = models.CharField(max_length=7)
    lines: models.JSONField[Any, Any] = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "insight"], name="labelkey_once"),
            models.CheckConstraint(condition=Q(coverage__in=list(COVERAGES)), name="labelkey_coverage_known"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.coverage}"


class LabelTask(models.Model):
    """An item for one person, at a place of their own order; `active_ms` leaves gaps of over 120 s out."""

    State = LabelTaskState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="label_tasks")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="label_tasks")
    item = models.ForeignKey(LabelItem, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField(help_text="In the order of this person, from 1.")
    state = models.CharField(max_length=7, choices=State, default=State.TODO)
    n_answered = models.PositiveSmallIntegerField(default=0)
    n_questions = models.PositiveSmallIntegerField()
    skip_reason = models.TextField(blank=True)
    skipped_at = models.DateTimeField(
        null=True, blank=True, help_text="While it is skipped; unknown of skips before this was stored."
    )
    unskip_op_id = models.CharField(max_length=64, blank=True, help_text="Of the undo that last took a skip back.")
    is_flagged = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    revision = models.PositiveIntegerField(
        default=0, help_text="Counts answers, skips and remarks: a page with another one is out of date."
    )
    active_ms = models.PositiveBigIntegerField(default=0)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    objects = LabelTaskQuerySet.as_manager()

    class Meta:
        ordering = ["study", "annotator", "position"]
        indexes = [models.Index(fields=["annotator", "last_seen_at"], name="labeltask_last_contact")]
        constraints = [
            known("state", LabelTaskState, "labeltask_state_known"),
            models.UniqueConstraint(fields=["annotator", "item"], name="labeltask_once_per_item"),
            models.UniqueConstraint(fields=["study", "annotator", "position"], name="labeltask_place_unique"),
            models.CheckConstraint(condition=Q(n_answered__lte=F("n_questions")), name="labeltask_answers_asked"),
            models.CheckConstraint(
                condition=~Q(state=LabelTaskState.DONE.value) | Q(n_answered=F("n_questions")),
                name="labeltask_done_is_answered",
            ),
            models.CheckConstraint(
                condition=~Q(state=LabelTaskState.SKIPPED.value) | ~Q(skip_reason=""),
                name="labeltask_skip_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(skipped_at=None) | Q(state=LabelTaskState.SKIPPED.value),
                name="labeltask_skip_time_of_skipped",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} at {self.position} ({self.state})"

    @property
    def has_remark(self) -> bool:
        """Whether the annotator pointed something out to the researcher."""
        return self.is_flagged or bool(self.comment)


class RemarkReply(models.Model):
    """A researcher's answer to the flag or the comment on a task; never edited, only followed by another one.

    `comment` is the one that was answered, as it was then; empty where there was only a flag.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.ForeignKey(LabelTask, on_delete=models.CASCADE, related_name="replies")
    comment = models.TextField(blank=True)
    text = models.TextField()
    by = account_field()
    made_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True, help_text="When the annotator said so.")

    class Meta:
        ordering = ["task", "made_at", "pk"]
        verbose_name_plural = "remark replies"
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="remarkreply_says_something"),
        ]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.text[:40]}"


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
    made_by = account_field()

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
