"""Import a corpus or questions in the browser: send a file, look at what it holds and what is wrong, confirm."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.engine.wakeup import enqueue
from benchmarks.io import jobs, mapping
from benchmarks.io.formats import FORMATS, Format, get_format, kind_in_words
from benchmarks.models import ImportJob
from benchmarks.web.downloads import CSV_TYPE, download
from benchmarks.web.groups import GroupedForm
from benchmarks.web.pages import HtmxHttpRequest, page, polled, was_too_large
from benchmarks.web.permissions import requires

ADD = "benchmarks.add_haystack"
IMPORT_TASK = "benchmarks.tasks.run_import"


class ImportForm(GroupedForm):
    """A file, and what its format asks for; another format brings its own fields."""

    format = forms.ChoiceField(
        label="Format",
        widget=forms.Select(
            attrs={
                "hx-get": reverse_lazy("benchmarks:import-new"),
                "hx-trigger": "change",
                "hx-target": "#options",
                "hx-swap": "outerHTML",
                "hx-include": "#options",
            }
        ),
    )
    file = forms.FileField(label="File")

    def __init__(self, *args: Any, user: Any, was_too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        entries = formats_for(user)
        self.fields["format"].choices = [(entry.name, entry.title) for entry in entries]  # type: ignore[attr-defined]
        self.fields["file"].widget.attrs["accept"] = ",".join(
            sorted({extension for entry in entries for extension in entry.extensions})
        )
        if was_too_large:  # then the file is not there, and "choose a file" would mislead
            self.fields["file"].error_messages["required"] = jobs.too_large()
        name = (self.data if self.is_bound else self.initial).get("format")
        self.entry = next((entry for entry in entries if entry.name == name), entries[0])
        for option in self.entry.options:
            self.fields[option.name] = option.field(
                label=option.label,
                help_text=option.help,
                required=option.is_required,
                max_length=option.max_length,
                initial=option.default,
            )

    def of_file(self) -> list[forms.BoundField]:
        return [self[name] for name in ("format", "file", "group") if name in self.fields]

    def of_format(self) -> list[forms.BoundField]:
        return [self[option.name] for option in self.entry.options]

    def options(self) -> dict[str, Any]:
        """Options from the fields of the format, and whose what is new will be."""
        options = {option.name: self.cleaned_data[option.name] for option in self.entry.options}
        return options if self.chosen_group is None else {**options, jobs.GROUP: self.chosen_group.pk}


def formats_for(user: Any) -> list[Format[Any]]:
    return [entry for entry in FORMATS.values() if user.has_perm(entry.permission)]


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def import_new(request: HtmxHttpRequest) -> HttpResponse:
    """Send a file; it is stored and checked, not yet imported. The fragment is the fields of a format."""
    form = ImportForm(
        request.POST or None,
        request.FILES or None,
        initial=request.GET.dict(),
        user=request.user,
        was_too_large=was_too_large(request),
    )
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            job = jobs.receive(
                chunks=upload.chunks(),
                file_name=upload.name,
                format_name=form.entry.name,
                options=form.options(),
                actor=request.user,
                now=timezone.now(),
            )
        except jobs.UploadRefused as refused:
            form.add_error("file", str(refused))
        else:
            start(job)
            return redirect("benchmarks:import-job", job.uid)
    context = {
        "form": form,
        "formats": formats_for(request.user),
        "jobs": ImportJob.objects.for_user(request.user)[:20],
        "limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "too_large": jobs.too_large(),
    }
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/import_new.html", context, part="options", status=status)


def start(job: ImportJob) -> None:
    """Small files are done while the page is awaited; large ones are the worker's."""
    if jobs.is_small(job):
        jobs.advance(uid=job.uid, clock=timezone.now)
    else:
        enqueue(IMPORT_TASK, str(job.uid))


HAYSTACK = "summhay"
"""The format whose results are haystacks that one can write on."""


