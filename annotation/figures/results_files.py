"""The figures of a study's results as files, under pseudonyms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponseBase

from annotation.models import Study
from benchmarks.web.downloads import csv_download, json_download

R = TypeVar("R")


def figures_file(
    request: HttpRequest,
    study: Study,
    name: str,
    *,
    results_of: Callable[..., R],
    as_json: Callable[[R], Any],
    columns: Sequence[str],
    rows: Callable[[R], Iterable[tuple[Any, ...]]],
) -> HttpResponseBase:
    """`figures.json` or `figures.csv` of a study; there are no others."""
    stem = f"{study.kind}-{study.uid}"
    if name == "figures.json":
        return json_download(as_json(results_of(study, public=True)), name=f"{stem}.json", about=study)
    if name == "figures.csv":
        return csv_download(
            request, columns, rows(results_of(study, public=True)), name=f"{stem}.csv", about=study
        )
    raise Http404
