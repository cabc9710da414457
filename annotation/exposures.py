"""Who has seen the reference insights of which haystack: the no-contamination rule stands on this table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from annotation.models import Exposure
from benchmarks.models import Haystack


def record_exposure(*, user: Any, haystack: Haystack, reason: str, now: datetime) -> None:
    """Note that a user has seen reference insights; the first time of each reason counts."""
    record_exposures(users=[user], haystacks=[haystack], reason=reason, now=now)


def record_exposures(*, users: Iterable[Any], haystacks: Iterable[Haystack], reason: str, now: datetime) -> None:
    """Note it for several users and haystacks in one statement."""
    known = list(haystacks)
    Exposure.objects.bulk_create(
        [
            Exposure(user=user, haystack=haystack, reason=reason, first_at=now)
            for user in users
            for haystack in known
        ],
        ignore_conflicts=True,
    )
