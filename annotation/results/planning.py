"""How many more labels are enough: which figures can be planned, by which labels, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
from django.db.models import Count, Sum

from annotation.kinds import Text, kind_named
from annotation.models import Study
from annotation.results.spending import Spent, spending_facts, spent_on
from annotation.results.study import OfStudy, study_or_gone
from annotation.studies.amounts import MS_PER_HOUR, pay
from annotation.studies.estimates import Measured
from benchmarks.results.computation import Computation, register
from benchmarks.results.stored import Shown, look_up_many
from benchmarks.scoring.agreement import randolph_error, randolph_kappa
from benchmarks.scoring.components import MIN_WRITERS, Cell, components_of
from benchmarks.scoring.planning import (
    ALIKE,
    Variances,
    Width,
    expected_width,
    items_for,
    of_given_people,
    resized,
    variances_of_agreement,
    variances_of_error,
    variances_of_mean,
    variances_of_share,
    widths,
)
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Floats, Ints

NOTHING_YET = "no figure yet that could be planned"


@dataclass(frozen=True, slots=True)
class Plannable:
    """A figure that can be planned: what it is called, its value, and the variances behind it.

    `unit` names what its intervals resample, each with `size` items, `is_points` says that it is shown in points
    of 100. Variances are None while the labels are too few.
    """

    key: str
    title: str
    unit: str
    stat: Stat
    variances: Variances | None
    is_points: bool = False
    size: float = 1.0

    @property
    def factor(self) -> float:
        """From the unit of variances to what is shown."""
        return 100.0 if self.is_points else 1.0


@dataclass(frozen=True, slots=True)
class Published:
    """Published figures on the headline of a kind of study, before there is a study to plan by.

    `of` gives the variances behind it where each cluster has so many items; `source` says whose figures these are.
    """

    title: Text
    source: Text
    of: Callable[[float], Variances]
    is_points: bool = False


def published_agreement(title: Text, source: Text, *, percent: float, q: int, alike: float = ALIKE) -> Published:
    """Randolph's kappa of people who agree on a share of the items, as published."""
    return Published(title, source, lambda size: variances_of_agreement(percent, q=q, size=size, alike=alike))


def agreement_of(key: str, title: str, unit: str, ratings: Ratings) -> Plannable:
    """Randolph's kappa of some ratings."""
    stat, error = randolph_kappa(ratings), randolph_error(ratings)
    if error is None:
        return Plannable(key, title, unit, stat, None)
    n_people = int((ratings.codes >= 0).any(axis=0).sum())
    n_clusters = len(set(ratings.clusters)) if ratings.clusters is not None else len(ratings.codes)
    n_paired = int(((ratings.codes >= 0).sum(axis=1) >= 2).sum())
    if n_people < MIN_WRITERS:
        variances = Variances(None, n_clusters * error.of_clusters, 0.0, n_people, n_clusters)
    else:
        variances = variances_of_error(error, n_people=n_people, n_clusters=n_clusters)
    return Plannable(key, title, unit, stat, variances, size=max(1.0, n_paired / n_clusters))


def share_of(
    key: str, title: str, unit: str, *, is_hit: Bools, is_counted: Bools, clusters: Ints, n_people: int
) -> Plannable:
    """A share of what is counted, as of links that are the same; arrays of shape (pairs or answers,).

    Its interval is planned over clusters, so under five people only: from there on people are a sample, too.
    """
    names, of = np.unique(clusters, return_inverse=True)
    hits: Floats = np.bincount(of, is_hit.astype(float), minlength=len(names)).astype(float)
    counts: Floats = np.bincount(of, is_counted.astype(float), minlength=len(names)).astype(float)
    total = int(counts.sum())
    if not total:
        return Plannable(key, title, unit, Stat.undefined(NOTHING_YET), None, is_points=True)
    variances = variances_of_share(hits[counts > 0], counts[counts > 0]) if n_people < MIN_WRITERS else None
    stat = Stat(float(hits.sum() / total), n_items=total, n_clusters=int((counts > 0).sum()))
    known = None if variances is None else replace(variances, n_people=n_people)
    return Plannable(key, title, unit, stat, known, is_points=True, size=total / max(1, int((counts > 0).sum())))


def mean_of(key: str, title: str, unit: str, cells: Sequence[Cell]) -> Plannable:
    if not cells:
        return Plannable(key, title, unit, Stat.undefined(NOTHING_YET), None, is_points=True)
    components = components_of(cells)
    stat = Stat(components.mean, n_items=components.n_cells, n_clusters=components.n_subtopics)
    variances = variances_of_mean(components)
    if components.n_writers < MIN_WRITERS:
        variances = of_given_people(variances, n_each=components.n_cells / components.n_subtopics)
    is_known = components.n_subtopics > 1
    return Plannable(key, title, unit, stat, variances if is_known else None, is_points=True)


