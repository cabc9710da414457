"""Requests to model servers, with replies, use and prices, and texts in the making, step by step."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.judges.base import ResponseFormat
from benchmarks.models.corpora import Subtopic
from benchmarks.models.groups import account_field, kept_without
from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.questions import Question, Response
from benchmarks.models.summaries import Summary, System
from benchmarks.states import BatchState, CallState


class Endpoint(models.Model):
    """A model server as all workers see it: how many requests it stands at a time, and until when it rests."""

    base_url = models.CharField(max_length=300, unique=True)
    limit_now = models.PositiveIntegerField(help_text="Requests at a time; halved when the server says 429.")
    rests_until = models.DateTimeField(null=True, blank=True)
    last_halved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["base_url"]
        constraints = [models.CheckConstraint(condition=Q(limit_now__gte=1), name="endpoint_limit_from_1")]

    def __str__(self) -> str:
        return self.base_url


class Batch(models.Model):
    """Requests of a run that were written to files, and wait there for their replies.

    A process that writes or reads them holds it. `price_share` is the part of the usual price that replies cost.
    """

    State = BatchState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="batches")
    base_url = models.CharField(max_length=300)
    state = models.CharField(max_length=7, choices=State, default=State.WRITING)
    n_requests = models.PositiveIntegerField(default=0)
    price_share = models.DecimalField(max_digits=4, decimal_places=3, default=1)
    claimed_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "batches"
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=BatchState.values), name="batch_state_known"),
            models.CheckConstraint(
                condition=Q(price_share__gte=0, price_share__lte=1), name="batch_price_share_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} ({self.get_state_display()})"


class JudgeCall(models.Model):
    """One distinct request, claimed before it is sent; its answer serves whoever asks the same again.

    `cache_key` hashes the exact body, the address and the repeat. Token counts are the server's own, empty where
    it gives none; `reasoning_tokens` are part of `completion_tokens`, `cached_tokens` of `prompt_tokens`.
    """

    State = CallState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cache_key = models.CharField(max_length=64, unique=True)
    run = kept_without(JudgeRun, "calls")
    base_url = models.CharField(max_length=300)
    model = models.CharField(max_length=200)
    prompt_sha256 = models.CharField(max_length=64)
    batch = kept_without(Batch, "calls", help_text="The files that it was last sent with.")
    price_share = models.DecimalField(max_digits=4, decimal_places=3, default=1)
    repeat = models.PositiveSmallIntegerField(default=0)
    response_format = models.CharField(max_length=12, blank=True)
    is_repair = models.BooleanField(default=False)
    temperature = models.FloatField(null=True, blank=True)
    seed = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.ASKED)
    claimed_at = models.DateTimeField()
    claimed_by = models.CharField(max_length=64, blank=True)
    n_sent = models.PositiveIntegerField(default=1, help_text="How often it was sent, failures included.")
    answered_at = models.DateTimeField(null=True, blank=True)
    reply: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    model_returned = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=100, blank=True)
    request_id = models.CharField(max_length=100, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(null=True, blank=True)
    most_prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    most_completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["base_url", "claimed_at"], condition=Q(state=CallState.ASKED.value), name="call_in_flight"
            ),
            models.Index(fields=["base_url", "model", "answered_at"], name="call_by_model"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=CallState.values), name="call_state_known"),
            models.CheckConstraint(
                condition=Q(response_format__in=[response_format.value for response_format in ResponseFormat]),
                name="call_response_format_known",
            ),
            models.CheckConstraint(
                condition=~Q(state=CallState.ANSWERED.value) | Q(answered_at__isnull=False),
                name="call_answered_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.cache_key[:8]} ({self.state})"


class LostReply(models.Model):
    """A request that was sent and whose reply never came, though the server may have answered and counted it.

    Its worst case stays counted against the budget of the run that sent it; append-only.
    """

    run = kept_without(JudgeRun, "lost_replies")
    call = models.ForeignKey(JudgeCall, on_delete=models.CASCADE, related_name="lost_replies")
    sent_at = models.DateTimeField()
    most_prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    most_completion_tokens = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "lost replies"

    def __str__(self) -> str:
        return f"{self.call_id}, sent {self.sent_at:%Y-%m-%d %H:%M}"


class ModelPrice(models.Model):
    """Prices of a million tokens of a model from a day on, in US dollars; an empty address means any."""

    base_url = models.CharField(max_length=300, blank=True)
    model = models.CharField(max_length=200)
    valid_from = models.DateField()
    input_per_million = models.DecimalField(max_digits=12, decimal_places=6)
    cached_per_million = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_per_million = models.DecimalField(max_digits=12, decimal_places=6)
    created_by = account_field()

    class Meta:
        ordering = ["model", "base_url", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["base_url", "model", "valid_from"], name="price_one_a_day"),
            models.CheckConstraint(
                condition=Q(input_per_million__gte=0, output_per_million__gte=0)
                & (
                    Q(cached_per_million=None)
                    | Q(cached_per_million__gte=0, cached_per_million__lte=F("input_per_million"))
                ),
                name="price_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from:%Y-%m-%d}"


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
    run = kept_without(JudgeRun, "draft_texts")
    call = kept_without(JudgeCall, "draft_texts")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["draft", "number"]
        constraints = [models.UniqueConstraint(fields=["draft", "number"], name="drafttext_number_unique")]

    def __str__(self) -> str:
        return f"{self.draft_id}/{self.number}"
