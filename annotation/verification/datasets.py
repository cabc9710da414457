"""The dataset that verified key points make: whose labels count, by which rule, what it keeps, who agree best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Annotator, DatasetVersion, Grounded, Keyness, PointAdjudication, PointLabel, Study
from annotation.results.study import study_or_gone
from annotation.results.study_results import StudyResults
from annotation.results.table import Rater
from annotation.verification.labels import PointTable, collect, data_version
from annotation.verification.sheet import titles
from benchmarks import audit
from benchmarks.recall import people
from benchmarks.recall.people import Verified, Version
from benchmarks.results.computation import Computation, register
from benchmarks.results.sheet import Measure, Name, Note, Row, Sheet, Table, Unit
from benchmarks.results.writing import sheet_json
from benchmarks.scoring.agreement import by_pair, randolph_kappa
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import (
    KEEP,
    UNDECIDED,
    Outcome,
    RankedSubset,
    Rule,
    Task,
    halves,
    outcomes,
    ranked_subsets,
    retention,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Floats, shared_draws


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
        counter = Counter(self.outcomes)
        return {outcome.value: counter[outcome] for outcome in Outcome}

    @property
    def kept_points(self) -> frozenset[int]:
        return frozenset(point for point, keep in zip(self.table.points, self.is_kept, strict=True) if keep)

    @property
    def chosen(self) -> tuple[Any, ...]:
        """The people whose labels are exported."""
        return tuple(person for person in self.table.people if person.key in self.choice.annotators)

    def overall(self) -> Share:
        return self._share("", np.ones(len(self.is_kept), dtype=bool))

    def by(self, groups: Sequence[str]) -> tuple[Share, ...]:
        """The same inside each category or domain; nothing where none has a name."""
        if not any(groups):
            return ()
        names = np.array(groups, dtype=object)
        order = sorted(set(groups), key=lambda group: (not group, group))
        return tuple(self._share(name or "–", names == name) for name in order)

    def by_annotator(self) -> tuple[tuple[Any, Share], ...]:
        """Share that each person alone would keep of what they labelled, before any threshold."""
        keep, rows = self.table.codes(Task.KEEP), []
        for at, person in enumerate(self.table.people):
            answered, kept = keep[:, at] != MISSING, keep[:, at] == KEEP
            rows.append((person, _share(person.name, answered, kept, answered, self.table)))
        return tuple(rows)

    def _share(self, name: str, inside: Bools) -> Share:
        return _share(name, inside, self.is_kept, self.is_decided, self.table)


def _share(name: str, inside: Bools, is_kept: Bools, is_decided: Bools, table: PointTable) -> Share:
    counted = inside & is_decided
    stat = retention(is_kept, counted, table.questions.tolist())
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
            made_by=by,
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
    """The contents of a version of a study, by default the newest; raises `NoVersion`."""
    dataset = dataset_of(study, number=number)
    questions = frozenset(study.label_items.order_by().values_list("question", flat=True).distinct())
    return Verified(_version(study, dataset.choice.number), dataset.kept_points, questions)


MAX_PEOPLE = 10
"""2¹⁰ sets are a thousand rows; with more people choose some of them first."""
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """All sets of `people`, best first; how many key points and questions the halves have."""

    rows: tuple[RankedSubset, ...]
    people: tuple[Rater, ...]
    n_in: int
    n_out: int
    questions_in: int
    questions_out: int
    too_many: bool


def ranking(table: PointTable, task: Task, *, seed: int) -> Ranking:
    """Rank every set of two or more people who labelled something of `table`, which is the control group."""
    codes = table.codes(task)
    active = [person for at, person in enumerate(table.people) if (codes[:, at] != MISSING).any()]
    people = tuple(active[:MAX_PEOPLE])
    ratings = table.ratings(task).only(person.key for person in people)
    inside, outside = halves(table.questions.tolist(), seed=seed)
    with shared_draws():
        rows = ranked_subsets(ratings, seed=seed)
    return Ranking(
        rows=rows,
        people=people,
        n_in=len(inside),
        n_out=len(outside),
        questions_in=len({int(table.questions[at]) for at in inside}),
        questions_out=len({int(table.questions[at]) for at in outside}),
        too_many=len(active) > len(people),
    )


def flattered(table: PointTable, task: Task) -> Stat | None:
    """The best pair's kappa where one chooses and reports on the same items: what not to report."""
    pairs = by_pair(randolph_kappa, table.ratings(task)).values()
    defined = [stat for stat in pairs if stat.value is not None]
    return max(defined, key=lambda stat: stat.value or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class SetsLook:
    """Options of the stored ranking of sets of annotators."""

    study: int
    task: Task
    seed: int
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class Sets:
    """All sets of annotators of a study, ranked on its control group, or on all items where it has none."""

    seed: int
    ranking: Ranking
    flattered: Stat | None
    has_control: bool
    q: int


def _sets(look: SetsLook) -> Sets:
    study = study_or_gone(look.study)
    table = collect(study).anonymous() if look.is_public else collect(study)
    has_control = bool(table.is_control.any())
    group = table.control() if has_control else table
    return Sets(
        seed=look.seed,
        ranking=ranking(group, look.task, seed=look.seed),
        flattered=flattered(group, look.task),
        has_control=has_control,
        q=len(group.ratings(look.task).categories),
    )


def _facts(look: SetsLook) -> object:
    return data_version(study_or_gone(look.study))


SETS = register(Computation("annotator-sets", options=SetsLook, figures=Sets, compute=_sets, facts=_facts))


class SetsResults(StudyResults[SetsLook, Sets]):
    """Sets of annotators for a researcher to choose from."""

    computation = SETS
    heading = "Choose annotators"
    here = "choosing"
    form_template = "annotation/_sets_form.html"
    downloads_template = ""

    def options(self, study: Study, query: QueryDict) -> SetsLook:
        """The judgment of the address, else the second one, and its seed, else the study's own."""
        seed, task = query.get("seed", ""), query.get("task", "")
        return SetsLook(
            study.pk,
            Task(task) if task in set(Task) else Task.KEY_POINT,
            (int(seed) if seed.isdecimal() and len(seed) < 12 else study.seed) % MAX_SEED,
        )

    def sheet(self, study: Study, figures: Sets, query: QueryDict) -> Sheet:
        return sheet(figures, page=reverse("annotation:verification-dataset", args=[study.uid]))

    def as_json(self, figures: Sets) -> Any:
        return sheet_json(sheet(figures))

    def beside(self, request: HttpRequest, study: Study, options: SetsLook, figures: Sets) -> dict[str, Any]:
        return {"tasks": titles(), "other_seed": (options.seed + 1) % MAX_SEED}


SETS_RESULTS = SetsResults()


def sheet(sets: Sets, *, page: str = "") -> Sheet:
    """All that a page or a file shows of a ranking; `page` is where one tries a set."""
    ranking = sets.ranking
    about = (
        "Every set of two or more annotators, ranked on one half of the control group and reported on the other "
        "half, which played no part in the choice."
    )
    if not ranking.rows:
        nothing = (
            "No sets to rank yet. At least two annotators must label the same key points of the control group."
        )
        return Sheet((Note(about), Note(nothing, is_empty=True)))
    return Sheet((Note(about), *_notes(sets), _table(sets, page)))


def _notes(sets: Sets) -> Iterator[Note]:
    ranking = sets.ranking
    if not sets.has_control:
        yield Note("There is no control group, so all key points are used, where two annotators labelled them.")
    yield Note(
        f"Ranked on {ranking.n_in} key points of {ranking.questions_in} questions, reported on {ranking.n_out} "
        f"key points of the other {ranking.questions_out}. Randolph's κ, q = {sets.q}; intervals resample "
        "questions."
    )
    warning = (
        "Figures on the items used for choosing are too high: of four equal annotators, the best pair always "
        "looks better than it is. Report the held-out half."
    )
    if sets.flattered is not None:
        warning += f" The best pair on the whole group would show {sets.flattered.value:.3f}."
    yield Note(warning, warns=True)
    if ranking.too_many:
        yield Note(f"Only the first {len(ranking.people)} annotators are compared.", warns=True)


def _table(sets: Sets, page: str) -> Table:
    names = {person.key: person.name for person in sets.ranking.people}

    def address(keys: Sequence[str]) -> str:
        query = urlencode([*(("annotators", key) for key in keys), ("selection_seed", sets.seed)])
        return f"{page}?{query}" if page else ""

    rows = [
        Row(
            (", ".join(names[key] for key in row.annotators),),
            {
                "place": place,
                "ranked_on": row.ranked_on,
                "n_ranked_on": row.ranked_on.n_items,
                "held_out": row.held_out,
                "n_held_out": row.held_out.n_items,
            },
            url=address(row.annotators),
        )
        for place, row in enumerate(sets.ranking.rows, 1)
    ]
    return Table(
        "sets",
        "Sets of annotators",
        (Name("annotators", "Annotators"),),
        (
            Measure("place", "Place", Unit.COUNT),
            Measure("ranked_on", "κ, chosen here", how="on the half that the sets are ranked on: too high"),
            Measure("n_ranked_on", "n", Unit.COUNT),
            Measure("held_out", "κ, held out"),
            Measure("n_held_out", "n", Unit.COUNT),
        ),
        tuple(rows),
        about=(
            "Follow a set to try it: one sees what it would keep, and nothing changes until a version is made. "
            "Labels of annotators who are not chosen stay stored."
        ),
        find="annotators",
    )
