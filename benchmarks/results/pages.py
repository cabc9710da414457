"""A page of stored figures with its state and files, as one declaration: what it reads, computes and shows.

Files hold every value as CSV or Parquet, each table as CSV or LaTeX, and charts in each format.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from benchmarks.models import Result
from benchmarks.results import stored
from benchmarks.results.approval_notes import (
    APPROVALS,
    approval_notes_json,
    as_comments,
    with_approval_column,
    with_approval_notes,
    with_approval_words,
    with_words,
)
from benchmarks.results.computation import Computation
from benchmarks.results.drawings import file_of
from benchmarks.results.judged import NOBODY, ApprovalNote, approval_notes
from benchmarks.results.sheet import Cards, Sheet, Text
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.writing import LONG_COLUMNS, Origin, long_rows, tex, wide
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
from benchmarks.web.pages import STOP_POLLING, HtmxHttpRequest, page
from benchmarks.web.permissions import requires

READ = "benchmarks.view_judge"


@requires(READ)
@require_safe
def result_state(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The line above figures that says how they stand; once newer ones are there it fetches the page anew.

    Where the results were deleted meanwhile because somebody was erased, the browser loads the page, which asks
    for new ones.
    """
    result = _result(uid)
    if result is None and request.htmx:
        return HttpResponseClientRefresh()
    if result is None:
        raise Http404
    shown: Shown[Any] = Shown(None, result, timezone.now())
    has_new = bool(result.version) and result.version != request.GET.get("version", "")
    here = request.htmx.current_url_abs_path or "/"
    context = {"shown": shown, "has_new": has_new, "here": here}
    status = 200 if has_new or shown.is_waiting else STOP_POLLING
    return render(request, "benchmarks/_result_state.html", context, status=status)


@requires(READ)
@require_POST
def result_again(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Compute once more what failed, and go back to the page."""
    result = _result(uid)
    if result is None:
        raise Http404
    stored.try_again(row=result, now=timezone.now())
    here = request.POST.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(here, {request.get_host()}, require_https=request.is_secure())
    return redirect(here if is_safe else reverse("home"))


def _result(uid: uuid.UUID) -> Result | None:
    """A result of nothing but what is in sight, without its figures."""
    result = Result.objects.defer("figures").filter(uid=uid).first()
    return result if result is not None and stored.is_in_sight(result) else None


def waiting_page(
    request: HtmxHttpRequest,
    shown: Shown[Any],
    context: dict[str, Any],
    *,
    heading: str,
    template: str = "results/sheet.html",
    head: str = "",
    region: str = "figures",
) -> HttpResponse:
    """A page of figures before there are any: it has the frame of its `template`, and fills in place.

    `head` is a template that stands above in place of the heading, `region` the id of what htmx swaps on the page.
    """
    context = {**context, "shown": shown, "heading": heading, "frame": template, "head": head, "region": region}
    return page(request, "benchmarks/result_waiting.html", context, part="figures")


def waiting_file(request: HttpRequest, shown: Shown[Any], *, name: str) -> HttpResponse:
    """In place of a file before there are figures: the browser asks again, and programs are told when to (503)."""
    context = {"shown": shown, "heading": name, "is_file": True}
    response = render(request, "benchmarks/result_waiting.html", context, status=503)
    response["Retry-After"] = "3"
    return response


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


F = TypeVar("F")


def shown_of(sheet: Sheet, query: QueryDict) -> dict[str, Any]:
    """Parts of a sheet for a page: its parts, or the page of it that the address names, and by which judges."""
    chosen = sheet.page(query.get("view", ""))
    parts = Sheet(sheet.shown(chosen.key if chosen else ""))
    is_of_people = bool(parts.tables) and all(table.is_of_people for table in parts.tables)
    return {
        "sheet": sheet,
        "view": chosen.key if chosen else "",
        "parts": parts.parts,
        "judged": NOBODY if is_of_people else sheet.judged,
    }


class FigurePage(Generic[F]):
    """One request for figures: the page, or with `file` the file of that name.

    Attributes:
        url: the name of its address; that of its files ends in “-file”.
        prefix: what names of files begin with, before the version of the figures.
        renamed: what files were called before, and are now.
        form_class: takes the address, if figures are not needed to make it.
        part: of the template, which htmx fetches; empty where it fetches pages only.
        head: a template that stands above in place of the heading.
    """

    app: ClassVar[str] = "annotation"
    url: ClassVar[str]
    permission: ClassVar[str] = "annotation.view_session"
    heading: Text
    about: Text = ""
    computation: Computation[Any, F]
    template: ClassVar[str] = "results/sheet.html"
    form_template: ClassVar[str] = "results/_form.html"
    form_class: ClassVar[Any] = None
    head: ClassVar[str] = ""
    part: ClassVar[str] = "figures"
    prefix: ClassVar[str]
    renamed: ClassVar[Mapping[str, str]] = {}
    indent: ClassVar[int | None] = None
    shown: Shown[F]

    def __init__(self, request: HtmxHttpRequest, file: str = "") -> None:
        self.request, self.file = request, file
        self.wait_s = FILE_WAIT_S if file else WAIT_S
        self.form: Any = self.form_class and self.form_class(request.GET)
        self.begin()

    def begin(self) -> None:
        """Read the address, as far as options need it."""

    def options(self) -> Any:
        raise NotImplementedError

    def look_up(self) -> Shown[F]:
        return look_up(self.computation, self.options(), now=timezone.now(), wait_s=self.wait_s)

    def sheet(self, figures: F) -> Sheet:
        raise NotImplementedError

    def as_json(self, figures: F) -> Any:
        raise NotImplementedError

    def origin(self) -> Origin:
        return origin_of(self.shown, str(self.heading))

    def beside(self) -> dict[str, Any]:
        """Context that the page has before there are figures, too."""
        return {}

    def context(self, figures: F) -> dict[str, Any]:
        """Context beside the figures: the form, crumbs and links."""
        return {}

    def show(self) -> HttpResponse:
        self.shown, context, heading = self.look_up(), self.beside(), str(self.heading)
        figures = self.shown.figures
        if figures is None:
            return waiting_page(
                self.request, self.shown, context, heading=heading, template=self.template, head=self.head
            )
        context |= {
            "heading": heading,
            "about": self.about,
            "head": self.head,
            "form_template": self.form_template,
            "shown": self.shown,
            **shown_of(self.sheet(figures), self.request.GET),
            "files_url": reverse(f"{self.app}:{self.url}-file", args=["x"]).removesuffix("x"),
            "form": self.form,
            **self.context(figures),
        }
        return page(self.request, self.template, context, part=self.part)

    def answer(self) -> HttpResponseBase:
        self.shown = self.look_up()
        figures = self.shown.figures
        if figures is None:
            return waiting_file(self.request, self.shown, name=self.file)
        return sheet_file(
            self.request,
            self.sheet(figures),
            self.renamed.get(self.file, self.file),
            as_json=self.as_json(figures),
            prefix=f"{self.prefix}-{self.shown.version}-",
            indent=self.indent,
            origin=self.origin(),
        )

    @classmethod
    def urls(cls, address: str, files: str = "files/") -> list[URLPattern]:
        @requires(cls.permission)
        @require_safe
        def show(request: HtmxHttpRequest) -> HttpResponse:
            return cls(request).show()

        @requires(cls.permission)
        @require_safe
        def answer(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
            return cls(request, request.GET.get("file", name)).answer()

        return [
            path(address, show, name=cls.url),
            path(f"{address}{files}<str:name>", answer, name=f"{cls.url}-file"),
        ]
