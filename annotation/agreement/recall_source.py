"""What figures of key point recall take from studies: verified versions, and judges measured against people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import PointLabel, Study
from annotation.results.study import OfStudy
from annotation.validation.results import VALIDATION, Results
from annotation.verification.datasets import NoVersion, dataset_of
from benchmarks.models import Judge
from benchmarks.recall.people import Measured, Verified, Version
from benchmarks.results.stored import look_up_many

MOST_DIGITS = 8


class StudySource:
    """Verification and validation studies of a researcher."""

    def versions(self, user: Any) -> list[Version]:
        """Every version chosen in studies with labels, and the one before any choice where there is none."""
        labelled = Exists(PointLabel.objects.order_by().filter(study=OuterRef("pk")))
        studies = Study.objects.for_user(user).filter(labelled, kind=Study.Kind.VERIFICATION)
        sources = []
        for study in studies.order_by("name", "pk").prefetch_related("dataset_versions"):
            numbers = sorted((row.number for row in study.dataset_versions.all()), reverse=True) or [0]
            sources += [version_of(study, number) for number in numbers]
        return sources

    def verified(self, user: Any, key: str) -> Verified | None:
        """The version of this name."""
        name, _dot, number = key.partition(".")
        study = Study.objects.for_user(user).filter(kind=Study.Kind.VERIFICATION, uid=_uid(name)).first()
        if study is None or not number.isdecimal() or len(number) > MOST_DIGITS:
            return None
        try:
            return verified_by(study, number=int(number))
        except NoVersion:
            return None

    def measured(self, user: Any, judge: Judge) -> Sequence[Measured]:
        """What validation studies of a judge found, those with answers."""
        return measured_in(Study.objects.for_user(user), judge)


def version_of(study: Study, number: int) -> Version:
    """A version by its number."""
    return Version(f"{study.uid}.{number}", study.name, number)


def verified_by(study: Study, *, number: int | None = None) -> Verified:
    """What a version of a study keeps, by default the newest.

    Raises:
        NoVersion: there is no version of this number.
    """
    dataset = dataset_of(study, number=number)
    questions = frozenset(study.label_items.order_by().values_list("question", flat=True).distinct())
    return Verified(version_of(study, dataset.choice.number), dataset.kept_points, questions)


def stored_results(studies: Sequence[Study]) -> list[Results | None]:
    """The results of validation studies as last computed, None before that. One query."""
    looks = [OfStudy(study.pk, is_public=True) for study in studies]
    return [result.figures for result in look_up_many(VALIDATION, looks, now=timezone.now())]


def measured_in(
    studies: QuerySet[Study],
    judge: Judge,
    *,
    results_of: Callable[[Sequence[Study]], Sequence[Results | None]] = stored_results,
) -> list[Measured]:
    """The accuracy of a judge in those of the studies that validate it and have answers."""
    rows = list(studies.filter(kind=Study.Kind.VALIDATION, validation_plan__judge=judge).order_by("name", "pk"))
    measured = []
    for study, results in zip(rows, results_of(rows), strict=True):
        if results is not None and results.n_answered:
            measured.append(
                Measured(
                    study=study.name,
                    address=reverse("annotation:study-figures", args=[study.uid]),
                    accuracy=results.evaluation.mean["accuracy"],
                    weighted=results.evaluation.weighted,
                    people=results.evaluation.ceiling["percent"],
                    n_answered=results.n_answered,
                    is_shown=results.is_shown,
                )
            )
    return measured


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
