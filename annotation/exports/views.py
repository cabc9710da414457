"""Archives of studies, haystacks with people's texts, and the page where admins find everything that can leave."""

from __future__ import annotations

import uuid
from tempfile import TemporaryFile
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from annotation.exports import describing
from annotation.exports.archive import archive_name, write_archive
from annotation.exports.haystacks import peoples_texts
from annotation.exports.study_files import files_of, public_results
from annotation.figures.look import readable
from annotation.kinds import kind_named
from annotation.linking.annotated import dump_of
from annotation.models import Study
from annotation.studies.guidelines import render_markdown
from annotation.studies.scope import study_of
from benchmarks.io.schemas import summhay
from benchmarks.io.writers.haystacks import topic_of
from benchmarks.models import Haystack
from benchmarks.questions import sets as question_sets
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.views import waiting_file
from benchmarks.web.downloads import as_file, download
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

EVERYTHING = "annotation.delete_study"
"""Held by those who see the studies of everybody."""
ON_A_PAGE = 50


@requires(EVERYTHING)
@require_safe
def exports(request: HtmxHttpRequest) -> HttpResponse:
    """All studies and corpora with their downloads."""
    studies = Study.objects.with_progress().order_by("-created_at", "-pk")
    context = {
        "studies": Paginator(studies, ON_A_PAGE).get_page(request.GET.get("page")),
        "haystacks": Haystack.objects.without_sources().with_counts().order_by("title", "pk"),
        "sets": question_sets.sets(),
    }
    return page(request, "annotation/exports.html", context)


@requires("annotation.view_study")
@require_safe
def study_archive(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """What the archive of a study holds, and under which licence it is to be given."""
    return _archive_page(request, _study(request, uid), LicenceForm())


@requires("annotation.view_study")
@require_safe
def archive_file(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The archive as a zip, made in a temporary file."""
    study = _study(request, uid)
    form = LicenceForm(request.GET)
    if not form.is_valid():
        return _archive_page(request, study, form)
    if (waiting := _figures_to_come(request, study)) is not None:
        return waiting
    saw_insights(request.user, *kind_named(study.kind).insights_in_files(study))
    file = TemporaryFile()  # noqa: SIM115  the response closes it
    try:
        write_archive(file, study, licence=form.cleaned_data["licence"], now=timezone.now())
    except BaseException:
        file.close()
        raise
    file.seek(0)
    response = FileResponse(file, content_type="application/zip")
    return as_file(response, name=f"{archive_name(study)}.zip", about=study)


def _figures_to_come(request: HttpRequest, study: Study) -> HttpResponse | None:
    """A page that asks again once workers have computed the figures for the archive; None where they have."""
    found = public_results(study)
    if found is None:
        return None
    results, options = found
    shown = look_up(results.computation, options, now=timezone.now(), wait_s=FILE_WAIT_S)
    return waiting_file(request, shown, name=f"{archive_name(study)}.zip") if shown.state == "computing" else None


@requires("annotation.view_study")
@require_safe
def annotated_summaries(request: HttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """A linking study in the format of the published annotated summaries."""
    study = study_of(request, uid, kind=Study.Kind.LINKING)
    saw_insights(request.user, *kind_named(study.kind).insights_in_files(study))
    name = f"annotated-summaries-{study.uid}.json"
    return download(dump_of(study), name=name, content_type="application/json", about=study)


@requires(EVERYTHING)
@require_safe
def haystack_with_people(request: HttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """A haystack in the published format with the final texts of all sessions that count."""
    haystack = get_object_or_404(Haystack, uid=uid)
    saw_insights(request.user, haystack)
    topic = topic_of(haystack, further=peoples_texts(haystack, studies=Study.objects.all()))
    name = f"{topic.source_name or haystack.uid}-with-people.json"
    return download(summhay.dump(topic), name=name, content_type="application/json", about=haystack)


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    study: Study = get_object_or_404(readable(request.user), uid=uid)
    return study


def _archive_page(request: HtmxHttpRequest, study: Study, form: LicenceForm) -> HttpResponse:
    now = timezone.now()
    about = describing.described(study, now=now)
    context: dict[str, Any] = {
        "study": study,
        "removed": about.removed,
        "removed_in_words": about.removed_in_words,
        "form": form,
        "files": files_of(study, now=now),
        "methods": render_markdown(describing.methods(about)),
    }
    return page(request, "annotation/study_archive.html", context, status=422 if form.errors else 200)


class LicenceForm(forms.Form):
    """The licence of an archive, as its readers shall find it."""

    licence = forms.CharField(
        label=_("Licence"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_(
            "Name or full text, for example CC BY 4.0. It appears in the manifest, the data sheet and LICENCE.txt."
        ),
    )
