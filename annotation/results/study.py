"""Stored figures of one study: what they are of, and their page before there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from annotation.models import Study
from benchmarks.results.computation import CannotCompute
from benchmarks.results.stored import Shown
from benchmarks.results.views import waiting_page
from benchmarks.web.pages import HtmxHttpRequest

HEAD = "annotation/_study_head.html"


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
        raise CannotCompute("This study is gone.")
    return study


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
