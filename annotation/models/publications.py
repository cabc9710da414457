"""Results that anybody may read at an address of their own, until that is revoked."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.html import escape

from annotation.models.studies import Study


class PublicationQuerySet(models.QuerySet["Publication"]):
    def live(self) -> PublicationQuerySet:
        """Those that anybody may read."""
        return self.filter(revoked_at=None, made_by__is_active=True)

    def take_back(self, now: datetime) -> int:
        """Let nobody read them any more, and keep nothing of what they showed; how many there were."""
        return self.filter(revoked_at=None).update(revoked_at=now, fixed="", fixed_chart="")

    def forget(self, annotator: Any, *, now: datetime, with_work: bool = False) -> None:
        """Take back fixed ones that name a person or, once the work has gone, show figures of it."""
        shown = Q(fixed__contains=escape(annotator.label))
        if with_work:
            shown |= Q(study__memberships__annotator=annotator)
        self.filter(pk__in=self.exclude(fixed="").filter(shown).values("pk")).take_back(now)


class Publication(models.Model):
    """The first look at the results of a study, or at the leaderboard where there is none, as `made_by` sees them.

    `query` holds their conditions as an address does. A publication that does not follow the data shows `fixed`,
    the HTML of what was published, and `fixed_chart`, that of its chart.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    address = models.CharField(
        max_length=60,
        unique=True,
        validators=[
            RegexValidator(r"^[a-z0-9][a-z0-9-]{2,}\Z", "Three or more small letters, digits or hyphens.")
        ],
    )
    title = models.CharField(max_length=200)
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="publications")
    query = models.CharField(max_length=2000, blank=True)
    shows_names = models.BooleanField(default=False)
    shows_card = models.BooleanField(default=False, db_default=False)
    shows_pay = models.BooleanField(default=False, db_default=False)
    is_indexed = models.BooleanField(default=False)
    follows = models.BooleanField(default=True)
    fixed = models.TextField(blank=True)
    fixed_chart = models.TextField(blank=True)
    data_version = models.CharField(max_length=12, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[PublicationQuerySet] = PublicationQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return self.title
