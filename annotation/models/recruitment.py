"""Links by which people of a panel such as Prolific or MTurk come to a study.

The panel's ids of people are personal data. They are in tables of their own, beside the pseudonyms, and go when
the person is erased. A removal says who, when and how much, never any content.
"""

from __future__ import annotations

import secrets
import uuid
from string import ascii_letters, digits
from typing import Any

from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Length, Substr
from django.db.models.lookups import Exact, LessThanOrEqual

from annotation.models.studies import Annotator, Study
from annotation.querysets import RecruitmentQuerySet
from annotation.states import PanelName, RecruitmentOutcome, RemovalMode, known
from benchmarks.models.groups import account_field

NAME = r"^[A-Za-z][A-Za-z0-9_.-]{0,39}$"


def _consists_of(expression: F | Substr, characters: str) -> Exact:
    """Whether nothing is left without these characters; in words that SQLite knows without Django's functions."""
    rest = Func(expression, Value(characters), function="LTRIM", output_field=models.TextField())
    return Exact(rest, Value(""))


def new_key() -> str:
    """The secret part of a link's address; nobody guesses it."""
    return secrets.token_urlsafe(12)


class RecruitmentLink(models.Model):
    """An address that makes accounts for people of a panel, closed until a researcher opens it."""

    Panel = PanelName

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="recruitment_links")
    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    panel = models.CharField(max_length=8, choices=Panel, default=Panel.PROLIFIC)
    id_parameter = models.CharField(max_length=40, help_text="In the address: it holds the participant's id.")
    id_pattern = models.CharField(
        max_length=200,
        blank=True,
        help_text="The form that every id has, as `recruitment.ids` reads it; empty: any word.",
    )
    is_open = models.BooleanField(default=False)
    max_places = models.PositiveIntegerField(default=20)
    max_tasks = models.PositiveIntegerField(
        null=True, blank=True, help_text="That one person gets; empty: an even share of what is open."
    )
    max_per_address = models.PositiveIntegerField(
        null=True, blank=True, help_text="Who may join from one network address in 24 hours; empty: any number."
    )
    min_done_percent = models.PositiveSmallIntegerField(
        default=100, help_text="Of the tasks of a person that must be done; skipped ones are not."
    )
    min_checks_percent = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Of the hidden checks that must be right; empty: they decide nothing."
    )
    completion_code = models.CharField(max_length=60)
    failed_checks_code = models.CharField(max_length=60, blank=True)
    screened_out_code = models.CharField(max_length=60, blank=True)
    no_consent_code = models.CharField(max_length=60, blank=True)
    return_url = models.URLField(max_length=500, blank=True, help_text="Back to the panel; https only.")
    created_at = models.DateTimeField()
    created_by = account_field()

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            known("panel", PanelName, "link_panel_known"),
            models.CheckConstraint(condition=Q(max_places__gte=1), name="link_has_places"),
            models.CheckConstraint(condition=Q(max_tasks=None) | Q(max_tasks__gte=1), name="link_gives_tasks"),
            models.CheckConstraint(
                condition=Q(return_url="") | Q(return_url__startswith="https://"), name="link_returns_by_https"
            ),
            models.CheckConstraint(
                condition=~Q(id_parameter="")
                & Q(_consists_of(Substr("id_parameter", 1, 1), ascii_letters))
                & Q(_consists_of(F("id_parameter"), ascii_letters + digits + "_.-"))
                & Q(LessThanOrEqual(Length("id_parameter"), 40)),
                name="link_parameter_is_a_name",
            ),
            models.CheckConstraint(
                condition=Q(max_per_address=None) | Q(max_per_address__gte=1), name="link_lets_addresses_join"
            ),
            models.CheckConstraint(
                condition=Q(min_done_percent__gte=1, min_done_percent__lte=100), name="link_share_of_tasks"
            ),
            models.CheckConstraint(
                condition=Q(min_checks_percent=None) | Q(min_checks_percent__gte=1, min_checks_percent__lte=100),
                name="link_share_of_checks",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_panel_display()}: {self.study_id}"


