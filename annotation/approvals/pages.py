"""Approvals of the judges of a study or a data set: results, pages, files, addresses."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from annotation.approvals.computing import APPROVALS, ApprovalLook, Approvals, as_json
from annotation.approvals.recording import CannotRecord, record, recorded, url_of
from annotation.approvals.sheet import sheet
from annotation.coverage.collect import Source
from annotation.coverage.look import LONGEST, Look, look_of
from annotation.coverage.results import expose
from annotation.kinds import results_tab
from annotation.models import CoverageLabel, Study
from annotation.results import pages
from annotation.results.study_results import StudyResults
from benchmarks.models import Judge, Verdict
from benchmarks.results.pages import FigurePage, origin_of
from benchmarks.results.sheet import Fragment, Sheet
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.writing import Origin
from benchmarks.scoring.approval import STANDARD, Thresholds
from benchmarks.web.permissions import requires

TAB = results_tab("approvals", "May a judge replace people?", "annotation:study-approvals")
LIMITS = {"bias": (0.1, 50.0), "spread": (0.1, 50.0), "concordance": (50.0, 100.0)}
"""The thresholds that a page takes, in points or percent."""


class ApprovalResults(StudyResults[ApprovalLook, Approvals]):
    computation = APPROVALS
    as_json = staticmethod(as_json)
    heading = "May a judge replace people?"
    here = TAB.here
    form_template = "annotation/_approval_form.html"
    downloads_template = ""

    def options(self, study: Study, query: QueryDict) -> ApprovalLook:
        return ApprovalLook(replace(look_of(query), study=study.pk), thresholds_of(query))

    def sheet(self, study: Study, figures: Approvals, query: QueryDict) -> Sheet:
        beside = records_of(figures, query, study=study)
        return sheet(figures, judge=query.get("judge", ""), where=study.name, beside=beside)

    def public(self, options: ApprovalLook) -> ApprovalLook:
        return replace(options, labels=replace(options.labels, is_public=True))

    def beside(
        self, request: HttpRequest, study: Study, options: ApprovalLook, figures: Approvals
    ) -> dict[str, Any]:
        return form_context(request.GET, figures)

    def was_read(self, request: HttpRequest, study: Study, figures: Approvals) -> None:
        expose(request, figures.haystack_pks)


RESULTS = ApprovalResults()


def thresholds_of(query: QueryDict) -> Thresholds:
    """The thresholds of an address, the usual ones where it names none; nothing in it can make an error."""
    thresholds = {}
    for name, (low, high) in LIMITS.items():
        try:
            number = float(query.get(name, ""))
        except ValueError:
            continue
        if low <= number <= high:
            thresholds[name] = number / 100
    return replace(STANDARD, **thresholds)


def form_context(query: QueryDict, figures: Approvals) -> dict[str, Any]:
    chosen, limits = figures.row(query.get("judge", "")), thresholds_of(query)
    return {
        "judges": [(row.key, row.name) for row in figures.rows],
        "judge": "" if chosen is None else chosen.key,
        "limits": {name: f"{100 * getattr(limits, name):g}" for name in LIMITS},
    }


def records_of(
    figures: Approvals, query: QueryDict, *, study: Study | None = None, dataset: str = ""
) -> tuple[Fragment, ...]:
    """The approval of the shown judge that was recorded last on these labels, and the button that records it.

    Neither stands beside figures of some of the labels only: an approval on record is of all of them.
    """
    chosen = figures.row(query.get("judge", ""))
    if chosen is None or look_of(query) != Look():
        return ()
    context = {
        "record": recorded(chosen, study=study, dataset=dataset),
        "judge": chosen,
        "dataset": dataset,
        "record_url": reverse("annotation:approval-record", args=[study.uid])
        if study
        else reverse("annotation:approval-record-dataset"),
        "kept": {name: query[name] for name in LIMITS if name in query},
    }
    return (Fragment("annotation/_approval_record.html", context),)


def _of_dataset(request: HttpRequest, query: QueryDict, look: Look) -> ApprovalLook:
    """The labels of a data set in all studies that a researcher may see; 404 where there are none."""
    pks = tuple(Study.objects.readable_by(request.user).order_by("pk").values_list("pk", flat=True))
    labels = replace(look, studies=pks, dataset=query.get("dataset", "")[:LONGEST])
    if not labels.dataset or not Source.of(labels).labels.exists():
        raise Http404
    return ApprovalLook(labels, thresholds_of(query))


class ApprovalsPage(FigurePage[Approvals]):
    """May judges stand in for people, by the labels of a data set; in files people are under their pseudonyms."""

    url, prefix = "approvals", "approvals"
    heading, computation = "May a judge replace people?", APPROVALS
    form_template = "annotation/_approval_form.html"

    def begin(self) -> None:
        self.look = _of_dataset(self.request, self.request.GET, look_of(self.request.GET))
        self.dataset = self.look.labels.dataset

    def options(self) -> ApprovalLook:
        return replace(self.look, labels=replace(self.look.labels, is_public=bool(self.file)))

    def beside(self) -> dict[str, Any]:
        agreement = reverse("annotation:agreement")
        crumbs = [
            ("Agreement", agreement),
            (self.dataset, f"{agreement}?{urlencode({'dataset': self.dataset})}"),
        ]
        return {"dataset": self.dataset, "crumbs": crumbs}

    def context(self, figures: Approvals) -> dict[str, Any]:
        return form_context(self.request.GET, figures)

    def sheet(self, figures: Approvals) -> Sheet:
        expose(self.request, figures.haystack_pks)
        query = self.request.GET
        beside = () if self.file else records_of(figures, query, dataset=self.dataset)
        return sheet(figures, judge=query.get("judge", ""), where=self.dataset, beside=beside)

    def as_json(self, figures: Approvals) -> Any:
        return {"data_version": self.shown.version, **as_json(figures)}

    def origin(self) -> Origin:
        return origin_of(self.shown, f"Labels of {self.dataset}")


@requires("annotation.change_study")
@require_POST
def record_approval(request: HttpRequest, uid: uuid.UUID | None = None) -> HttpResponse:
    """Write down the approval that the page shows, with the thresholds that it shows."""
    study, dataset = None, ""
    if uid is not None:
        study = get_object_or_404(Study.objects.for_user(request.user).of_coverage(), uid=uid)
        look = ApprovalLook(Look(study=study.pk), thresholds_of(request.POST))
        address, kept = reverse("annotation:study-approvals", args=[uid]), {}
    else:
        look = _of_dataset(request, request.POST, Look())
        dataset = look.labels.dataset
        address, kept = reverse("annotation:approvals"), {"dataset": dataset}
    kept |= {name: request.POST[name] for name in (*LIMITS, "judge") if request.POST.get(name)}
    now = timezone.now()
    shown = look_up(APPROVALS, look, now=now, wait_s=FILE_WAIT_S)
    tested = shown.figures and next(
        (row for row in shown.figures.rows if row.key == request.POST.get("judge")), None
    )
    if not tested or shown.state != "fresh":
        messages.error(request, "The figures are being computed anew: look at them, then record the result.")
    else:
        try:
            record(
                tested=tested, data_version=shown.version, study=study, dataset=dataset, by=request.user, now=now
            )
            messages.success(request, "The result is on record. Leaderboards that use the judge show it.")
        except CannotRecord as problem:
            messages.error(request, str(problem))
    return redirect(f"{address}?{urlencode(kept)}")


@requires("annotation.view_session")
@require_safe
def to_test(request: HttpRequest, judge: uuid.UUID) -> HttpResponse:
    """Lead to the test of a judge on the labels that it judged most of: of a data set, else of a study."""
    chosen = get_object_or_404(Judge, uid=judge)
    labels = CoverageLabel.objects.for_figures().filter(
        study__in=Study.objects.readable_by(request.user).order_by().values("pk"),
        summary__in=Verdict.objects.filter(judge=chosen).order_by().values("summary"),
    )
    places = labels.order_by().values_list("summary__haystack__dataset", "study__uid")
    place = places.annotate(n=Count("pk")).order_by("-n", "study").first()
    if place is None:
        messages.info(request, f"People have labelled nothing that {chosen} judged, so it cannot be tested yet.")
        return redirect("benchmarks:judge-detail", judge)
    dataset, study, _n = place
    return redirect(url_of(chosen, None if dataset else study, dataset))


@requires("annotation.view_session")
@require_safe
def moved(request: HttpRequest, uid: uuid.UUID | None = None, name: str = "") -> HttpResponse:
    """Lead from the address that a page or a file had before."""
    if uid is not None:
        get_object_or_404(Study.objects.readable_by(request.user), uid=uid)
    return redirect(request.get_full_path().replace("/licences/", "/approvals/", 1), permanent=True)


urlpatterns = [
    *ApprovalsPage.urls("approvals/"),
    path("approvals/record/", record_approval, name="approval-record-dataset"),
    path("approvals/judges/<uuid:judge>/", to_test, name="approval-test"),
    *pages.paths_of("approvals"),
    path("studies/<uuid:uid>/approvals/record/", record_approval, name="approval-record"),
    path("licences/", moved),
    path("studies/<uuid:uid>/licences/", moved),
    path("studies/<uuid:uid>/licences/files/<str:name>", moved),
]
