"""States, roles and settings that constraints and querysets name as well as the models that have them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation import clock
from benchmarks.scoring.retention import Rule


def known(field: str, choices: type[models.TextChoices], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q((f"{field}__in", choices.values)), name=name)


def share(field: str, name: str) -> models.CheckConstraint:
    """Constrain a field, where it is not null, to be from 0 to 1."""
    is_share = Q((f"{field}__gte", 0)) & Q((f"{field}__lte", 1))
    return models.CheckConstraint(condition=Q((field, None)) | is_share, name=name)


class StudyState(models.TextChoices):
    """Annotators see the tasks of a study while it is open."""

    DRAFT = "draft", "being set up"
    OPEN = "open", "open"
    CLOSED = "closed", "closed"
    ARCHIVED = "archived", "archived"


class AssignmentState(models.TextChoices):
    ASSIGNED = "assigned", "to do"
    STARTED = "started", "started"
    DONE = "done", "done"
    WITHDRAWN = "withdrawn", "withdrawn"


class LabelTaskState(models.TextChoices):
    """How far a label task is; what was skipped is out of the way."""

    TODO = "todo", _("to do")
    BEGUN = "begun", _("begun")
    DONE = "done", _("done")
    SKIPPED = "skipped", _("skipped")


class WritingSetting(models.TextChoices):
    ORACLE = "oracle", "oracle within a token budget"
    FULL = "full", "full haystack"
    RANKING = "ranking", "a retriever's ranking"


class WritingPreset(models.TextChoices):
    """How much help the work page gives."""

    PAPER = "paper", "paper protocol"
    ASSISTED = "assisted", "assisted"


class WritingPastePolicy(models.TextChoices):
    BLOCK = "block", "block text from elsewhere"
    FLAG = "flag", "flag text from elsewhere"


class WritingDisconnectPolicy(models.TextChoices):
    """Effect of a lost connection on the clock, as `clock.Policy`."""

    KEEP_RUNNING = clock.Policy.KEEP_RUNNING.value, "the clock keeps running"
    AUTO_PAUSE = clock.Policy.AUTO_PAUSE.value, "pause after 3 minutes without contact"


class ExposureReason(models.TextChoices):
    PAGE = "page", "opened a page that shows insights"
    RESEARCH = "research", "has a research role on it"
    LINKING = "linking", "linked summaries of it"
    RATING = "rating", "rated summaries of it"
    ADJUDICATION = "adjudication", "adjudicated on it"
    SYNTHESIS = "synthesis", "reviewed its synthesis"
    IMPORTED = "imported", "labels were imported"
    WRITING = "writing", "has written on it"


class ItemRole(models.TextChoices):
    """Purpose of an item: work, training, or a hidden check."""

    ORDINARY = "ordinary", "ordinary"
    TRAINING = "training", "training"
    GOLD = "gold", "hidden gold"


class SessionState(models.TextChoices):
    """Where a session stands, as `clock.State`."""

    READY = clock.State.READY.value, _("ready")
    RUNNING = clock.State.RUNNING.value, _("running")
    PAUSED = clock.State.PAUSED.value, _("paused")
    SUBMITTED = clock.State.SUBMITTED.value, _("submitted")
    EXPIRED = clock.State.EXPIRED.value, _("time is over")
    VOIDED = clock.State.VOIDED.value, _("voided")


class SnapshotKind(models.TextChoices):
    MARK = "mark", "mark"
    FINAL = "final", "final"


class PanelName(models.TextChoices):
    PROLIFIC = "prolific", "Prolific"
    MTURK = "mturk", "Amazon Mechanical Turk"
    OTHER = "other", "another panel"


class RecruitmentOutcome(models.TextChoices):
    """How far somebody who joined by a recruitment link is; all but the first are how it ended."""

    WORKING = "working", "at work"
    COMPLETED = "completed", "completed"
    FAILED_CHECKS = "failed_checks", "failed the checks"
    NO_CONSENT = "no_consent", "no consent"
    LEFT = "left", "left the study"
    FREED = "freed", "place freed"


class RemovalMode(models.TextChoices):
    ANONYMOUS = "anonymous", "made anonymous"
    DELETED = "deleted", "deleted"


class DatasetRule(models.TextChoices):
    """How chosen annotators who disagree decide, as `retention.Rule`."""

    UNANIMOUS = Rule.UNANIMOUS.value, "all chosen people keep it"
    MAJORITY = Rule.MAJORITY.value, "more than half of the chosen people keep it"
    ADJUDICATED = Rule.ADJUDICATED.value, "as adjudicated, else unanimous"