class AllowedId(models.Model):
    """An id that may join by a link, in lower case; a link without any lets every id of its form join."""

    link = models.ForeignKey(RecruitmentLink, on_delete=models.CASCADE, related_name="allowed_ids")
    panel_key = models.CharField(max_length=100)

    class Meta:
        ordering = ["link", "panel_key"]
        constraints = [
            models.UniqueConstraint(fields=["link", "panel_key"], name="allowedid_once_per_link"),
        ]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.pk}"


class Participant(models.Model):
    """Somebody as a panel knows them, and the annotator who they are here. The id is no credential.

    `panel_key` is the id in lower case, so that ids which differ in case only are one person. Where two had joined
    before that was a rule, the second has the id itself.
    """

    panel = models.CharField(max_length=8, choices=RecruitmentLink.Panel)
    panel_id = models.CharField(max_length=100)
    panel_key = models.CharField(max_length=100, editable=False)
    annotator = models.OneToOneField(Annotator, on_delete=models.CASCADE, related_name="participant")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["panel", "panel_id"], name="participant_once_per_panel"),
            models.UniqueConstraint(fields=["panel", "panel_key"], name="participant_once_in_any_case"),
        ]

    def __str__(self) -> str:
        return f"participant {self.pk}"


class Recruitment(models.Model):
    """A participant came by a link; `references` is what else the panel put into the address.

    A code that was shown is not taken back, so that an outcome stays, but for those who may join again.
    """

    Outcome = RecruitmentOutcome

    link = models.ForeignKey(RecruitmentLink, on_delete=models.CASCADE, related_name="recruitments")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recruitments")
    references: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    joined_at = models.DateTimeField()
    outcome = models.CharField(max_length=13, choices=Outcome, default=Outcome.WORKING)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RecruitmentQuerySet.as_manager()

    class Meta:
        ordering = ["link", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["link", "participant"], name="recruitment_once_per_link"),
            known("outcome", RecruitmentOutcome, "recruitment_outcome_known"),
            models.CheckConstraint(
                condition=Q(outcome=RecruitmentOutcome.WORKING, ended_at=None)
                | (~Q(outcome=RecruitmentOutcome.WORKING) & Q(ended_at__isnull=False)),
                name="recruitment_ended_by_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.participant_id}"


class TurnedAway(models.Model):
    """Somebody of a panel for whom a link had no place or no task, and who was shown the code for that."""

    link = models.ForeignKey(RecruitmentLink, on_delete=models.CASCADE, related_name="turned_away")
    panel_id = models.CharField(max_length=100)
    panel_key = models.CharField(max_length=100, editable=False)
    references: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["link", "pk"]
        verbose_name_plural = "turned away"
        constraints = [
            models.UniqueConstraint(fields=["link", "panel_key"], name="turnedaway_once_per_link"),
        ]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.pk}"


class JoinedFrom(models.Model):
    """That somebody joined by a link from a network address, of which only a keyed digest is kept, for a day.

    It says nothing of who that was, and a backup does not hold it.
    """

    link = models.ForeignKey(RecruitmentLink, on_delete=models.CASCADE, related_name="joined_from")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["link", "pk"]
        verbose_name_plural = "joined from"
        indexes = [models.Index(fields=["link", "digest"], name="joinedfrom_by_digest")]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.pk}"


class Removal(models.Model):
    """A person was erased, and their work deleted or made anonymous. `annotator` is empty for other accounts.

    The same is in a file of the machine and beside each backup, so that it can be done again after an older backup
    is restored.
    """

    Mode = RemovalMode

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    annotator = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.PROTECT, related_name="removals"
    )
    account = models.UUIDField(null=True, blank=True, editable=False, help_text="The identifier of the account.")
    mode = models.CharField(max_length=9, choices=Mode)
    by = account_field()
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            known("mode", RemovalMode, "removal_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.mode}"


class RemovedWork(models.Model):
    """How many of one thing a removal took out of a study; without a study for practice."""

    removal = models.ForeignKey(Removal, on_delete=models.CASCADE, related_name="work")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="removed_work")
    what = models.CharField(max_length=20)
    n = models.PositiveIntegerField()

    class Meta:
        ordering = ["removal", "study", "what"]
        constraints = [
            models.UniqueConstraint(fields=["removal", "study", "what"], name="removedwork_once"),
            models.CheckConstraint(condition=Q(n__gte=1), name="removedwork_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.what}: {self.n}"
