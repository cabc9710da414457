"""Editors of the two versioned texts: a study's guidelines and the consent page."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import ConsentText
from annotation.studies import consent, guidelines
from annotation.studies.forms import BodyForm
from annotation.studies.overtaken import is_overtaken
from annotation.studies.scope import study_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def guidelines_edit(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Write a new version of a study's guidelines; the older ones stay readable."""
    study = study_of(request, uid)
    newest = guidelines.current_guideline(study)
    seen = str(newest.version if newest else 0)
    form = BodyForm(request.POST or None, initial={"body": newest.body if newest else ""})
    shown = newest.body if newest else ""
    if is_overtaken(request, seen):
        form.add_error(None, _overtaken(seen))
    if request.method == "POST" and form.is_valid():
        shown = form.cleaned_data["body"]
        if "preview" not in request.POST:
            version = guidelines.publish_guideline(study=study, body=shown, by=request.user, now=timezone.now())
            messages.success(request, f"Version {version.version} applies from now on.")
            return redirect("annotation:study-guidelines-edit", uid=study.uid)
    context = {
        "study": study,
        "form": form,
        "newest": newest,
        "seen": seen,
        "versions": study.guidelines.select_related("created_by").order_by("-version"),
        "html": guidelines.render_markdown(shown),
    }
    return page(request, "annotation/study_guidelines_edit.html", context, status=_status(request, form, seen))


def _overtaken(version: str) -> str:
    return (
        f"Somebody saved version {version} while this page was open; it is in the list below. Save again to "
        "replace it by this text, which is not saved yet."
    )


def _status(request: HtmxHttpRequest, form: BodyForm, seen: str) -> int:
    if is_overtaken(request, seen):
        return 409
    return 422 if form.errors else 200


@requires("annotation.view_study")
@require_safe
def guidelines_version(request: HtmxHttpRequest, uid: uuid.UUID, version: int) -> HttpResponse:
    """One version of the guidelines."""
    study = study_of(request, uid)
    guideline = get_object_or_404(study.guidelines.select_related("created_by"), version=version)
    context = {
        "study": study,
        "guideline": guideline,
        "html": guidelines.render_markdown(guideline.body),
    }
    return page(request, "annotation/study_guidelines_version.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def consent_edit(request: HtmxHttpRequest) -> HttpResponse:
    """Write a new version of the consent page, which everybody is then asked to agree to."""
    newest = consent.current_text()
    is_outdated = consent.has_former_wording(newest)
    shown = newest.body if newest and not is_outdated else consent.DEFAULT_BODY
    seen = str(newest.version if newest else 0)
    form = BodyForm(request.POST or None, initial={"body": shown})
    if is_overtaken(request, seen):
        form.add_error(None, _overtaken(seen))
    if request.method == "POST" and form.is_valid():
        shown = form.cleaned_data["body"]
        if "preview" not in request.POST:
            text = consent.publish(body=shown, by=request.user, now=timezone.now())
            messages.success(request, f"Version {text.version} applies; everybody is asked again.")
            return redirect("annotation:consent-edit")
    context = {
        "form": form,
        "newest": newest,
        "seen": seen,
        "is_outdated": is_outdated,
        "versions": ConsentText.objects.with_counts(),
        "html": guidelines.render_markdown(shown),
    }
    return page(request, "annotation/consent_edit.html", context, status=_status(request, form, seen))


@requires("annotation.view_study")
@require_safe
def consent_version(request: HtmxHttpRequest, version: int) -> HttpResponse:
    """Read one version of the consent page."""
    text = get_object_or_404(ConsentText.objects.with_counts(), version=version)
    context = {"text": text, "html": guidelines.render_markdown(text.body)}
    return page(request, "annotation/consent_version.html", context)
