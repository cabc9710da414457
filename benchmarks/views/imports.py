"""Import a corpus or questions in the browser: send a file, look at what it holds and what is wrong, confirm."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import import_jobs
from benchmarks.exchange.formats import FORMATS
from benchmarks.forms import UploadForm
from benchmarks.hints import hint
from benchmarks.models import ImportJob
from benchmarks.web.downloads import download
from benchmarks.web.pages import page, wants_fragment
from benchmarks.web.permissions import requires
from benchmarks.web.uploads import was_too_large

ADD = "benchmarks.add_haystack"
IMPORT_TASK = "benchmarks.import_tasks.run_import"
STOP_POLLING = 286


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def import_new(request: HttpRequest) -> HttpResponse:
    """Send a file; it is stored and checked, not yet imported."""
    initial = {"format": request.GET["format"]} if "format" in request.GET else None
    form = UploadForm(
        request.POST or None, request.FILES or None, initial=initial, was_too_large=was_too_large(request)
    )
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            job = import_jobs.receive(
                chunks=upload.chunks(),
                file_name=upload.name,
                format_name=form.cleaned_data["format"],
                dataset=form.cleaned_data["dataset"],
                judge_name=form.cleaned_data["judge"],
                actor=request.user,
                now=timezone.now(),
            )
        except import_jobs.UploadRefused as refused:
            form.add_error("file", str(refused))
        else:
            _start(job)
            return redirect("benchmarks:import-job", job.uid)
    context = {
        "form": form,
        "formats": FORMATS.values(),
        "jobs": ImportJob.objects.for_user(request.user)[:20],
        "limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "too_large": import_jobs.too_large(),
    }
    return page(request, "benchmarks/import_new.html", context, status=422 if request.method == "POST" else 200)


def _start(job: ImportJob) -> None:
    """Small files are done while the page is awaited; large ones are the worker's."""
    if import_jobs.is_small(job):
        import_jobs.advance(uid=job.uid, clock=timezone.now)
    else:
        hint(IMPORT_TASK, str(job.uid))


@require_safe
@requires(ADD)
def import_job(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Where a file stands; the fragment is polled while somebody works on it."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid)
    working = job.state in {ImportJob.State.UPLOADED, ImportJob.State.QUEUED, ImportJob.State.RUNNING}
    is_last = wants_fragment(request) and not working
    counts = import_jobs.count_rows(job)
    context = {
        "job": job,
        "working": working,
        "report": job.report,
        "counts": counts,
        "nothing_new": not any(row.created or row.updated for row in counts),
    }
    return page(
        request, "benchmarks/import_job.html", context, part="status", status=STOP_POLLING if is_last else 200
    )


@require_POST
@requires(ADD)
def import_confirm(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Import a file that was checked."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid)
    try:
        import_jobs.confirm(job=job)
    except import_jobs.JobMovedOn as moved_on:
        messages.warning(request, str(moved_on))
    else:
        _start(job)
    return redirect("benchmarks:import-job", job.uid)


@require_POST
@requires(ADD)
def import_discard(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Forget a file."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid)
    try:
        import_jobs.discard(job=job, now=timezone.now())
    except import_jobs.JobMovedOn as moved_on:
        messages.warning(request, str(moved_on))
        return redirect("benchmarks:import-job", job.uid)
    messages.success(request, _("“%(name)s” is removed from the list.") % {"name": job.file_name})
    return redirect("benchmarks:import-new")


@require_safe
@requires(ADD)
def format_example(request: HttpRequest, name: str) -> HttpResponseBase:
    """A small valid file of a format."""
    entry = FORMATS.get(name)
    if entry is None:
        raise Http404
    return download([entry.example], name=f"example_{name}{entry.extensions[0]}", content_type="application/json")
