"""Links by which people of a panel such as Prolific or MTurk come to a study.

The panel's ids of people are personal data. They are in tables of their own, beside the pseudonyms, and go when
the person is erased.
"""

from __future__ import annotations

import secrets
import uuid
from string import ascii_letters, digits
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Length, Substr
from django.db.models.lookups import Exact, LessThanOrEqual

from annotation.models.studies import Annotator, Study
from annotation.states import PanelName

NAME = r"^[A-Za-z][A-Za-z0-9_.-]{0,39}$"


def _consists_of(expression: F | Substr, characters: str) -> Exact:
    """Whether nothing is left without these characters; in words that SQLite knows without Django's functions."""
    rest = Func(expression, Value(characters), function="LTRIM", output_field=models.TextField())
    return Exact(rest, Value(""))


def new_key() -> str:
    """What stands in the address of a link; nobody guesses it."""
    return secrets.token_urlsafe(12)


class RecruitmentLink(models.Model):
    """An address that makes accounts for people of a panel, closed until a researcher opens it."""

    Panel = PanelName

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="recruitment_links")
    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    panel = models.CharField(max_length=8, choices=Panel, default=Panel.PROLIFIC)
    id_parameter = models.CharField(max_length=40, help_text="In the address: it holds the participant's id.")
    is_open = models.BooleanField(default=False)
    max_places = models.PositiveIntegerField(default=20)
    max_tasks = models.PositiveIntegerField(
        null=True, blank=True, help_text="That one person gets; empty: an even share of what is open."
    )
    completion_code = models.CharField(max_length=60)
    return_url = models.URLField(max_length=500, blank=True, help_text="Back to the panel; https only.")
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(panel__in=PanelName.values), name="link_panel_known"),
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
        ]

    def __str__(self) -> str:
        return f"{self.get_panel_display()}: {self.study_id}"


class Participant(models.Model):
    """Somebody as a panel knows them, and the annotator who they are here. The id is no credential."""

    panel = models.CharField(max_length=8, choices=RecruitmentLink.Panel)
    panel_id = models.CharField(max_length=100)
    annotator = models.OneToOneField(Annotator, on_delete=models.CASCADE, related_name="participant")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["panel", "panel_id"], name="participant_once_per_panel"),
        ]

    def __str__(self) -> str:
        return f"participant {self.pk}"


class Recruitment(models.Model):
    """A participant came by a link; `references` is what else the panel put into the address."""

    link = models.ForeignKey(RecruitmentLink, on_delete=models.CASCADE, related_name="recruitments")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recruitments")
    references: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    joined_at = models.DateTimeField()

    class Meta:
        ordering = ["link", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["link", "participant"], name="recruitment_once_per_link"),
        ]

    def __str__(self) -> str:
        return f"{self.link_id}: {self.participant_id}"
