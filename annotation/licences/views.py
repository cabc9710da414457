"""Recording the licence of a judge, and the licences on the labels of a data set."""

from __future__ import annotations

import uuid
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.coverage.forms import LONGEST, look_of
from annotation.coverage.look import Look
from annotation.coverage.page import Source
from annotation.coverage.results import expose
from annotation.licences.computing import LICENCES, LicenceLook
from annotation.licences.plain import as_json
from annotation.licences.recording import JudgeIsGone, record
from annotation.licences.results import LIMITS, form_context, records_of, thresholds_of
from annotation.licences.sheet import sheet
from annotation.models import Study
from benchmarks.results.sheet_files import origin_of, sheet_file
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


def _of_dataset(request: HttpRequest, query: QueryDict, look: Look) -> LicenceLook:
    """The labels of a data set in all studies that a researcher may see; 404 where there are none."""
    pks = tuple(Study.objects.readable_by(request.user).order_by("pk").values_list("pk", flat=True))
    labels = replace(look, studies=pks, dataset=query.get("dataset", "")[:LONGEST])
    if not labels.dataset or not Source.of(labels).labels.exists():
        raise Http404
    return LicenceLook(labels, thresholds_of(query))


@requires("annotation.view_session")
@require_safe
def of_dataset(request: HtmxHttpRequest) -> HttpResponse:
    """May judges stand in for people, by the labels of a data set."""
    look = _of_dataset(request, request.GET, look_of(request.GET))
    shown = look_up(LICENCES, look, now=timezone.now())
    heading, dataset = "May a judge replace people?", look.labels.dataset
    agreement = reverse("annotation:agreement")
    crumbs = [(_("Agreement"), agreement), (dataset, f"{agreement}?{urlencode({'dataset': dataset})}")]
    context = {"dataset": dataset, "heading": heading, "crumbs": crumbs, "shown": shown}
    if shown.figures is None:
        return waiting_page(request, shown, context, heading=heading)
    expose(request, shown.figures.haystack_pks)
    beside = records_of(shown.figures, request.GET, dataset=dataset)
    context |= {
        "form_template": "annotation/_licence_form.html",
        "files_url": reverse("annotation:licences-file", args=["x"]).removesuffix("x"),
        "sheet": sheet(shown.figures, judge=request.GET.get("judge", ""), where=dataset, beside=beside),
        **form_context(request.GET, shown.figures),
    }
    return page(request, "results/sheet.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def of_dataset_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """The licences on a data set as a file."""
    look = _of_dataset(request, request.GET, look_of(request.GET))
    look = replace(look, labels=replace(look.labels, is_public=True))
    shown = look_up(LICENCES, look, now=timezone.now(), wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    expose(request, shown.figures.haystack_pks)
    return sheet_file(
        request,
        sheet(shown.figures, judge=request.GET.get("judge", ""), where=look.labels.dataset),
        name,
        as_json={"data_version": shown.version, **as_json(shown.figures)},
        prefix=f"licences-{shown.version}-",
        origin=origin_of(shown, f"Labels of {look.labels.dataset}"),
    )


@requires("annotation.change_study")
@require_POST
def record_licence(request: HttpRequest, uid: uuid.UUID | None = None) -> HttpResponse:
    """Write down the licence that the page shows, with the thresholds that it shows."""
    study, dataset = None, ""
    if uid is not None:
        study = get_object_or_404(Study.objects.for_user(request.user).of_coverage(), uid=uid)
        look = LicenceLook(Look(study=study.pk), thresholds_of(request.POST))
        address, kept = reverse("annotation:study-licences", args=[uid]), {}
    else:
        look = _of_dataset(request, request.POST, Look())
        dataset = look.labels.dataset
        address, kept = reverse("annotation:licences"), {"dataset": dataset}
    kept |= {name: request.POST[name] for name in (*LIMITS, "judge") if request.POST.get(name)}
    now = timezone.now()
    shown = look_up(LICENCES, look, now=now, wait_s=FILE_WAIT_S)
    tested = shown.figures and next(
        (row for row in shown.figures.rows if row.key == request.POST.get("judge")), None
    )
    if not tested or shown.state != "fresh":
        messages.error(request, "The figures are being computed anew: look at them, then record the licence.")
    else:
        try:
            record(
                tested=tested, data_version=shown.version, study=study, dataset=dataset, by=request.user, now=now
            )
            messages.success(request, "The licence is on record. Leaderboards that use the judge show it.")
        except JudgeIsGone:
            messages.error(request, "This judge is not there any more.")
    return redirect(f"{address}?{urlencode(kept)}")
