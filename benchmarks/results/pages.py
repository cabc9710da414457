"""A page of stored figures with its files, as one declaration: what it reads, computes and shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from benchmarks.results.computation import Computation
from benchmarks.results.judged import NOBODY
from benchmarks.results.sheet import Sheet, Text
from benchmarks.results.sheet_files import origin_of, sheet_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.tex import Origin
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

F = TypeVar("F")


def shown_of(sheet: Sheet, query: QueryDict) -> dict[str, Any]:
    """What a page shows of a sheet: its parts, or the page of it that the address names, and by which judges."""
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
        """Of the figures."""
        raise NotImplementedError

    def look_up(self) -> Shown[F]:
        """The stored figures."""
        return look_up(self.computation, self.options(), now=timezone.now(), wait_s=self.wait_s)

    def sheet(self, figures: F) -> Sheet:
        """The figures laid out."""
        raise NotImplementedError

    def as_json(self, figures: F) -> Any:
        """The figures as plain values."""
        raise NotImplementedError

    def origin(self) -> Origin:
        """Where they come from."""
        return origin_of(self.shown, str(self.heading))

    def beside(self) -> dict[str, Any]:
        """What the page shows before there are figures, too."""
        return {}

    def context(self, figures: F) -> dict[str, Any]:
        """What the page shows beside the figures: its form, crumbs and links."""
        return {}

    def show(self) -> HttpResponse:
        """The page."""
        self.shown, context, heading = self.look_up(), self.beside(), str(self.heading)
        figures = self.shown.figures
        if figures is None:
            return waiting_page(self.request, self.shown, context, heading=heading, head=self.head)
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
        """The file."""
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
        """The addresses of the page and, below it, of its files."""

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
