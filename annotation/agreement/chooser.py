"""What can be compared: every study and every set of imported labels, each by itself, with its headline figures.

Labels of two sets never enter one figure: their items differ, and so do the judges that have seen them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.http import urlencode

from annotation import kinds
from annotation.kinds import Headline
from annotation.labelling.kind import LabelWork
from annotation.models import CoverageLabel, ExternalLabel, Study
from annotation.results.study import HEADLINE, OfStudy
from benchmarks.results.stored import Shown, look_up_many


@dataclass(frozen=True, slots=True)
class Comparable:
    """A study or a set of imported labels with its page, and its headline as last computed."""

    study: Study
    url: str
    shown: Shown[Headline]


@dataclass(frozen=True, slots=True)
class LabelledDataset:
    """A dataset on whose haystacks several studies have labels."""

    name: str
    url: str
    n_studies: int


def comparable(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Those of the studies that have labels to compare, the newest first."""

    # One label of each study is enough: as EXISTS, of several tables in one OR, PostgreSQL would read all labels.
    places: list[tuple[str, Any]] = [(Study.Kind.EXTERNAL, ExternalLabel), (Study.Kind.EXTERNAL, CoverageLabel)]
    places += [(kind.value, kind.answers.model) for kind in kinds.kinds() if isinstance(kind, LabelWork)]
    first = {
        f"label{at}": Subquery(model.objects.order_by().filter(study=OuterRef("pk")).values("pk")[:1])
        for at, (_kind, model) in enumerate(places)
    }
    labelled = reduce(
        or_, (Q(("kind", kind), (f"label{at}__isnull", False)) for at, (kind, _model) in enumerate(places))
    )
    return studies.alias(**first).filter(labelled).order_by("-created_at", "-pk")


def rows(studies: Sequence[Study], *, now: datetime) -> list[Comparable]:
    """Studies with their headlines, as last computed."""
    shown = look_up_many(HEADLINE, [OfStudy(study.pk) for study in studies], now=now)
    addresses = [reverse(kinds.kind_named(study.kind).results_page, args=[study.uid]) for study in studies]
    return [Comparable(*row) for row in zip(studies, addresses, shown, strict=True)]


def datasets(labels: QuerySet[CoverageLabel]) -> list[LabelledDataset]:
    """Datasets that several of the studies of these labels have labelled. One query."""
    current = (
        labels.exclude(summary__haystack__dataset="")
        .order_by()
        .values("summary__haystack__dataset")
        .annotate(n=Count("study", distinct=True))
        .filter(n__gt=1)
    )
    address = reverse("annotation:agreement")
    return [
        LabelledDataset(name, f"{address}?{urlencode({'dataset': name})}", n)
        for name, n in sorted(current.values_list("summary__haystack__dataset", "n"))
    ]
