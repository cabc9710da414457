"""Figures of one study: their options, and its headline and small chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from annotation.kinds import Headline, kind_named
from annotation.models import Study
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.results.pages import waiting_page
from benchmarks.results.stored import Shown
from benchmarks.web.charts import Chart
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


@dataclass(frozen=True, slots=True)
class Card:
    """The results of a study as a small chart, None before there are any."""

    chart: Chart | None


def _headline(options: OfStudy) -> Headline:
    study = study_or_gone(options.study)
    return kind_named(study.kind).headline(study)


def _card(options: OfStudy) -> Card:
    study = study_or_gone(options.study)
    return Card(kind_named(study.kind).latest(study))


def _facts(options: OfStudy) -> object:
    study = study_or_gone(options.study)
    return study.kind, kind_named(study.kind).facts(study)


HEADLINE = register(
    Computation("headline", options=OfStudy, figures=Headline, compute=_headline, facts=_facts, revision=2)
)
CARD = register(Computation("card", options=OfStudy, figures=Card, compute=_card, facts=_facts, revision=4))
