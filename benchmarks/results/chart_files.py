"""Charts as files to keep: SVG, PNG, PDF, their figures as CSV, and the Vega-Lite spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from benchmarks.results.drawings import file_of
from benchmarks.results.judged import LicenceNote
from benchmarks.results.licence_notes import with_licence_column, with_licence_words, with_words
from benchmarks.results.stored import FILE_WAIT_S
from benchmarks.results.tex import Origin
from benchmarks.results.views import waiting_file
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import as_file, csv_download

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "vl.json": "application/json"}
FORMATS = {"svg": "SVG", "png": "PNG", "pdf": "PDF", "csv": "CSV", "vl.json": "Vega-Lite"}
"""The ends of the names of files, and what they are called."""


def chart_file(
    request: HttpRequest,
    shown: Iterable[Chart | None],
    name: str,
    *,
    prefix: str = "",
    about: Model | None = None,
    said: Sequence[LicenceNote] = (),
    origin: Origin | None = None,
) -> HttpResponseBase:
    """Answer with the file of a name, such as "forest.svg"; 404 where none of the charts has that name.

    `said` is what is known of the judges behind its figures; it stands below the title, and in a column of a CSV.
    Below the title stands also where they come from, the `origin`.
    """
    stem, _dot, ending = name.partition(".")
    chart = next(
        (shown_chart for shown_chart in shown if shown_chart is not None and shown_chart.name == stem), None
    )
    if chart is None or ending not in FORMATS:
        raise Http404
    name, now = f"{prefix}{name}", timezone.now()
    if ending == "csv":
        figures = (list(row.values()) for row in chart.rows)
        columns, rows = with_licence_column(said, list(chart.columns), figures)
        return csv_download(request, columns, rows, name=name, about=about)
    chart = with_licence_words(chart, said)
    chart = with_words(chart, " ".join(origin.sentences)) if origin else chart
    file = file_of(chart, ending, now=now, wait_s=FILE_WAIT_S)
    if file.figures is None:
        return waiting_file(request, file, name=name)
    response = HttpResponse(file.figures.content, content_type=TYPES[ending])
    return as_file(response, name=name, about=about)
