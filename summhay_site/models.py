"""The user: whoever can log in. What a person does lives in `annotation`."""

from __future__ import annotations

import uuid
import zoneinfo

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


def validate_time_zone(value: str) -> None:
    """Refuse a name that is no IANA time zone."""
    if value not in zoneinfo.available_timezones():
        raise ValidationError(
            _("“%(value)s” is not a time zone; use a name like Europe/Lisbon."), params={"value": value}
        )


class User(AbstractUser):
    """Somebody who can log in; roles are groups."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])

    @property
    def display_name(self) -> str:
        """The full name, or the login where there is none."""
        return self.get_full_name() or self.get_username()
