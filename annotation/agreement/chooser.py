"""What can be compared: every study and every set of imported labels, each by itself, with its headline figures.

Labels of two sets never enter one figure: their items differ, and so do the judges that have seen them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation import kinds
from annotation.kinds import Headline
from annotation.labelling.kind import LabelWork
from annotation.models import CoverageLabel, ExternalLabel, Study
from benchmarks.io.schemas.plain_labels import POINT_TASKS


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

    labelled = Q(Exists(ExternalLabel.objects.filter(study=OuterRef("pk"))))
    for kind in kinds.kinds():
        if isinstance(kind, LabelWork):
            labelled |= Q(Exists(kind.answers.model.objects.filter(study=OuterRef("pk"))))
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
    """A study as its kind sums it up; judgments made elsewhere as those made here."""
    kind = kinds.kind_named(Study.Kind.VERIFICATION if judges_points(study) else study.kind)
    return Comparable(study, reverse(kind.results_page, args=[study.uid]), kind.headline(study))


def judges_points(study: Study) -> bool:
    """Whether labels made elsewhere are judgments on key points, which have a page of their own."""
    return study.kind == Study.Kind.EXTERNAL and study.external_labels.filter(task__in=POINT_TASKS).exists()
