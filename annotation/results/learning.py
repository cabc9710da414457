"""How people get better: the share of right answers in each try of the trial, and over the course of the work.

The second is of hidden checks with a known answer, in the order in which they were answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.kinds import kind_named
from annotation.models import Study, Trial
from annotation.results.study import OfStudy, study_or_gone
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.shares import wilson_ends

PARTS = 5
"""The course is cut into so many parts of about as many checks each, fewer where there are fewer checks."""


@dataclass(frozen=True, slots=True)
class Right:
    """How many answers were right; `low` and `high` are a Wilson interval of the share."""

    n_right: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.n_right / self.n


@dataclass(frozen=True, slots=True)
class Learner:
    """One person: the tries of the trial that are over, and the parts of the course."""

    name: str
    tries: tuple[Right, ...]
    course: tuple[Right, ...]


@dataclass(frozen=True, slots=True)
class Learning:
    """Everybody with either, in the order of the study, and all of them together."""

    people: tuple[Learner, ...]
    everyone: Learner


def right_of(n_right: int, n: int) -> Right:
    """A share with its interval."""
    low, high = wilson_ends(n_right / n, n)
    return Right(n_right, n, low, high)


def course_of(answers: Sequence[bool]) -> tuple[Right, ...]:
    """The answers in order, cut into parts; the sizes differ by one at most."""
    n, k = len(answers), min(PARTS, len(answers))
    cuts = [at * n // k for at in range(k + 1)] if k else [0]
    parts = [answers[start:end] for start, end in pairwise(cuts)]
    return tuple(right_of(sum(part), len(part)) for part in parts)


def _compute(options: OfStudy) -> Learning:
    study = study_or_gone(options.study)
    tries: dict[int, list[tuple[int, int]]] = {}
    for person, _number, n_right, n_asked in _tries(study):
        tries.setdefault(person, []).append((n_right, n_asked))
    checks = kind_named(study.kind).checks_in_order(study)
    learners = [
        Learner(
            name,
            tuple(right_of(*each) for each in tries.get(person, ())),
            course_of(checks.get(person, ())),
        )
        for person, name in _names(study, is_public=options.is_public)
        if tries.get(person) or checks.get(person)
    ]
    return Learning(tuple(learners), _together(learners))


def _together(learners: Sequence[Learner]) -> Learner:
    """All people: by try, and by part of the course, whatever its length."""

    def sums(rows: Sequence[Sequence[Right]]) -> Iterator[Right]:
        for at in range(max(map(len, rows), default=0)):
            there = [row[at] for row in rows if len(row) > at]
            yield right_of(sum(each.n_right for each in there), sum(each.n for each in there))

    whole = [learner.course for learner in learners if len(learner.course) == PARTS]
    return Learner("", tuple(sums([learner.tries for learner in learners])), tuple(sums(whole)))


def _tries(study: Study) -> list[tuple[int, int, int, int]]:
    rows = Trial.objects.filter(study=study, n_asked__gt=0).exclude(ended_at=None).order_by("annotator", "number")
    values = rows.values_list("annotator", "number", "n_right", "n_asked")
    return [(person, number, n_right or 0, n_asked) for person, number, n_right, n_asked in values]


def _names(study: Study, *, is_public: bool) -> list[tuple[int, str]]:
    members = study.memberships.select_related("annotator").order_by("number")
    return [(row.annotator_id, row.pseudonym if is_public else row.annotator.label) for row in members]


def _facts(options: OfStudy) -> object:
    """Tries, checks and names are few, so they are the facts themselves."""
    study = study_or_gone(options.study)
    checks = kind_named(study.kind).checks_in_order(study)
    return _tries(study), sorted(checks.items()), _names(study, is_public=options.is_public)


LEARNING = register(Computation("learning", options=OfStudy, figures=Learning, compute=_compute, facts=_facts))
