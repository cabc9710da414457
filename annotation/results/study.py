"""Stored figures of one study: how they are looked up for its page and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Count, Max, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Study
from benchmarks.results.computation import CannotCompute, Computation
from benchmarks.results.stored import FILE_WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import HtmxHttpRequest

R = TypeVar("R")
HEAD = "annotation/_study_head.html"
TOTALS: dict[str, Any] = {"n": Count("pk"), "last": Max("pk"), "total": Sum("pk")}
"""What changes when rows come, go, or are replaced by others."""


@dataclass(frozen=True, slots=True)
class OfStudy:
    """Options of the figures of a study, by primary key; with `is_public` people appear under their pseudonyms."""

    study: int
    is_public: bool = False


def study_or_gone(pk: int) -> Study:
    """A study by its primary key.

    Raises:
        CannotCompute: it has been deleted.
    """
    study: Study | None = Study.objects.filter(pk=pk).first()
    if study is None:
        raise CannotCompute(_("This study is gone."))
    return study


def totals(rows: QuerySet[Any, Any]) -> list[tuple[str, Any]]:
    """Count, newest and sum of the primary keys of rows. One query."""
    return sorted(rows.order_by().aggregate(**TOTALS).items())


def waiting_for_study(
    request: HtmxHttpRequest,
    shown: Shown[Any],
    study: Study,
    *,
    here: str,
    heading: str,
    region: str = "figures",
) -> HttpResponse:
    """The page of a study before its first figures."""
    context = {"study": study, "here": here}
    return waiting_page(request, shown, context, heading=heading, head=HEAD, region=region)


def figures_file(
    request: HttpRequest,
    study: Study,
    name: str,
    *,
    computation: Computation[OfStudy, R],
    as_json: Callable[[R], Any],
    columns: Sequence[str],
    rows: Callable[[R], Iterable[tuple[Any, ...]]],
) -> HttpResponseBase:
    """`figures.json` or `figures.csv` of a study, under pseudonyms; there are no others."""
    stem, _dot, ending = name.partition(".")
    if stem != "figures" or ending not in {"json", "csv"}:
        raise Http404
    options = OfStudy(study.pk, is_public=True)
    shown = look_up(computation, options, now=timezone.now(), wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    file = f"{study.kind}-{study.uid}.{ending}"
    if ending == "json":
        return json_download(as_json(shown.figures), name=file, about=study)
    return csv_download(request, columns, rows(shown.figures), name=file, about=study)
