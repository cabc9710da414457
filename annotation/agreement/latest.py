"""The newest results of a researcher's studies as one small plot, for the home page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.models import Assignment, LabelTask, Study
from benchmarks.web.memory import remembered
from benchmarks.web.plots import Plot

STANDS_FOR = timedelta(minutes=10)
"""How long a plot is kept while people go on working."""
TRIED = 3
"""At most this many studies are searched for results, those worked in last first."""


@dataclass(frozen=True, slots=True)
class Latest:
    """A study with results: a plot of them, when somebody last finished a task in it, and the page of results."""

    study: Study
    at: datetime
    plot: Plot
    url: str


def latest_of(user: Any, now: datetime) -> Latest | None:
    """The study that was worked in last, among those of this researcher that have results; None if there is none.

    Three queries, and those for the results, which are kept for ten minutes.
    """
    own = Study.objects.for_user(user).exclude(state=Study.State.ARCHIVED)
    studies = {study.pk: study for study in own}
    ended = _ended(studies)
    newest = sorted(studies.values(), key=lambda study: ended.get(study.pk, study.created_at), reverse=True)
    for study in newest[:TRIED]:
        plot = _plot(study, now)
        if plot is not None:
            return Latest(study, ended.get(study.pk, study.created_at), plot, _results_page(study))
    return None


def _ended(studies: Mapping[int, Study]) -> dict[int, datetime]:
    """When a task of each study was last finished; studies with imported labels have none. Two queries."""
    labels = LabelTask.objects.filter(study__in=studies).order_by().values_list("study")
    texts = Assignment.objects.filter(study__in=studies).order_by().values_list("study")
    found = dict(labels.annotate(last=Max("done_at")))
    found |= dict(texts.annotate(last=Max("session__ended_at")))
    return {study: at for study, at in found.items() if at is not None}


def _plot(study: Study, now: datetime) -> Plot | None:
    draw = kind_named(study.kind).latest
    period = int(now.timestamp() // STANDS_FOR.total_seconds())
    kept: tuple[Plot | None] = remembered("latest", (study.uid, period), lambda: (draw(study),))
    return kept[0]


def _results_page(study: Study) -> str:
    kind = kind_named(study.kind)
    return reverse(kind.results_page or kind.study_page, args=[study.uid])
