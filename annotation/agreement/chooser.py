"""What can be compared: every study and every set of imported labels, each by itself, with its headline figures.

Labels of two sets never enter one figure: their items differ, and so do the judges that have seen them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation.figures.page import Source
from annotation.figures.people import agreement
from annotation.figures.table import SUBTOPICS
from annotation.models import CoverageLabel, EntailmentLabel, ExternalLabel, PointLabel, RatingLabel, Study
from annotation.rating.results import judges_of
from annotation.verification.research_page import looked
from benchmarks.exchange.plain_labels import POINT_TASKS
from benchmarks.scoring.retention import Task
from benchmarks.scoring.stat import Stat
from benchmarks.web.memory import remembered


@dataclass(frozen=True, slots=True)
class Headline:
    """A set of labels: how many items and people, how far people agree, how many judges stand beside them."""

    n_items: int
    n_people: int
    n_judges: int | None
    percent: Stat | None = None
    kappa: Stat | None = None


@dataclass(frozen=True, slots=True)
class Comparable:
    """A study or a set of imported labels with its page."""

    study: Study
    url: str
    figures: Headline


@dataclass(frozen=True, slots=True)
class LabelledDataset:
    """A dataset on whose haystacks several studies have labels."""

    name: str
    url: str
    n_studies: int


def comparable(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Those of the studies that have labels to compare, the newest first."""

    def has(model: type[Any]) -> Exists:
        return Exists(model.objects.filter(study=OuterRef("pk")))

    labelled = Q()
    for model in (CoverageLabel, ExternalLabel, PointLabel, EntailmentLabel, RatingLabel):
        labelled |= Q(has(model))
    return studies.filter(labelled).order_by("-created_at", "-pk")


def rows(studies: Iterable[Study]) -> list[Comparable]:
    """Studies with their headlines, from memory where neither labels nor names changed."""
    return [_row(study) for study in studies]


def datasets(labels: QuerySet[CoverageLabel]) -> list[LabelledDataset]:
    """Datasets that several of the studies of these labels have labelled. One query."""
    found = (
        labels.exclude(summary__haystack__dataset="")
        .order_by()
        .values("summary__haystack__dataset")
        .annotate(n=Count("study", distinct=True))
        .filter(n__gt=1)
    )
    address = reverse("annotation:agreement")
    return [
        LabelledDataset(name, f"{address}?{urlencode({'dataset': name})}", n)
        for name, n in sorted(found.values_list("summary__haystack__dataset", "n"))
    ]


def _row(study: Study) -> Comparable:
    if study.kind == Study.Kind.VALIDATION:
        items = EntailmentLabel.objects.filter(study=study).for_figures()
        counts = items.aggregate(n=Count("task__item", distinct=True), who=Count("annotator", distinct=True))
        url = reverse("annotation:validation-results", args=[study.uid])
        return Comparable(study, url, Headline(counts["n"], counts["who"], 1))
    if study.kind == Study.Kind.RATING:
        items = RatingLabel.objects.filter(study=study).for_figures()
        counts = items.aggregate(n=Count("summary", distinct=True), who=Count("annotator", distinct=True))
        url = reverse("annotation:rating-results", args=[study.uid])
        return Comparable(study, url, Headline(counts["n"], counts["who"], judges_of(study)))
    if study.kind == Study.Kind.VERIFICATION or _judges_points(study):
        url = reverse("annotation:verification-agreement", args=[study.uid])
        return Comparable(study, url, _of_points(study))
    source = Source(CoverageLabel.objects.filter(study=study), study, f"study {study.pk}")
    url = reverse("annotation:study-agreement", args=[study.uid])
    key = (source.key, source.version(), source.names())
    return Comparable(study, url, remembered("headline", key, lambda: _of_coverage(source)))


def _judges_points(study: Study) -> bool:
    return (
        study.kind == Study.Kind.EXTERNAL
        and ExternalLabel.objects.filter(Q(study=study), task__in=POINT_TASKS).exists()
    )


def _of_points(study: Study) -> Headline:
    found = looked(study, scope="")
    keep = next((one.people for one in found.tasks if one.task == Task.KEEP), None)
    if keep is None:
        return Headline(found.n_items, len(found.people), None)
    return Headline(found.n_items, len(found.people), None, keep.cards["percent"], keep.cards["randolph"])


def _of_coverage(source: Source) -> Headline:
    table = source.table()
    n_judges = None if table.items else len(table.judges)
    if not len(table.codes):
        return Headline(0, 0, n_judges)
    found = agreement(table.clustered(SUBTOPICS))
    return Headline(found.n_items, len(table.people), n_judges, found.cards["percent"], found.cards["randolph"])
