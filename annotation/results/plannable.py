"""Figures whose intervals can be planned, with the variances that the labels so far show. No database.

Fewer than five people are these people and not a sample: then only items count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.kinds import Text
from benchmarks.scoring.agreement import randolph_error, randolph_kappa
from benchmarks.scoring.components import MIN_WRITERS, Cell, components_of
from benchmarks.scoring.planning import (
    ALIKE,
    Variances,
    of_given_people,
    variances_of_agreement,
    variances_of_error,
    variances_of_mean,
    variances_of_share,
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
    """What published figures say of the headline of a kind of study, before there is a study to plan by.

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
    """A mean over writers and subtopics."""
    if not cells:
        return Plannable(key, title, unit, Stat.undefined(NOTHING_YET), None, is_points=True)
    components = components_of(cells)
    stat = Stat(components.mean, n_items=components.n_cells, n_clusters=components.n_subtopics)
    variances = variances_of_mean(components)
    if components.n_writers < MIN_WRITERS:
        variances = of_given_people(variances, n_each=components.n_cells / components.n_subtopics)
    is_known = components.n_subtopics > 1
    return Plannable(key, title, unit, stat, variances if is_known else None, is_points=True)
