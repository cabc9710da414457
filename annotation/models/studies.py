"""Studies, their annotators, guidelines and assignments, and who has seen which reference insights."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation import kinds
from annotation.querysets import (
    AnnotatorQuerySet,
    AssignmentQuerySet,
    ConsentQuerySet,
    ConsentTextQuerySet,
    ExposureQuerySet,
    MembershipQuerySet,
    StudyQuerySet,
)
from annotation.states import (
    AssignmentState,
    ExposureReason,
    StudyState,
    WritingDisconnectPolicy,
    WritingPastePolicy,
    WritingPreset,
    WritingSetting,
    known,
    share,
)
from benchmarks.models import Haystack, Subtopic
from benchmarks.models.groups import account_field, group_field


class Annotator(models.Model):
    """A person at work, beside the user, so that a person can be erased and the work stay."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="annotator"
    )
    label = models.CharField(
        max_length=120, help_text="How researchers see this person; never exported by default."
    )
    limit_factor = models.DecimalField(
        max_digits=4, decimal_places=2, default=1, help_text="1.50 gives half as much time again."
    )
    may_paste = models.BooleanField(
        default=False, help_text="Accommodation: pasted text from dictation tools is flagged, never blocked."
    )
    accommodation_note = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)
    wants_reminders = models.BooleanField(default=True)
    preferences: models.JSONField[Any, Any] = models.JSONField(
        default=dict,
        blank=True,
        help_text="How this person likes to work; `annotation.studies.rhythm` reads it.",
    )
    reminded_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="The last mail about open tasks, of all studies."
    )
    created_at = models.DateTimeField()

    objects = AnnotatorQuerySet.as_manager()

    class Meta:
        ordering = ["label", "pk"]
        permissions = [("do_work", "Can do the work of an annotator")]
        constraints = [
            models.CheckConstraint(
                condition=Q(limit_factor__gte=1) & Q(limit_factor__lte=10),
                name="annotator_limit_factor_range",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class ConsentText(models.Model):
    """A version of the consent and disclosure page; the newest one applies."""

    version = models.PositiveIntegerField(unique=True)
    body = models.TextField(help_text="Markdown.")
    created_at = models.DateTimeField()
    created_by = account_field()

    objects = ConsentTextQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]

    def __str__(self) -> str:
        return f"v{self.version}"


class Consent(models.Model):
    """An annotator agreed to one version, or withdrew."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, on_delete=models.PROTECT, related_name="consents")
    given_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = ConsentQuerySet.as_manager()

    class Meta:
        ordering = ["-given_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["annotator", "text"], condition=Q(withdrawn_at=None), name="consent_once_per_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} v{self.text_id}"


class Study(models.Model):
    """A set of tasks of one kind with its annotators, guidelines, overlap and limits."""

    class Kind(StrEnum):
        """The kinds that come with the app; their labels are where they are registered."""

        WRITING = "writing"
        LINKING = "linking"
        VERIFICATION = "verification"
        VALIDATION = "validation"
        RATING = "rating"
        EXTERNAL = "external"

    State = StudyState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=12, choices=kinds.choices)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    description = models.TextField(blank=True)
    hourly_rate = models.DecimalField(max_digits=7, decimal_places=2, default=25)
    currency = models.CharField(max_length=3, default="USD")
    contact = models.EmailField(blank=True, help_text="Shown on every work page.")
    due_at = models.DateTimeField(null=True, blank=True)
    categories: models.JSONField[Any, Any] = models.JSONField(
        default=list, blank=True, help_text="Of labels made elsewhere; their order is the ordinal one."
    )
    seed = models.PositiveBigIntegerField(default=0)
    labels_are_random = models.BooleanField(
        default=False,
        help_text="The labelled summaries of each system are a random draw: drawn here, or declared.",
    )
    has_trial = models.BooleanField(
        default=False, help_text="Label work begins with worked examples, off the clock and unpaid."
    )
    trial_pass_share = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="Share of right answers in the trial that somebody needs to go on; empty asks for none.",
    )
    trial_tries = models.PositiveSmallIntegerField(default=2)
    created_at = models.DateTimeField()
    created_by = account_field()
    researchers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="studies", blank=True)
    group = group_field("studies")
    card_notes: models.JSONField[Any, Any] = models.JSONField(
        default=dict,
        db_default=models.Value({}, output_field=models.JSONField()),
        blank=True,
        help_text="By question of the report card, what researchers answer themselves.",
    )

    NOTE_LENGTH = 2_000
    SEEN_BY = "group"
    NAMED_BY = ("name",)
    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=~Q(kind=""), name="study_has_kind"),
            known("state", StudyState, "study_state_known"),
            models.CheckConstraint(condition=Q(hourly_rate__gte=0), name="study_rate_not_negative"),
            share("trial_pass_share", "study_trial_share_of_one"),
            models.CheckConstraint(condition=Q(trial_tries__gte=1), name="study_trial_tries_positive"),
        ]

    def __str__(self) -> str:
        return self.name


class WritingPlan(models.Model):
    """The settings of a writing study. They freeze with its first session, which keeps its own copy."""

    Setting = WritingSetting
    Preset = WritingPreset
    PastePolicy = WritingPastePolicy
    DisconnectPolicy = WritingDisconnectPolicy

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="writing_plan")
    subtopics = models.ManyToManyField(Subtopic, related_name="writing_plans")
    setting = models.CharField(max_length=7, choices=Setting, default=Setting.ORACLE)
    retriever = models.CharField(
        max_length=120, blank=True, help_text="Its name, with its version if it was run here."
    )
    token_budget = models.PositiveIntegerField(default=15_000)
    include_zero_insight = models.BooleanField(default=False)
    limit_ms = models.PositiveIntegerField(default=7_200_000)
    mark_every_ms = models.PositiveIntegerField(default=600_000)
    grace_ms = models.PositiveIntegerField(default=10_000)
    paste_policy = models.CharField(max_length=5, choices=WritingPastePolicy, default=WritingPastePolicy.BLOCK)
    disconnect_policy = models.CharField(
        max_length=12, choices=WritingDisconnectPolicy, default=WritingDisconnectPolicy.KEEP_RUNNING
    )
    lease_ms = models.PositiveIntegerField(default=180_000)
    preset = models.CharField(max_length=8, choices=Preset, default=Preset.ASSISTED)
    show_hit_counts = models.BooleanField(default=True)
    click_to_cite = models.BooleanField(default=True)
    live_citation_check = models.BooleanField(default=True)
    show_counters = models.BooleanField(default=True)
    list_hits = models.BooleanField(default=False)
    sessions_per_subtopic = models.PositiveSmallIntegerField(default=2)
    allow_second_on_haystack = models.BooleanField(default=False)
    parallel_forms = models.BooleanField(
        default=False, help_text="Everybody writes on a subtopic of each of two haystacks, half in each order."
    )

    class Meta:
        constraints = [
            known("setting", WritingSetting, "plan_setting_known"),
            known("preset", WritingPreset, "plan_preset_known"),
            known("paste_policy", WritingPastePolicy, "plan_paste_known"),
            known("disconnect_policy", WritingDisconnectPolicy, "plan_disconnect_known"),
            models.CheckConstraint(
                condition=~Q(setting=WritingSetting.RANKING.value) | ~Q(retriever=""),
                name="plan_ranking_names_retriever",
            ),
            models.CheckConstraint(condition=Q(limit_ms__gte=60_000), name="plan_limit_at_least_a_minute"),
            models.CheckConstraint(condition=Q(mark_every_ms__gte=10_000), name="plan_mark_at_least_10_s"),
            models.CheckConstraint(condition=Q(token_budget__gte=1), name="plan_budget_positive"),
            models.CheckConstraint(condition=Q(sessions_per_subtopic__gte=1), name="plan_sessions_positive"),
            models.CheckConstraint(
                condition=Q(parallel_forms=False) | Q(allow_second_on_haystack=False),
                name="plan_forms_once_per_haystack",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} ({self.setting})"


class Guideline(models.Model):
    """A version of a study's guidelines; work remembers which one it followed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    body = models.TextField(help_text="Markdown.")
    created_at = models.DateTimeField()
    created_by = account_field()

    class Meta:
        ordering = ["study", "-version"]
        constraints = [models.UniqueConstraint(fields=["study", "version"], name="guideline_version_unique")]

    def __str__(self) -> str:
        return f"v{self.version}"


class Membership(models.Model):
    """An annotator takes part in a study, under a pseudonym that is stable within it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="memberships")
    number = models.PositiveIntegerField(help_text="annotator1, annotator2 … in exports.")
    limit_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Instead of the study's limit.")
    joined_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)
    n_tasks_before = models.PositiveIntegerField(
        null=True, blank=True, help_text="Before some were passed on; empty once the annotator has read so."
    )
    n_more_tries = models.PositiveSmallIntegerField(
        default=0, help_text="Tries of the trial that a researcher allowed beside those of the study."
    )

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "annotator"], name="membership_once"),
            models.CheckConstraint(
                condition=Q(limit_ms=None) | Q(limit_ms__gte=60_000), name="membership_limit_at_least_a_minute"
            ),
            models.UniqueConstraint(fields=["study", "number"], name="membership_number_unique"),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def pseudonym(self) -> str:
        return f"annotator{self.number}"


class Assignment(models.Model):
    """One writing task of one person; its documents and their order are frozen when it is made."""

    State = AssignmentState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="assignments")
    subtopic = models.ForeignKey(Subtopic, on_delete=models.PROTECT, related_name="assignments")
    is_practice = models.BooleanField(default=False)
    state = models.CharField(max_length=9, choices=State, default=State.ASSIGNED)
    seed = models.PositiveBigIntegerField(default=0)
    document_numbers: models.JSONField[Any, Any] = models.JSONField(
        help_text="Shown documents, in the order shown."
    )
    n_words = models.PositiveIntegerField(default=0)
    n_insights_present = models.PositiveIntegerField(default=0)
    ceiling: models.JSONField[Any, Any] = models.JSONField(
        default=dict,
        help_text="Best citation recall and F1 that the shown documents allow; for researchers only.",
    )
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.TextField(blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            known("state", AssignmentState, "assignment_state_known"),
            models.CheckConstraint(
                condition=Q(is_practice=True, study=None) | Q(is_practice=False, study__isnull=False),
                name="assignment_practice_iff_no_study",
            ),
            models.UniqueConstraint(
                fields=["study", "annotator", "subtopic"],
                condition=~Q(state=AssignmentState.WITHDRAWN.value) & Q(is_practice=False),
                name="assignment_once_per_subtopic",
            ),
            models.UniqueConstraint(
                fields=["annotator"],
                condition=Q(
                    is_practice=True, state__in=[AssignmentState.ASSIGNED.value, AssignmentState.STARTED.value]
                ),
                name="assignment_one_open_practice",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} on {self.subtopic_id}"

    @property
    def haystack(self) -> Haystack:
        return self.subtopic.haystack


class Exposure(models.Model):
    """A user has seen reference insights of a haystack, and since when."""

    Reason = ExposureReason

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exposures")
    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="exposures")
    reason = models.CharField(max_length=12, choices=Reason)
    first_at = models.DateTimeField()

    objects = ExposureQuerySet.as_manager()

    class Meta:
        ordering = ["first_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "haystack", "reason"], name="exposure_once_per_reason"),
            known("reason", ExposureReason, "exposure_reason_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} saw {self.haystack_id} ({self.reason})"
