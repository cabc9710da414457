"""What the labels of a study come to in a line or a card, as its kind says, computed by workers."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.kinds import Headline, kind_named
from annotation.results.study import OfStudy, study_or_gone
from benchmarks.results.computation import Computation, register
from benchmarks.web.charts import Chart


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
