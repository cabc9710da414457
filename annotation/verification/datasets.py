"""The dataset that verified key points make: whose labels count, by which rule, and what is kept.

A choice is a row of its own; the newest applies. Labels of people who were not chosen stay where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from annotation.models import Annotator, DatasetVersion, Grounded, Keyness, PointAdjudication, PointLabel, Study
from annotation.verification.labels import PointTable, collect
from benchmarks import audit
from benchmarks.recall import people
from benchmarks.recall.people import Verified, Version
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import KEEP, UNDECIDED, Outcome, Rule, Task, outcomes, retention
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Floats


class NotInStudy(ValueError):
    """Somebody chosen has no label in the study, or nobody was chosen."""


class NoVersion(LookupError):
    """There is no version of this number."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Whose labels, by which rule, above which score; `number` is that of the version, 0 before the first."""

    annotators: tuple[str, ...]
    rule: Rule = Rule.UNANIMOUS
    threshold: float | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """Kept of those decided in a part of the dataset; `n` are all its key points."""

    name: str
    n: int
    n_kept: int
    n_decided: int
    share: Stat


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """The outcome of every key point of a table under a choice; `is_kept` has shape (n,)."""

    table: PointTable
    choice: Choice
    outcomes: tuple[Outcome, ...]
    is_kept: Bools
    is_decided: Bools

    @property
    def counts(self) -> dict[str, int]:
        """How many key points came out how."""
        counter = Counter(self.outcomes)
        return {outcome.value: counter[outcome] for outcome in Outcome}

    @property
    def kept_points(self) -> frozenset[int]:
        """Primary keys of what is kept."""
        return frozenset(point for point, keep in zip(self.table.points, self.is_kept, strict=True) if keep)

    @property
    def chosen(self) -> tuple[Any, ...]:
        """The people whose labels are exported."""
        return tuple(person for person in self.table.people if person.key in self.choice.annotators)

    def overall(self, resampling: Resampling = DEFAULT) -> Share:
        """Kept of all that are decided."""
        return self._share("", np.ones(len(self.is_kept), dtype=bool), resampling)

    def by(self, groups: Sequence[str], resampling: Resampling = DEFAULT) -> tuple[Share, ...]:
        """The same inside each category or domain; nothing where none has a name."""
        if not any(groups):
            return ()
        names = np.array(groups, dtype=object)
        order = sorted(set(groups), key=lambda group: (not group, group))
        return tuple(self._share(name or "–", names == name, resampling) for name in order)

    def by_annotator(self, resampling: Resampling = DEFAULT) -> tuple[tuple[Any, Share], ...]:
        """What each person alone would keep of what they labelled, before any threshold."""
        keep, rows = self.table.codes(Task.KEEP), []
        for at, person in enumerate(self.table.people):
            answered, kept = keep[:, at] != MISSING, keep[:, at] == KEEP
            rows.append((person, _share(person.name, answered, kept, answered, self.table, resampling)))
        return tuple(rows)

    def _share(self, name: str, inside: Bools, resampling: Resampling) -> Share:
        return _share(name, inside, self.is_kept, self.is_decided, self.table, resampling)


def _share(
    name: str, inside: Bools, is_kept: Bools, is_decided: Bools, table: PointTable, resampling: Resampling
) -> Share:
    counted = inside & is_decided
    stat = retention(is_kept, counted, table.questions.tolist(), resampling=resampling)
    return Share(name, int(inside.sum()), int((is_kept & counted).sum()), int(counted.sum()), stat)


def build(table: PointTable, choice: Choice, *, adjudicated: Mapping[int, bool] | None = None) -> Dataset:
    """Decide every key point; `adjudicated` has decisions by primary key and counts under its rule alone."""
    decisions = adjudicated or {}
    columns = [at for at, person in enumerate(table.people) if person.key in choice.annotators]
    by_point = outcomes(
        table.codes(Task.KEEP)[:, columns],
        choice.rule,
        adjudicated=[decisions.get(point) for point in table.points] if table.points else None,
        is_filtered=None if choice.threshold is None else below(table.autods, choice.threshold),
    )
    is_kept = np.array([outcome is Outcome.KEPT for outcome in by_point], dtype=bool)
    is_decided = np.array([outcome not in UNDECIDED for outcome in by_point], dtype=bool)
    return Dataset(table, choice, by_point, is_kept, is_decided)