@require_safe
@requires(ADD)
def import_job(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Where a file stands; the fragment is polled while somebody works on it."""
    return _job_page(request, get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid))


def _job_page(request: HtmxHttpRequest, job: ImportJob, form: mapping.MappingForm | None = None) -> HttpResponse:
    entry = get_format(job.format)
    report = job.report
    working = job.state in jobs.WORKING
    counts = [
        (kind_in_words(kind), *(report[name][kind] for name in ("created", "unchanged", "updated")))
        for kind in report.get("created", ())
    ]
    options = report.get("options", {})
    if form is None and report.get("look"):
        form = mapping.MappingForm(look=report["look"])
    context = {
        "job": job,
        "working": working,
        "form": form if job.state in {job.State.CHECKED, job.State.FAILED} else None,
        "is_own": form is not None and mapping.called(report["look"]["name"], by=request.user).exists(),
        "report": report,
        "options": [
            (option.label, options[option.name])
            for option in entry.options
            if options.get(option.name) and option.name != "mapping"
        ],
        "counts": counts,
        "nothing_new": not any(created or updated for _kind, created, _unchanged, updated in counts),
        "results": [(result["title"], entry.address(result["id"])) for result in report.get("results", ())],
        "haystacks": [result["id"] for result in report.get("results", ())] if entry.name == HAYSTACK else [],
    }
    return polled(request, "benchmarks/import_job.html", context, part="status", is_working=working)


@require_POST
@requires(ADD)
def import_confirm(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid)
    return _go_on(request, job, partial(jobs.confirm, job=job))


def _go_on(request: HtmxHttpRequest, job: ImportJob, step: Callable[[], object]) -> HttpResponse:
    """Take a step that has more work follow, unless somebody else was first."""
    try:
        step()
    except jobs.JobMovedOn as moved_on:
        messages.warning(request, str(moved_on))
    else:
        start(job)
    return redirect("benchmarks:import-job", job.uid)


@require_POST
@requires(ADD)
def import_mapping(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Read a file's columns as chosen, and remember the choice if it has a name."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid, report__has_key="look")
    form = mapping.MappingForm(request.POST, look=job.report["look"])
    if not form.is_valid():
        response = _job_page(request, job, form)
        response.status_code = 422
        return response
    chosen, name = form.mapping(), form.cleaned_data["name"]
    if name:
        group = job.report["options"].get(jobs.GROUP)
        about = {"tool": job.report["look"]["tool"], "mapping": chosen, "group_id": group}
        mapping.remember(name=name, about=about, by=request.user, now=timezone.now())
    options = {"mapping": orjson.dumps(chosen).decode(), "mapping_name": name}
    return _go_on(request, job, partial(jobs.read_anew, job=job, options=options))


@require_POST
@requires(ADD)
def import_forget(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Forget the mapping that a file is read by; the file is still read so, under no name."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid, report__has_key="look")
    name = job.report["look"]["name"]
    get_object_or_404(mapping.called(name, by=request.user)).delete()
    with suppress(jobs.JobMovedOn):  # it is imported, and its page shows no mapping
        jobs.read_anew(job=job, options={"mapping_name": ""})
        start(job)
    messages.success(request, f"“{name}” is forgotten.")
    return redirect("benchmarks:import-job", job.uid)


@require_POST
@requires(ADD)
def import_discard(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Remove an uploaded file from the list."""
    job = get_object_or_404(ImportJob.objects.for_user(request.user), uid=uid)
    try:
        jobs.discard(job=job, now=timezone.now())
    except jobs.JobMovedOn as moved_on:
        messages.warning(request, str(moved_on))
        return redirect("benchmarks:import-job", job.uid)
    messages.success(request, f"“{job.file_name}” was removed from the list.")
    return redirect("benchmarks:import-new")


@require_safe
@requires(ADD)
def format_example(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
    entry = FORMATS.get(name)
    if entry is None or not entry.example:
        raise Http404
    ending = entry.extensions[0]
    content_type = EXAMPLE_TYPES.get(ending, "application/json")
    return download([entry.example], name=f"example_{name}{ending}", content_type=content_type)


EXAMPLE_TYPES = {".csv": CSV_TYPE, ".jsonl": "application/x-ndjson"}
