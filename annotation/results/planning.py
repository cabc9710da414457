"""How many more labels are enough: the width of each headline with more people or items, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from django.db.models import Count, Sum

from annotation.kinds import kind_named
from annotation.models import Study
from annotation.results.plannable import Plannable
from annotation.results.spending import Spent, spending_facts, spent_on
from annotation.results.study import OfStudy, study_or_gone
from annotation.studies.amounts import MS_PER_HOUR, pay
from benchmarks.results.computation import Computation, register
from benchmarks.scoring.planning import Variances, Width, items_for, widths

MORE_ITEMS = (1.0, 1.5, 2.0, 3.0, 5.0)
MORE_PEOPLE = (0, 2, 5)
TARGETS = (0.05, 0.1)
"""Half widths that one asks for."""


@dataclass(frozen=True, slots=True)
class Work:
    """What was done so far: labels (or sessions) of people on `n_clusters`, and the active time of all of them.

    `per_cluster` is how many labels or sessions there are for each, over all people.
    """

    n_people: int
    n_clusters: int
    n_done: int
    active_ms: int
    rate: Decimal
    currency: str

    @property
    def per_cluster(self) -> float:
        """Done tasks for each cluster."""
        return self.n_done / self.n_clusters if self.n_clusters else 0.0

    @property
    def ms_each(self) -> float:
        """Active time of a task."""
        return self.active_ms / self.n_done if self.n_done else 0.0

    def hours(self, *, n_people: int, n_clusters: int) -> float:
        """How much more active time a design takes, in hours; each of the people does as much as those so far."""
        people = n_people / self.n_people if self.n_people else 1.0
        n_more = max(0.0, n_clusters * self.per_cluster * people - self.n_done)
        return n_more * self.ms_each / MS_PER_HOUR

    def cost(self, hours: float) -> Decimal:
        """What so many hours cost."""
        return pay(round(hours * MS_PER_HOUR), self.rate)


@dataclass(frozen=True, slots=True)
class Design:
    """A width with what it takes beyond what is done."""

    width: Width
    hours: float
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Target:
    """How many items bring a headline to ± `half`, with as many people as now; None beyond ten thousand."""

    half: float
    n_items: int | None
    hours: float | None
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Planned:
    """A headline with its designs, the first of them as it is, and what brings it to round half widths."""

    headline: Plannable
    designs: tuple[Design, ...]
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All headlines of a study, the work so far, and what it cost, beside models on the same items."""

    planned: tuple[Planned, ...]
    work: Work
    spent: tuple[Spent, ...] = ()


def plan_of(headline: Plannable, work: Work) -> Planned:
    """The widths of a headline with more people and items."""
    known = headline.variances
    if known is None:
        return Planned(headline, (), ())
    people = [known.n_people + more for more in (MORE_PEOPLE if known.people is not None else (0,))]
    items = sorted({max(2, ceil(known.n_items * more)) for more in MORE_ITEMS})
    made = widths(known, [(n_people, n_items) for n_people in people for n_items in items])
    designs = []
    for width in made:
        hours = work.hours(n_people=width.n_people, n_clusters=width.n_items)
        designs.append(Design(width, hours, work.cost(hours)))
    return Planned(headline, tuple(designs), tuple(_target(known, half, work) for half in TARGETS))


def _target(known: Variances, half: float, work: Work) -> Target:
    n = items_for(known, width=2 * half, n_people=known.n_people)
    if n is None:
        return Target(half, None, None, None)
    hours = work.hours(n_people=known.n_people, n_clusters=n)
    return Target(half, n, hours, work.cost(hours))


# Of a study


def work_so_far(study: Study, n_clusters: int) -> Work:
    """What people did in a study so far. One query."""
    done = kind_named(study.kind).worked(study)
    totals = done.rows.filter(done.is_done).aggregate(
        n=Count("pk"), people=Count("annotator", distinct=True), active=Sum(done.time)
    )
    return Work(
        n_people=totals["people"],
        n_clusters=n_clusters,
        n_done=totals["n"],
        active_ms=totals["active"] or 0,
        rate=study.hourly_rate,
        currency=study.currency,
    )


def _compute(options: OfStudy) -> Plan:
    study = study_or_gone(options.study)
    results: Any = kind_named(study.kind).results_of(study)
    headlines = results.plannable(study) if results is not None else ()
    n_clusters = max((headline.variances.n_items for headline in headlines if headline.variances), default=0)
    work = work_so_far(study, n_clusters)
    answers = results.model_answers(study) if results is not None else ()
    return Plan(tuple(plan_of(headline, work) for headline in headlines), work, spent_on(study, answers))


def _facts(options: OfStudy) -> object:
    """All that the study's own figures depend on, its time and its rate, and what models asked at which prices."""
    study = study_or_gone(options.study)
    kind = kind_named(study.kind)
    results = kind.results_of(study)
    spending = spending_facts(results.model_answers(study) if results is not None else ())
    work = kind.worked(study)
    done = work.rows.aggregate(n=Count("pk"), active=Sum(work.time))
    pay_of = str(study.hourly_rate), study.currency
    return study.kind, kind.facts(study), sorted(done.items()), pay_of, spending


PLAN = register(Computation("plan", options=OfStudy, figures=Plan, compute=_compute, facts=_facts, revision=3))
