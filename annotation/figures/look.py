"""Which labels of coverage one looks at, and how: the options of the figures, and whose studies one may read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.figures.references import MEAN
from annotation.figures.table import SUBTOPICS, Filters
from annotation.models import Study
from benchmarks.scoring.summhay import Score

WITH_COVERAGE = (Study.Kind.LINKING, Study.Kind.EXTERNAL)
"""Kinds of study whose labels are of coverage."""


def readable(user: Any) -> QuerySet[Study]:
    """Studies whose figures a researcher may read: own ones, and those imported for everybody.

    A study that was set up here belongs to its researchers alone, even when none of them has an account any more.
    """
    visible = Study.objects.for_user(user).values("pk")
    members = Study.researchers.through.objects.filter(study=OuterRef("pk"))
    imported = Q(created_by=None, kind__in=WITH_COVERAGE, linking_plan=None) & ~Exists(members)
    return Study.objects.filter(Q(pk__in=visible) | imported)


@dataclass(frozen=True, slots=True)
class Look:
    """Which labels, and how one looks at them: the options of the stored figures.

    The labels are those of one `study`, or of a `dataset` in all of `studies`, by primary key. Labels made
    elsewhere may be of several tasks, of which one is looked at: `task`, else the first. With `is_public` people
    appear under their pseudonyms, with `is_numbered` those without an account too.
    """

    study: int | None = None
    studies: tuple[int, ...] = ()
    dataset: str = ""
    task: str = ""
    filters: Filters = field(default_factory=Filters)
    reference: str = MEAN
    clusters: str = SUBTOPICS
    score: Score = Score.LABEL
    is_public: bool = False
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What of the figures a page shows: one judge's charts, the measure of the forest, some judges only.

    `shown` are the keys of the judges to show; empty: all.
    """

    judge: str = ""
    measure: str = "pearson"
    shown: tuple[str, ...] = ()