TARGETS = (0.05, 0.1)
"""Half widths that one asks for."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work done so far: labels (or sessions) of people on `n_clusters`, and the active time of all of them.

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
    known = headline.variances
    if known is None:
        return Planned(headline, (), ())
    people = [known.n_people + more for more in ((0, 2, 5) if known.people is not None else (0,))]
    items = sorted({max(2, ceil(known.n_items * more)) for more in (1.0, 1.5, 2.0, 3.0, 5.0)})
    made = widths(known, [(n_people, n_items) for n_people in people for n_items in items])
    times = [work.hours(n_people=width.n_people, n_clusters=width.n_items) for width in made]
    designs = tuple(Design(width, hours, work.cost(hours)) for width, hours in zip(made, times, strict=True))
    targets = []
    for half in TARGETS:
        n = items_for(known, width=2 * half, n_people=known.n_people)
        needed = None if n is None else work.hours(n_people=known.n_people, n_clusters=n)
        targets.append(Target(half, n, needed, None if needed is None else work.cost(needed)))
    return Planned(headline, designs, tuple(targets))


# Of a study


def _compute(options: OfStudy) -> Plan:
    study = study_or_gone(options.study)
    results: Any = kind_named(study.kind).results_of(study)
    headlines = results.plannable(study) if results is not None else ()
    n_clusters = max((headline.variances.n_items for headline in headlines if headline.variances), default=0)
    done = kind_named(study.kind).worked(study)
    totals = done.rows.filter(done.is_done).aggregate(
        n=Count("pk"), people=Count("annotator", distinct=True), active=Sum(done.time)
    )
    work = Work(
        n_people=totals["people"],
        n_clusters=n_clusters,
        n_done=totals["n"],
        active_ms=totals["active"] or 0,
        rate=study.hourly_rate,
        currency=study.currency,
    )
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


LOOKED_AT = 5
"""How many studies of the kind, the newest, are looked at."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Half the interval that the headline of a study is expected to have, in its unit, and what says so.

    None where there is nothing to measure: `source` then says why. It `is_provisional` while workers look at
    labels that may say something else.
    """

    title: str
    half: float | None
    source: str
    is_provisional: bool = False

    @property
    def shown(self) -> str:
        """Half the interval to two significant digits."""
        return "" if self.half is None else f"{self.half:.2g}"


def outlook(
    kind: str, measured: Measured | None, *, published: Published | None, user: Any, now: datetime
) -> Outlook | None:
    """Width and cost of a new study of a kind; None where nothing is known of such studies."""
    if measured is None or measured.n_clusters < 2:
        why = "no item of two subtopics or questions would have two people, so agreement could not be measured"
        return Outlook("", None, why)
    studies = list(Study.objects.readable_by(user).filter(kind=kind).order_by("-created_at", "-pk")[:LOOKED_AT])
    shown = look_up_many(PLAN, [OfStudy(study.pk) for study in studies], now=now) if studies else []
    prior = _prior(measured, dict(zip(studies, shown, strict=True)), published=published)
    if prior is None:
        return None
    title, source, known, is_points = prior
    if measured.n_people < MIN_WRITERS:
        known = of_given_people(known, n_each=measured.n_each)
    n_people = max(2, measured.n_people)
    width = expected_width(known, n_people=n_people, n_items=measured.n_clusters, n_each=measured.n_each)
    half = width / 2 * (100 if is_points else 1)
    return Outlook(title, half, source, any(result.is_waiting for result in shown))


def _prior(
    measured: Measured, plans: Mapping[Study, Shown[Plan]], *, published: Published | None
) -> tuple[str, str, Variances, bool] | None:
    """Title of a headline, whose variances these are, the variances to plan by, and whether it is in points."""
    headlines = []  # as last computed; what stands on most is taken
    for study, result in plans.items():
        first = next(iter(result.figures.planned), None) if result.figures is not None else None
        if first is not None and first.headline.variances is not None:
            headlines.append((study, first.headline, first.headline.variances))
    if headlines:
        study, headline, known = max(headlines, key=lambda each: each[2].n_items)
        said = {"name": study.name, "n": known.n_items, "unit": headline.unit, "people": known.n_people}
        source = "by the labels of “%(name)s” (%(people)d people, %(n)d %(unit)s)" % said
        variances = resized(known, before=headline.size, size=measured.size)
        return headline.title, source, variances, headline.is_points
    if published is None:
        return None
    return str(published.title), str(published.source), published.of(measured.size), published.is_points