def below(scores: Floats, threshold: float) -> Bools:
    """Which key points a threshold leaves out; those without a score (NaN) stay."""
    return np.nan_to_num(scores, nan=np.inf) < threshold


def choice_of(study: Study, table: PointTable | None, *, number: int | None = None) -> Choice:
    """The version asked for, else the newest, else everybody in the table (without one no names), unanimous."""
    rows = study.dataset_versions.prefetch_related("annotators").order_by("-number")
    version = rows.first() if number is None else rows.filter(number=number).first()
    if version is None:
        if number:
            raise NoVersion(f"There is no version {number} of the dataset.")
        return Choice(tuple(person.key for person in table.people) if table else ())
    return choice_in(version)


def choice_in(version: DatasetVersion) -> Choice:
    """The choice that a stored version records."""
    keys = tuple(str(person.uid) for person in version.annotators.all())
    return Choice(keys, Rule(version.rule), version.autods_threshold, version.number)


def adjudications(study: Study) -> dict[int, bool]:
    """Whether each adjudicated key point is to be kept. One query."""
    rows = PointAdjudication.objects.filter(study=study, is_current=True)
    return {
        point: (grounded, keyness) == (Grounded.YES, Keyness.AGREE)
        for point, grounded, keyness in rows.values_list("key_point_id", "grounded", "keyness")
    }


def dataset_of(study: Study, *, number: int | None = None) -> Dataset:
    """The dataset of a study as chosen; six queries."""
    table = collect(study)
    return build(table, choice_of(study, table, number=number), adjudicated=adjudications(study))


def choose(
    *,
    study: Study,
    annotators: Iterable[str],
    rule: str = Rule.UNANIMOUS,
    autods_threshold: float | None = None,
    selection_seed: int | None = None,
    note: str = "",
    by: Any,
    now: datetime,
) -> DatasetVersion:
    """Record a choice as the next version; `annotators` are the ids (uid) of people who labelled here.

    Raises:
        NotInStudy: nobody is chosen, or somebody who has no label in this study.
    """
    chosen = set(annotators)
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        labellers = list(
            Annotator.objects.filter(uid__in=chosen, memberships__study=study, pointlabels__study=study).distinct()
        )
        if not labellers or {str(person.uid) for person in labellers} != chosen:
            raise NotInStudy("Choose people who labelled in this study.")
        last = study.dataset_versions.aggregate(last=Max("number"))["last"] or 0
        version = DatasetVersion.objects.create(
            study=study,
            number=last + 1,
            rule=Rule(rule).value,
            autods_threshold=autods_threshold,
            selection_seed=selection_seed,
            note=note,
            made_by=by if getattr(by, "pk", None) else None,
            made_at=now,
        )
        version.annotators.set(labellers)
        audit.record(
            actor=by,
            action="dataset.chosen",
            target=study,
            now=now,
            version=version.number,
            rule=version.rule,
            annotators=sorted(chosen),
            autods_threshold=autods_threshold,
        )
    return version


class VerifiedPoints(people.Source):
    """The versions of verification studies of a researcher, those with labels."""

    def versions(self, user: Any) -> list[Version]:
        """Every version chosen, and the one before any choice where there is none."""
        labelled = Exists(PointLabel.objects.order_by().filter(study=OuterRef("pk")))
        studies = Study.objects.for_user(user).filter(labelled, kind=Study.Kind.VERIFICATION)
        sources = []
        for study in studies.order_by("name", "pk").prefetch_related("dataset_versions"):
            numbers = sorted((row.number for row in study.dataset_versions.all()), reverse=True) or [0]
            sources += [_version(study, number) for number in numbers]
        return sources

    def verified(self, user: Any, key: str) -> Verified | None:
        name, _dot, number = key.partition(".")
        try:
            studies = Study.objects.for_user(user).filter(kind=Study.Kind.VERIFICATION, uid=UUID(name))
            return verified_by(studies.get(), int(number)) if number.isdecimal() and len(number) <= 8 else None
        except (ValueError, Study.DoesNotExist, NoVersion):
            return None


def _version(study: Study, number: int) -> Version:
    return Version(f"{study.uid}.{number}", study.name, number)


def verified_by(study: Study, number: int | None = None) -> Verified:
    """What a version of a study keeps, by default the newest; raises `NoVersion`."""
    dataset = dataset_of(study, number=number)
    questions = frozenset(study.label_items.order_by().values_list("question", flat=True).distinct())
    return Verified(_version(study, dataset.choice.number), dataset.kept_points, questions)
