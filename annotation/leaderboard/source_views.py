"""The page of scores on documents with reference summaries, and its files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard.forms import score_title
from annotation.leaderboard.ratings import KINDS, models_of
from annotation.leaderboard.source_scores import SOURCE_SCORES, SourceFigures, SourceLook, as_json
from annotation.leaderboard.source_sheet import USUAL, SourceView, source_sheet
from annotation.models import Study
from benchmarks.models import Haystack, SourceSample
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import Sheet
from benchmarks.results.sheet_files import origin_of, sheet_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

SOURCES = "Scores on sources"


class SourceForm(forms.Form):
    """Which sources, and which measure is compared over datasets; what is not known stands for the usual."""

    corpus = forms.CharField(label="Sources", required=False, widget=forms.Select)
    measure = forms.CharField(label="Measure", required=False, widget=forms.Select)

    def __init__(self, data: Any) -> None:
        """Datasets and samples by name; a sample never has the name of a dataset."""
        rows = Haystack.objects.current().sources().order_by("dataset")
        self.datasets = list(rows.values_list("dataset", flat=True).distinct())
        self.samples = {sample.name: sample for sample in SourceSample.objects.exclude(members=None).distinct()}
        corpus = data.get("corpus", "")
        self.chosen = corpus if corpus in {*self.datasets, *self.samples} else ""
        super().__init__({"corpus": self.chosen, "measure": data.get("measure", "")})
        self.fields["corpus"].widget.choices = [
            ("", "all datasets"),
            *((name, name) for name in self.datasets),
            *((name, f"sample {name}") for name in self.samples),
        ]

    def look(self, request: HttpRequest) -> SourceLook:
        """The options of the figures, with the studies that the reader may see."""
        studies = Study.objects.for_user(request.user).filter(kind__in=KINDS).order_by("pk")
        sample = self.samples.get(self.chosen)
        return SourceLook(
            datasets=(self.chosen,) if self.chosen and sample is None else (),
            sample=None if sample is None else sample.pk,
            studies=tuple(studies.values_list("pk", flat=True)),
        )

    def view(self, figures: SourceFigures) -> SourceView:
        """The figures in the measure that is chosen, which the form offers with the others."""
        view = SourceView(figures, str(self.data.get("measure") or USUAL))
        self.fields["measure"].widget.choices = [(name, score_title(name)) for name in view.scores]
        self.data = {**self.data, "measure": view.chosen}
        return view


@requires("annotation.view_session")
@require_safe
def source_page(request: HtmxHttpRequest) -> HttpResponse:
    """Mean scores by system, method and dataset, and differences on the same sources."""
    form, shown = _shown(request)
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=str(SOURCES))
    view = form.view(shown.figures)
    context = {
        "heading": SOURCES,
        "crumbs": [(_("Leaderboard"), reverse("annotation:leaderboard"))],
        "links": [
            ("Samples of sources", reverse("benchmarks:samples")),
            ("Position of content", _position_url(form.chosen)),
        ],
        "about": (
            "What texts on documents with reference summaries score, by system, method and dataset: ROUGE, "
            "imported scores, and ratings of people and models."
        ),
        "form": form,
        "form_template": "results/_form.html",
        "shown": shown,
        "sheet": _sheet(view),
        "files_url": reverse("annotation:source-scores-file", args=["x"])[:-1],
    }
    return page(request, "results/sheet.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def source_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures, or a table or a chart of them, as a file."""
    form, shown = _shown(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    sheet = _sheet(form.view(shown.figures))
    prefix, origin = f"sources-{shown.version}-", origin_of(shown, str(SOURCES))
    return sheet_file(request, sheet, name, as_json=as_json(shown.figures), prefix=prefix, indent=2, origin=origin)


def _sheet(view: SourceView) -> Sheet:
    return replace(source_sheet(view), judged=Judged(others=models_of(view.figures.measures)))


def _shown(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[SourceForm, Shown[SourceFigures]]:
    form = SourceForm(request.GET)
    return form, look_up(SOURCE_SCORES, form.look(request), now=timezone.now(), wait_s=wait_s)


def _position_url(corpus: str) -> str:
    url = reverse("annotation:content-positions")
    return f"{url}?dataset={corpus}" if corpus else url
