"""Kinds, states and answers that constraints and querysets name as well as the models that have them."""

from __future__ import annotations

from django.db import models


class SummaryOrigin(models.TextChoices):
    IMPORTED = "imported", "imported"
    SESSION = "session", "written in a session"
    GENERATED = "generated", "generated here"
    ANNOTATED = "annotated", "from annotated summaries"


class SystemKind(models.TextChoices):
    """Whether a model or people wrote the texts."""

    MODEL = "model", "model"
    HUMAN = "human", "human"


class JudgeRole(models.TextChoices):
    """Uses of a row of the table of judges."""

    JUDGE = "judge", "judge"
    SUMMARIZER = "summarizer", "summarizer"
    GENERATOR = "generator", "generator"


class RunState(models.TextChoices):
    PENDING = "pending", "waiting"
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


class RunItemState(models.TextChoices):
    PENDING = "pending", "waiting"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class BatchState(models.TextChoices):
    """Whether the files of a batch are being written, wait for replies, or have been read."""

    WRITING = "writing", "being written"
    OUT = "out", "waiting for replies"
    CLOSED = "closed", "closed"


class CallState(models.TextChoices):
    ASKED = "asked", "asked"
    ANSWERED = "answered", "answered"
    FAILED = "failed", "failed"


class ImportState(models.TextChoices):
    UPLOADED = "uploaded", "uploaded"
    CHECKED = "checked", "checked"
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class TextDirection(models.TextChoices):
    LTR = "ltr", "left to right"
    RTL = "rtl", "right to left"


class RetrievalState(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


class PointPremise(models.TextChoices):
    """The text that does or does not say a point."""

    RESPONSE = "response", "the response"
    DOCUMENTS = "documents", "the documents"
    KEY_POINTS = "key_points", "the key points"


class PointJudgment(models.TextChoices):
    GROUNDED = "grounded", "Can it be found in the documents?"
    KEY_POINT = "key_point", "Is it a key point?"


class Grounded(models.TextChoices):
    """Can the point be found in the text?"""

    YES = "yes", "yes"
    NO = "no", "no"


class Keyness(models.TextChoices):
    """Is it a key point? Asked after a yes only."""

    AGREE = "agree", "agree"
    NEUTRAL = "neutral", "neutral"
    DISAGREE = "disagree", "disagree"


class SampleRule(models.TextChoices):
    ANY = "any", "any"
    LATE = "late", "content late"
