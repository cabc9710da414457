"""Judges, their runs and their verdicts: one table whatever kind of judge spoke."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.judges.base import JudgeKind
from benchmarks.models.corpora import Insight, Subtopic
from benchmarks.models.groups import ResearchGroup, account_field, kept_without
from benchmarks.models.querysets import VerdictQuerySet, counted_judges
from benchmarks.models.questions import KeyPoint, Response
from benchmarks.models.summaries import Summary
from benchmarks.scoring.summhay import COVERAGES, Coverage, Probabilities
from benchmarks.states import JudgeRole, RunItemState, RunState

MOST_IN_ALL = 1.001
"""Probabilities may be rounded."""


class RoleManager(models.Manager["Judge"]):
    """Whoever has one role; rows are found by foreign keys whatever their role."""

    def __init__(self, role: str = JudgeRole.JUDGE) -> None:
        super().__init__()
        self.role = role

    def get_queryset(self) -> models.QuerySet[Judge, Judge]:
        return super().get_queryset().filter(role=self.role)

    def counted(self) -> models.QuerySet[Judge, Judge]:
        """Whose answers results show."""
        return self.get_queryset().filter(counted_judges())


class Judge(models.Model):
    """Whoever gives verdicts, at one version of its configuration; `Summarizer` has those who write summaries and
    responses, `Generator` those who make benchmarks.

    All are rows of one table, so that runs, calls, budgets and batch files are the same for both.
    `Judge.objects` has judges only.
    """

    Role = JudgeRole

    class Kind(models.TextChoices):
        LEXICAL = JudgeKind.LEXICAL.value, "offline, lexical"
        OPENAI = JudgeKind.OPENAI.value, "OpenAI-compatible model"
        IMPORTED = JudgeKind.IMPORTED.value, "imported predictions"
        JURY = JudgeKind.JURY.value, "jury of other judges"
        SEARCH = JudgeKind.SEARCH.value, "search for documents"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    role = models.CharField(max_length=10, choices=Role, default=Role.JUDGE)
    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=8, choices=Kind)
    config: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    config_sha256 = models.CharField(max_length=64)
    note = models.TextField(blank=True)
    published_cost = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="In US dollars, as whoever published imported verdicts gives it.",
    )
    created_by = account_field()
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[RoleManager] = RoleManager()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["role", "name", "version"], name="judge_version_unique"),
            models.CheckConstraint(condition=Q(role__in=JudgeRole.values), name="judge_role_known"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in JudgeKind]), name="judge_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(published_cost=None) | Q(kind=JudgeKind.IMPORTED.value, published_cost__gte=0),
                name="judge_published_cost_of_imported",
            ),
        ]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} v{self.version}"

    @property
    def model_name(self) -> str:
        """The model that judges, as far as it is one: of an imported judge its name; else empty."""
        is_model = self.kind in {self.Kind.OPENAI, self.Kind.IMPORTED}
        return self.config.get("model") or self.name if is_model else ""


class ModelFamily(models.Model):
    """The family of a model, as somebody set it; empty where its name tells."""

    model = models.CharField(max_length=200, unique=True)
    family = models.CharField(max_length=60, blank=True)
    created_by = account_field()

    class Meta:
        ordering = ["model"]
        verbose_name_plural = "model families"

    def __str__(self) -> str:
        return self.model

    @classmethod
    def by_model(cls) -> dict[str, str]:
        """{model: family} of those whose name does not tell. One query."""
        return dict(cls.objects.exclude(family="").values_list("model", "family"))


class Summarizer(Judge):
    """Whoever writes summaries and responses, at one version of its configuration."""

    objects: ClassVar[RoleManager] = RoleManager(Judge.Role.SUMMARIZER)

    class Meta:
        proxy = True
        default_permissions = ()


class Generator(Judge):
    """A model or a search for documents that makes benchmarks, at one version of its configuration."""

    objects: ClassVar[RoleManager] = RoleManager(Judge.Role.GENERATOR)

    class Meta:
        proxy = True
        default_permissions = ()


class JudgeRun(models.Model):
    """A batch for one judge; its items are the queue, so a lost message loses nothing."""

    class Task(models.TextChoices):
        """The tasks that come with the app; `benchmarks.engine.tasks` registers them."""

        COVERAGE = "coverage", "coverage of insights by summaries"
        RECALL = "recall", "key points that responses entail"
        EXTRACTION = "extraction", "points that responses make"
        SUPPORT = "support", "support of the responses' points"
        AUTODS = "autods", "AutoDS scores of key points"
        VERIFICATION = "verification", "key points as annotators verify them"
        SUMMARIES = "summaries", "summaries of haystacks"
        RESPONSES = "responses", "responses to questions"
        RATINGS = "ratings", "ratings of summaries"
        SENT = "sent", "coverage of insights by summaries that programs send"
        SYNTHESIS = "synthesis", "parts of a synthesis"

    State = RunState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    task = models.CharField(max_length=20, default=Task.COVERAGE)
    state = models.CharField(max_length=9, choices=State, default=State.PENDING)
    reason = models.CharField(max_length=60, blank=True, help_text="What asked for it: session, import, person …")
    scope: models.JSONField[Any, Any] = models.JSONField(
        default=dict, blank=True, help_text="What it is about, in names; see benchmarks.engine.scopes."
    )
    message = models.TextField(blank=True)
    concurrency = models.PositiveSmallIntegerField(default=16, help_text="Requests at a time, of models only.")
    repeats = models.PositiveSmallIntegerField(default=1)
    budget = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="In US dollars; the run pauses before it.",
    )
    requested_by = account_field()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    groups: models.ManyToManyField[ResearchGroup, Any] = models.ManyToManyField(
        ResearchGroup, blank=True, related_name="runs", help_text="Those that its texts belong to."
    )

    SEEN_BY = "groups"
    objects: ClassVar[models.Manager[JudgeRun]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=RunState.values),
                name="judgerun_state_known",
            ),
            models.CheckConstraint(condition=~Q(task=""), name="judgerun_has_task"),
            models.CheckConstraint(
                condition=Q(concurrency__gte=1, concurrency__lte=256, repeats__gte=1, repeats__lte=20),
                name="judgerun_options_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} {self.created_at:%Y-%m-%d %H:%M} ({self.state})"

    @property
    def task_label(self) -> str:
        """The task in words; the name of a task that has none."""
        return str(dict(self.Task.choices).get(self.task, self.task))


class JudgeRunItem(models.Model):
    """One item of a run: pending, claimed for a while, then done or failed."""

    State = RunItemState

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="items")
    summary: models.ForeignKey[Any, Any] = models.ForeignKey(
        Summary, null=True, blank=True, on_delete=models.CASCADE, related_name="run_items"
    )
    response: models.ForeignKey[Any, Any] = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="run_items"
    )
    key_point: models.ForeignKey[Any, Any] = models.ForeignKey(
        KeyPoint, null=True, blank=True, on_delete=models.CASCADE, related_name="run_items"
    )
    draft: models.ForeignKey[Any, Any] = models.ForeignKey(
        "benchmarks.Draft", null=True, blank=True, on_delete=models.CASCADE, related_name="run_items"
    )
    other = models.BigIntegerField(
        null=True,
        blank=True,
        db_index=True,
        db_column="part_id",
        help_text="Key of a row of the extension whose task it is.",
    )
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    claimed_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=64, blank=True)
    batch: models.ForeignKey[Any, Any] = models.ForeignKey(
        "benchmarks.Batch",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="items",
        help_text="The files whose replies it waits for.",
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["run", "pk"]
        indexes = [models.Index(fields=["run", "state"], name="runitem_by_state")]
        constraints = [
            models.UniqueConstraint(fields=["run", "summary"], name="runitem_unique"),
            models.UniqueConstraint(fields=["run", "response"], name="runitem_response_unique"),
            models.UniqueConstraint(fields=["run", "key_point"], name="runitem_key_point_unique"),
            models.UniqueConstraint(fields=["run", "draft"], name="runitem_draft_unique"),
            models.UniqueConstraint(fields=["run", "other"], name="runitem_part_unique"),
            models.CheckConstraint(
                condition=Q(summary__isnull=False, response=None, key_point=None, draft=None, other=None)
                | Q(summary=None, response__isnull=False, key_point=None, draft=None, other=None)
                | Q(summary=None, response=None, key_point__isnull=False, draft=None, other=None)
                | Q(summary=None, response=None, key_point=None, draft__isnull=False, other=None)
                | Q(summary=None, response=None, key_point=None, draft=None, other__isnull=False),
                name="runitem_one_subject",
            ),
            models.CheckConstraint(condition=Q(state__in=RunItemState.values), name="runitem_state_known"),
        ]

    @property
    def subject_id(self) -> int:
        """The key of the summary, response, key point, draft or row of an extension."""
        return self.summary_id or self.response_id or self.key_point_id or self.draft_id or self.other or 0

    def __str__(self) -> str:
        return f"{self.run_id}/{self.subject_id} ({self.state})"


class Verdict(models.Model):
    """A judge's answer on one insight in one summary; append-only.

    `lines` are the 1-based line numbers of the covering bullets. Verdicts made here are covered exactly when
    linked, but for those of a jury whose members link different bullets; imported ones are kept as published
    (`raw`). `breaks_rule` marks both. `p_partial` and `p_full` are the judge's probabilities, where it gives them;
    what they leave of 1 is that of none.
    """

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="verdicts")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="verdicts")
    insight = models.ForeignKey(Insight, on_delete=models.CASCADE, related_name="verdicts")
    repeat = models.PositiveSmallIntegerField(default=0)
    coverage = models.CharField(
        max_length=7,
        choices=[(level, level) for level in COVERAGES],
        blank=True,
        help_text="Empty: invalid answer.",
    )
    lines: models.JSONField[Any, Any] = models.JSONField(default=list)
    is_linked = models.BooleanField()
    score = models.FloatField(null=True, blank=True)
    p_partial = models.FloatField(null=True, blank=True)
    p_full = models.FloatField(null=True, blank=True)
    is_valid = models.BooleanField(default=True)
    is_imported = models.BooleanField(default=False)
    breaks_rule = models.BooleanField(default=False)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was judged.")
    run = kept_without(JudgeRun, "verdicts")
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="verdicts"
    )
    created_at = models.DateTimeField()

    SEEN_BY = "summary"
    objects = VerdictQuerySet.as_manager()

    class Meta:
        ordering = ["summary", "insight", "judge"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "summary", "insight", "repeat"], name="verdict_unique"),
            models.CheckConstraint(
                condition=Q(coverage__in=list(COVERAGES)) | Q(coverage="", is_valid=False),
                name="verdict_coverage_known",
            ),
            models.CheckConstraint(
                condition=Q(is_imported=True)
                | Q(is_valid=False)
                | Q(coverage=Coverage.NONE.value, is_linked=False)
                | (~Q(coverage=Coverage.NONE.value) & Q(is_linked=True))
                | (~Q(coverage=Coverage.NONE.value) & Q(is_linked=False, breaks_rule=True)),
                name="verdict_covered_iff_linked",
            ),
            models.CheckConstraint(
                condition=Q(p_partial=None, p_full=None)
                | Q(p_partial__gte=0, p_full__gte=0, p_full__lte=MOST_IN_ALL - F("p_partial")),
                name="verdict_probabilities_in_range",
            ),
        ]

    @property
    def probabilities(self) -> Probabilities | None:
        """The probabilities of none, partial and full; None where the judge gave a label only."""
        return Probabilities.of(self.p_partial, self.p_full)

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.coverage or 'invalid'}"


class SentSummary(models.Model):
    """A summary that a program sent to be scored by one judge, with what the judge said of each insight.

    It is no `Summary`, so that no list, study, file or leaderboard has it. `answers` are columns of a `Verdict` by
    the primary key of the insight.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="sent_summaries")
    subtopic = models.ForeignKey(Subtopic, on_delete=models.CASCADE, related_name="sent_summaries")
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    answers: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    SEEN_BY = "subtopic"
    objects: ClassVar[models.Manager[SentSummary]] = FencedQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "sent summaries"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "subtopic", "text_sha256"], name="sent_once_per_judge"),
        ]

    def __str__(self) -> str:
        return f"{self.subtopic_id}/{self.text_sha256[:8]}"
