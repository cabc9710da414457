"""Objects fetched for whoever asks; a stranger to one gets 404."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Study
from annotation.studies.kind import with_plans, works
from benchmarks.access import sight


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
    annotator: Any = Annotator.objects.filter(user__pk=request.user.pk or 0, is_active=True).first()
    if annotator is None:
        raise Http404
    person: Annotator = annotator
    return person
