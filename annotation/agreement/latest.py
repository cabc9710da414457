"""The newest results of a researcher's studies as one small chart, for the home page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.models import Assignment, LabelTask, Study
from annotation.results.study import CARD, OfStudy
from benchmarks.results.stored import look_up
from benchmarks.web.charts import Chart

TRIED = 3
"""At most this many studies are searched for results, those worked in last first."""


@dataclass(frozen=True, slots=True)
class Latest:
    """A study with results: a chart of them, when somebody last finished a task in it, and the page of results."""

    study: Study
    at: datetime
    chart: Chart
    url: str


def latest_of(user: Any, now: datetime) -> Latest | None:
    """The study that was worked in last, among those of this researcher that have results; None if there is none.

    Three queries, and those for the results, as last computed.
    """
    visible = Study.objects.for_user(user).exclude(state=Study.State.ARCHIVED)
    studies = {study.pk: study for study in visible}
    ended = _ended(studies)
    newest = sorted(studies.values(), key=lambda study: ended.get(study.pk, study.created_at), reverse=True)
    for study in newest[:TRIED]:
        card = look_up(CARD, OfStudy(study.pk), now=now).figures
        chart = card.chart if card else None
        if chart is not None:
            return Latest(study, ended.get(study.pk, study.created_at), chart, _results_page(study))
    return None


def _ended(studies: Mapping[int, Study]) -> dict[int, datetime]:
    """When a task of each study was last finished; studies with imported labels have none. Two queries."""
    labels = LabelTask.objects.filter(study__in=studies).order_by().values_list("study")
    texts = Assignment.objects.filter(study__in=studies).order_by().values_list("study")
    ended = dict(labels.annotate(last=Max("done_at")))
    ended |= dict(texts.annotate(last=Max("session__ended_at")))
    return {study: at for study, at in ended.items() if at is not None}


def _results_page(study: Study) -> str:
    kind = kind_named(study.kind)
    return reverse(kind.results_page or kind.study_page, args=[study.uid])
