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
    """Note it for several users and haystacks: one read, and one write where something is new."""
    people, seen = {user.pk for user in users}, {haystack.pk for haystack in haystacks}
    rows = Exposure.objects.filter(user__in=people, haystack__in=seen, reason=reason)
    new = {(user, haystack) for user in people for haystack in seen} - set(rows.values_list("user", "haystack"))
    if new:
        Exposure.objects.bulk_create(
            [
                Exposure(user_id=user, haystack_id=haystack, reason=reason, first_at=now)
                for user, haystack in sorted(new)
            ],
            ignore_conflicts=True,
        )
