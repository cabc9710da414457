"""How many of the points that people named are among the extracted ones: a file is read, and nothing is stored."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas import named_points
from benchmarks.judges.registry import DEFAULT
from benchmarks.recall.extraction import NotThere, Recalled, named_in, recalled
from benchmarks.recall.extraction_sheet import extraction_sheet
from benchmarks.recall.forms import ExtractionForm
from benchmarks.recall.views import VIEW
from benchmarks.results.judged import Judged
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

ABOUT = (
    "People name the points that the documents of a question make, or a response, before they see the extracted "
    "ones. How many of theirs are among the extracted? The file is read and not stored."
)
MOST_BYTES = 1_000_000
"""Points are looked for while the page waits; the command reads more."""


@require_http_methods(["GET", "HEAD", "POST"])
@requires(VIEW)
def extraction(request: HtmxHttpRequest) -> HttpResponse:
    """Take a file of points, and show the figures of people and of the offline judge."""
    initial = {"dataset": request.GET.get("dataset", "")}
    form = ExtractionForm(initial=initial)
    if request.method == "POST":
        form = ExtractionForm(request.POST, request.FILES)
    recalled = _recalled(form) if form.is_valid() else None
    context = {
        "heading": "Extraction recall",
        "crumbs": [
            (_("Questions"), reverse("benchmarks:questions")),
            ("Key point recall", reverse("benchmarks:recall")),
        ],
        "about": ABOUT,
        "form": form,
        "form_template": "benchmarks/_extraction_form.html",
        "example": named_points.EXAMPLE,
        "sheet": recalled and replace(extraction_sheet(recalled), judged=_judged(form)),
    }
    return page(request, "results/sheet.html", context, status=422 if form.errors else 200)


def _judged(form: ExtractionForm) -> Judged:
    """The offline judge, which looks for points, and whoever extracted those of responses."""
    judge = form.judge_of()
    return Judged(others=(DEFAULT, *([judge.pk] if judge else [])))


def _recalled(form: ExtractionForm) -> Recalled | None:
    """The figures of a valid form; None with an error in the form where the file cannot be read."""
    data = form.cleaned_data
    try:
        named = named_in(data["points"].file, name=data["points"].name, limit_bytes=MOST_BYTES)
        return recalled(named, dataset=data["dataset"], judge=form.judge_of())
    except (ImportFailed, NotThere) as error:
        form.add_error("points", str(error))
        return None
