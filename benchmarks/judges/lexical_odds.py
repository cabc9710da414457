"""How likely an insight is covered by its closest line: a multinomial logit on what the offline judge compares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.scoring.logit import balanced_weights, fit_logit
from benchmarks.scoring.summhay import COVERAGES, Probabilities
from benchmarks.scoring.sums import Floats, Ints

FEATURES = (
    "score",
    "score squared",
    "share of numbers",
    "log words of the insight",
    "log similarity by terms rare in documents",
    "lead of a rival insight",
)
DECIMALS = 4
RIDGE = 1.0
NOT_COVERED = Probabilities(1.0, 0.0, 0.0)
"""Where a summary has no line that could cover anything."""


class WrongOdds(ValueError):
    """These are no coefficients of the two logits."""


@dataclass(frozen=True)
class Odds:
    """Coefficients of the log-odds of partial and full against none: an intercept, then one for each feature."""

    partial: tuple[float, ...]
    full: tuple[float, ...]

    @classmethod
    def from_mapping(cls, values: Any, *, n_features: int = len(FEATURES)) -> Odds:
        """Read stored coefficients of so many features.

        Raises:
            WrongOdds: other names, or not one finite number more each.
        """
        if not isinstance(values, Mapping) or set(values) != {"partial", "full"}:
            raise WrongOdds("odds must have the coefficients of “partial” and “full”, and nothing else")
        for row in values.values():
            numbers = (
                [number for number in row if isinstance(number, int | float)]
                if isinstance(row, list | tuple)
                else []
            )
            if len(numbers) != 1 + n_features or len(numbers) != len(row) or not np.isfinite(numbers).all():
                raise WrongOdds(f"odds must be {1 + n_features} numbers each; fit the judge again")
        return cls(tuple(values["partial"]), tuple(values["full"]))

    def probabilities(self, features: Sequence[float]) -> Probabilities:
        """The probabilities of none, partial and full; `features` are in their order."""
        logits = [
            row[0] + sum(weight * value for weight, value in zip(row[1:], features, strict=True))
            for row in (self.partial, self.full)
        ]
        highest = max(0.0, *logits)
        none, partial, full = (math.exp(logit - highest) for logit in (0.0, *logits))
        partial, full = (round(weight / (none + partial + full), DECIMALS) for weight in (partial, full))
        return Probabilities(round(1 - partial - full, DECIMALS), partial, full)


def fit_odds(
    features: Sequence[Sequence[float]], labels: Sequence[str], sources: Sequence[str] | None = None
) -> Odds:
    """Fit both logits to labels of coverage, each label counting the same in all, or in each of the sources.

    How often people call an insight covered differs between haystacks, and that of an unseen one is not known.
    Counted evenly, the labels of a haystack where much is covered do not raise what is expected of another.
    Sources count the same, however many labels they have.
    """
    codes = np.array([COVERAGES.index(label) for label in labels], dtype=np.int64)
    rows: Floats = np.asarray(features, dtype=np.float64)
    weights = balanced_weights(codes, len(COVERAGES)) if sources is None else _balanced_within(codes, sources)
    fitted = np.round(fit_logit(rows, codes, n_labels=len(COVERAGES), ridge=RIDGE, weights=weights), DECIMALS)
    return Odds(*(tuple(float(weight) for weight in row) for row in fitted))


def _balanced_within(codes: Ints, sources: Sequence[str]) -> Floats:
    """Weights by which each source counts as the first one does, and all labels the same in each of them."""
    names = np.array(sources)
    weights = np.zeros(len(codes))
    order = list(dict.fromkeys(sources))
    size = float((names == order[0]).sum())
    for name in order:
        inside = names == name
        weights[inside] = balanced_weights(codes[inside], len(COVERAGES)) * (size / inside.sum())
    return weights
