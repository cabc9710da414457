"""Recording the licence of a judge, and the licences on the labels of a data set."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.coverage.collect import Source
from annotation.coverage.forms import LONGEST, look_of
from annotation.coverage.look import Look
from annotation.coverage.results import expose
from annotation.licences.computing import LICENCES, LicenceLook, Licences
from annotation.licences.plain import as_json
from annotation.licences.recording import JudgeIsGone, record
from annotation.licences.results import LIMITS, form_context, records_of, thresholds_of
from annotation.licences.sheet import sheet
from annotation.models import Study
from benchmarks.results.pages import FigurePage
from benchmarks.results.sheet import Sheet
from benchmarks.results.sheet_files import origin_of
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.tex import Origin
from benchmarks.web.permissions import requires


def _of_dataset(request: HttpRequest, query: QueryDict, look: Look) -> LicenceLook:
    """The labels of a data set in all studies that a researcher may see; 404 where there are none."""
    pks = tuple(Study.objects.readable_by(request.user).order_by("pk").values_list("pk", flat=True))
    labels = replace(look, studies=pks, dataset=query.get("dataset", "")[:LONGEST])
    if not labels.dataset or not Source.of(labels).labels.exists():
        raise Http404
    return LicenceLook(labels, thresholds_of(query))


class LicencesPage(FigurePage[Licences]):
    """May judges stand in for people, by the labels of a data set; in files people are under their pseudonyms."""

    url, prefix = "licences", "licences"
    heading, computation = "May a judge replace people?", LICENCES
    form_template = "annotation/_licence_form.html"

    def begin(self) -> None:
        self.look = _of_dataset(self.request, self.request.GET, look_of(self.request.GET))
        self.dataset = self.look.labels.dataset

    def options(self) -> LicenceLook:
        """These labels; in files people are under their pseudonyms."""
        return replace(self.look, labels=replace(self.look.labels, is_public=bool(self.file)))

    def beside(self) -> dict[str, Any]:
        agreement = reverse("annotation:agreement")
        crumbs = [
            (_("Agreement"), agreement),
            (self.dataset, f"{agreement}?{urlencode({'dataset': self.dataset})}"),
        ]
        return {"dataset": self.dataset, "crumbs": crumbs}

    def context(self, figures: Licences) -> dict[str, Any]:
        return form_context(self.request.GET, figures)

    def sheet(self, figures: Licences) -> Sheet:
        """The licences, beside those on record on the page."""
        expose(self.request, figures.haystack_pks)
        query = self.request.GET
        beside = () if self.file else records_of(figures, query, dataset=self.dataset)
        return sheet(figures, judge=query.get("judge", ""), where=self.dataset, beside=beside)

    def as_json(self, figures: Licences) -> Any:
        return {"data_version": self.shown.version, **as_json(figures)}

    def origin(self) -> Origin:
        return origin_of(self.shown, f"Labels of {self.dataset}")


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
