"""What the labels of a study come to in a line or a card, as its kind says, computed by workers."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.kinds import Headline, StudyKind, kind_named
from annotation.models import ExternalLabel, Study
from annotation.results.study import OfStudy, study_or_gone
from benchmarks.io.schemas.plain_labels import POINT_TASKS
from benchmarks.results.computation import Computation, register
from benchmarks.web.charts import Chart


@dataclass(frozen=True, slots=True)
class Card:
    """The results of a study as a small chart, None before there are any."""

    chart: Chart | None


def kind_of(study: Study) -> StudyKind:
    """The kind that sums a study up; judgments on key points made elsewhere as those made here."""
    return kind_named(Study.Kind.VERIFICATION if judges_points(study) else study.kind)


def judges_points(study: Study) -> bool:
    """Whether labels made elsewhere are judgments on key points, which have a page of their own."""
    rows = ExternalLabel.objects.filter(study=study, task__in=POINT_TASKS)
    return study.kind == Study.Kind.EXTERNAL and rows.exists()


def _headline(options: OfStudy) -> Headline:
    study = study_or_gone(options.study)
    return kind_of(study).headline(study)


def _card(options: OfStudy) -> Card:
    study = study_or_gone(options.study)
    return Card(kind_named(study.kind).latest(study))


def _facts(options: OfStudy) -> object:
    study = study_or_gone(options.study)
    return study.kind, kind_of(study).facts(study)


HEADLINE = register(Computation("headline", options=OfStudy, figures=Headline, compute=_headline, facts=_facts))
CARD = register(Computation("card", options=OfStudy, figures=Card, compute=_card, facts=_facts, revision=2))
