"""Objects fetched for whoever asks, a stranger to one gets 404; and who has seen reference insights of what."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Exposure, Study
from annotation.studies.kind import with_plans, works
from benchmarks.access import sight
from benchmarks.models import Haystack


def study_of(request: HttpRequest, uid: uuid.UUID, *, kind: str = "") -> Study:
    """A study that people work in and that this researcher may see; of any kind, unless one is named.

    For the rest of the request what its research group sees is in sight.
    """
    kinds = [kind] if kind else [work.value for work in works()]
    studies = Study.objects.for_user(request.user).filter(kind__in=kinds).select_related("created_by", "group")
    study: Study = get_object_or_404(with_plans(studies), uid=uid)
    sight.within(study.group_id)
    return study


def uid_in(text: str) -> uuid.UUID:
    """A public id in an address; 404 for anything else."""
    try:
        return uuid.UUID(text)
    except ValueError as problem:
        raise Http404 from problem


def annotator_behind(request: HttpRequest) -> Annotator:
    """The annotator that this user is; 404 for an account that is none."""
    rows = Annotator.objects.filter(user__pk=request.user.pk or 0, is_active=True)
    annotator: Annotator = get_object_or_404(rows)
    return annotator


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
