"""The files of a sheet: every value as CSV or Parquet, each table as CSV or LaTeX, its charts in each format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from benchmarks.results.approval_notes import (
    APPROVALS,
    approval_notes_json,
    as_comments,
    with_approval_column,
    with_approval_notes,
    with_approval_words,
    with_words,
)
from benchmarks.results.drawings import file_of
from benchmarks.results.judged import ApprovalNote, approval_notes
from benchmarks.results.sheet import Cards, Sheet
from benchmarks.results.stored import FILE_WAIT_S, Shown
from benchmarks.results.tex import Origin, tex
from benchmarks.results.views import waiting_file
from benchmarks.results.writing import LONG_COLUMNS, long_rows, wide
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import (
    CONTENT_TYPE,
    as_file,
    csv_download,
    download,
    is_available,
    json_download,
    parquet,
)

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
    said: Sequence[ApprovalNote] = (),
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
        columns, rows = with_approval_column(said, list(chart.columns), figures)
        return csv_download(request, columns, rows, name=name, about=about)
    chart = with_approval_words(chart, said)
    chart = with_words(chart, " ".join(origin.sentences)) if origin else chart
    file = file_of(chart, ending, now=now, wait_s=FILE_WAIT_S)
    if file.figures is None:
        return waiting_file(request, file, name=name)
    response = HttpResponse(file.figures.content, content_type=TYPES[ending])
    return as_file(response, name=name, about=about)


TEX = "text/plain; charset=utf-8"
EXTRA = "columns"
"""What the address of a table has after its key while its extra columns are shown."""


def origin_of(shown: Shown[Any], what: str, *, judge: str = "") -> Origin:
    """Where figures come from that are of no study: what they are of, in a few words."""
    return Origin(what=what, judge=judge, data_version=shown.version, computed_at=shown.result.computed_at)


def whole_files() -> list[str]:
    """The files that hold all figures; those of each table are offered beside it."""
    return ["figures.json", "figures.csv", *(["figures.parquet"] if is_available() else [])]


def sheet_file(
    request: HttpRequest,
    sheet: Sheet,
    name: str,
    *,
    as_json: Any,
    prefix: str = "",
    about: Model | None = None,
    indent: int | None = None,
    origin: Origin | None = None,
) -> HttpResponseBase:
    """Answer with a file of a sheet; `as_json` is what `figures.json` holds. 404 for other names.

    What is said of the judges behind the figures is a table of it, and stands in every other file too, but for
    tables of people alone. A caption and a chart say the `origin`; a table as CSV is named by its prefix.
    """
    said = approval_notes(sheet.judged, reader=request.user)
    sheet = with_approval_notes(sheet, said)
    stem, _dot, ending = name.partition(".")
    kept = f"{prefix}{name}"
    if name == "figures.json":
        if said and isinstance(as_json, dict):
            as_json = {**as_json, APPROVALS: approval_notes_json(said)}
        return json_download(as_json, name=kept, about=about, indent=indent)
    if name == "figures.csv":
        return csv_download(request, LONG_COLUMNS, long_rows(sheet), name=kept, about=about)
    if name == "figures.parquet" and is_available():
        content = parquet(LONG_COLUMNS, lambda: long_rows(sheet))
        return download(content, name=kept, content_type=CONTENT_TYPE, about=about)
    table = sheet.table(stem)
    if table is not None and ending == "csv":
        has_judges = stem != APPROVALS and not table.is_of_people
        columns, rows = with_approval_column(said if has_judges else (), *wide(table))
        return csv_download(request, columns, rows, name=kept, about=about)
    if table is not None and ending == "tex":
        has_extra = bool(request.GET.get(f"{stem}-{EXTRA}"))
        comments = as_comments(() if table.is_of_people else said)
        text = tex(table, origin=origin, has_extra=has_extra)
        return download([comments, text], name=kept, content_type=TEX, about=about)
    if isinstance(table, Cards):
        raise Http404
    return chart_file(request, sheet.charts, name, prefix=prefix, about=about, said=said, origin=origin)
