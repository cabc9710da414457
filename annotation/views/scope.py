"""Objects fetched for whoever asks; a stranger to one gets 404."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Study


def study_of(request: HttpRequest, uid: uuid.UUID) -> Study:
    """A writing study that this researcher may see."""
    studies = Study.objects.for_user(request.user).filter(kind=Study.Kind.WRITING)
    study: Study = get_object_or_404(studies.select_related("writing_plan", "created_by"), uid=uid)
    return study


def any_study_of(request: HttpRequest, uid: uuid.UUID) -> Study:
    """A study that people work in, of whatever kind, that this researcher may see."""
    studies = Study.objects.for_user(request.user).exclude(kind=Study.Kind.EXTERNAL)
    study: Study = get_object_or_404(studies.select_related("writing_plan", "created_by"), uid=uid)
    return study


def annotator_behind(request: HttpRequest) -> Annotator:
    """The annotator that this user is; 404 for an account that is none."""
    annotator: Any = Annotator.objects.filter(user__pk=request.user.pk or 0, is_active=True).first()
    if annotator is None:
        raise Http404
    found: Annotator = annotator
    return found
