"""The licences of judges as a part of the results of studies of coverage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from annotation.coverage.forms import look_of
from annotation.coverage.look import Look
from annotation.coverage.results import expose
from annotation.kinds import results_tab
from annotation.licences.computing import LICENCES, LicenceLook, Licences
from annotation.licences.plain import as_json
from annotation.licences.recording import recorded
from annotation.licences.sheet import sheet
from annotation.models import Study
from annotation.results.study_results import StudyResults
from benchmarks.results.sheet import Fragment, Sheet
from benchmarks.scoring.licence import STANDARD, Thresholds

TAB = results_tab("licences", "May a judge replace people?", "annotation:study-licences")
LIMITS = {"bias": (0.1, 50.0), "spread": (0.1, 50.0), "concordance": (50.0, 100.0)}
"""The thresholds that a page takes, in points or percent."""


class LicenceResults(StudyResults[LicenceLook, Licences]):
    """May judges stand in for people?"""

    computation = LICENCES
    heading = "May a judge replace people?"
    here = TAB.here
    form_template = "annotation/_licence_form.html"
    downloads_template = ""

    def options(self, study: Study, query: QueryDict) -> LicenceLook:
        return LicenceLook(replace(look_of(query), study=study.pk), thresholds_of(query))

    def sheet(self, study: Study, figures: Licences, query: QueryDict) -> Sheet:
        beside = records_of(figures, query, study=study)
        return sheet(figures, judge=query.get("judge", ""), where=study.name, beside=beside)

    def as_json(self, figures: Licences) -> Any:
        return as_json(figures)

    def public(self, options: LicenceLook) -> LicenceLook:
        return replace(options, labels=replace(options.labels, is_public=True))

    def beside(
        self, request: HttpRequest, study: Study, options: LicenceLook, figures: Licences
    ) -> dict[str, Any]:
        return form_context(request.GET, figures)

    def was_read(self, request: HttpRequest, study: Study, figures: Licences) -> None:
        expose(request, figures.haystack_pks)


RESULTS = LicenceResults()


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


def form_context(query: QueryDict, figures: Licences) -> dict[str, Any]:
    """What the form of thresholds and judges shows."""
    chosen, limits = figures.row(query.get("judge", "")), thresholds_of(query)
    return {
        "judges": [(row.key, row.name) for row in figures.rows],
        "judge": "" if chosen is None else chosen.key,
        "limits": {name: f"{100 * getattr(limits, name):g}" for name in LIMITS},
    }


def records_of(
    figures: Licences, query: QueryDict, *, study: Study | None = None, dataset: str = ""
) -> tuple[Fragment, ...]:
    """The licence of the shown judge that was recorded last on these labels, and the button that records it.

    Neither stands beside figures of some of the labels only: a licence on record is of all of them.
    """
    chosen = figures.row(query.get("judge", ""))
    if chosen is None or look_of(query) != Look():
        return ()
    context = {
        "record": recorded(chosen, study=study, dataset=dataset),
        "judge": chosen,
        "dataset": dataset,
        "record_url": reverse("annotation:licence-record", args=[study.uid])
        if study
        else reverse("annotation:licence-record-dataset"),
        "kept": {name: query[name] for name in LIMITS if name in query},
    }
    return (Fragment("annotation/_licence_record.html", context),)
