"""An interval over people and clusters at once, from a figure without each of them (a double jackknife)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.students_t import t_interval
from benchmarks.scoring.sums import Floats


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A figure without each person, shape (people,), and without each cluster, shape (clusters,).

    `cells`, shape (people, clusters), is the figure without what a person said in a cluster.
    """

    people: Floats
    clusters: Floats
    cells: Floats

    @property
    def is_defined(self) -> bool:
        """Whether the figure has a value without any of them."""
        return all(np.isfinite(side).all() for side in (self.people, self.clusters, self.cells))

    def minus(self, other: LeftOut) -> LeftOut:
        """The same of a difference."""
        return LeftOut(self.people - other.people, self.clusters - other.clusters, self.cells - other.cells)

    def mapped(self, function: Callable[[Floats], Floats]) -> LeftOut:
        """The same of a function of the figure."""
        return LeftOut(function(self.people), function(self.clusters), function(self.cells))


@dataclass(frozen=True, slots=True)
class Error:
    """A standard error with its degrees of freedom, and the variances it comes from."""

    se: float
    df: float
    of_people: float
    of_clusters: float
    of_both: float


def error_over_people(value: float, without: LeftOut) -> Error:
    """How far a figure may be from that of people and clusters like these.

    What people add is how much the figure changes without each of them, less what chance within clusters would do.
    NaN where the figure is undefined without somebody or something.
    """
    m, n = without.cells.shape
    v_a = float(((m - 1) * (value - without.people)).var(ddof=1)) / m
    v_c = float(((n - 1) * (value - without.clusters)).var(ddof=1)) / n
    both = (m - 1) * n * (value - without.cells)
    both = both - both.mean(axis=0) - both.mean(axis=1, keepdims=True) + both.mean()
    v_e = float((both**2).sum()) / ((m - 1) * (n - 1) * m * n)
    v = v_c + max(0.0, v_a - v_e)
    below = v_c**2 / (n - 1)
    if v_a > v_e:
        below += v_a**2 / (m - 1) + v_e**2 / ((m - 1) * (n - 1))
    df = max(v**2 / below if below > 0 else 0.0, min(m, n) - 1.0)
    return Error(math.sqrt(v), df, v_a, v_c, v_e)


def ends_over_people(
    value: float, without: LeftOut, *, level: float = 0.95, is_correlation: bool = False
) -> tuple[float, float]:
    """Both ends of the interval over people and clusters; that of a correlation is made on Fisher's scale."""
    if is_correlation:
        on_z = float(_z(np.array(value)))
        error = error_over_people(on_z, without.mapped(_z))
        low, high = t_interval(on_z, error.se, error.df, level)
        return math.tanh(low), math.tanh(high)
    error = error_over_people(value, without)
    return t_interval(value, error.se, error.df, level)


def _z(correlation: Floats) -> Floats:
    """Fisher's transformation; a perfect correlation stays finite."""
    z: Floats = np.arctanh(np.clip(correlation, -1 + 1e-9, 1 - 1e-9))
    return z
