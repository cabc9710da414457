"""Which annotators agree best: every set, ranked on one half of the control group, reported on the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from annotation.figures.table import Rater
from annotation.results.study import study_or_gone
from annotation.verification.labels import PointTable, collect, data_version
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.agreement import by_pair, randolph_kappa
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.retention import RankedSubset, Task, halves, ranked_subsets
from benchmarks.scoring.stat import Stat

MAX_PEOPLE = 10
"""2¹⁰ sets are a thousand rows; with more people choose some of them first."""


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


def ranking(table: PointTable, task: Task, *, seed: int, resampling: Resampling | None = None) -> Ranking:
    """Rank every set of two or more people who labelled something of `table`, which is the control group.

    Intervals are drawn for the held-out half where `resampling` is given.
    """
    codes = table.codes(task)
    active = [person for at, person in enumerate(table.people) if (codes[:, at] != MISSING).any()]
    people = tuple(active[:MAX_PEOPLE])
    ratings = table.ratings(task).only(person.key for person in people)
    inside, outside = halves(table.questions.tolist(), seed=seed)
    with shared_draws():
        rows = ranked_subsets(ratings, seed=seed, reporting=partial(randolph_kappa, resampling=resampling))
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


@dataclass(frozen=True, slots=True)
class Sets:
    """All sets of annotators of a study, ranked on its control group, or on all items where it has none."""

    ranking: Ranking
    flattered: Stat | None
    has_control: bool
    q: int


def _sets(look: SetsLook) -> Sets:
    table = collect(study_or_gone(look.study))
    has_control = bool(table.is_control.any())
    group = table.control() if has_control else table
    return Sets(
        ranking=ranking(group, look.task, seed=look.seed, resampling=DEFAULT),
        flattered=flattered(group, look.task),
        has_control=has_control,
        q=len(group.ratings(look.task).categories),
    )


def _facts(look: SetsLook) -> object:
    return data_version(study_or_gone(look.study))


SETS = register(Computation("annotator-sets", options=SetsLook, figures=Sets, compute=_sets, facts=_facts))
