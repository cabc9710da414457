"""How likely an insight is covered by its closest line: a multinomial logit on what the offline judge compares.

It is fitted with a ridge penalty by Newton's method; the first label is the one of reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.scoring.summhay import COVERAGES, Probabilities
from benchmarks.scoring.sums import BadShape, Floats, Ints

MAX_STEPS = 100
TOLERANCE = 1e-9


class NotFitted(ArithmeticError):
    """Newton's method did not settle."""


def fit_logit(
    features: Floats, labels: Ints, *, n_labels: int, ridge: float = 1.0, weights: Floats | None = None
) -> Floats:
    """Coefficients of shape (n_labels - 1, 1 + d): the intercept, then one for each of the d features.

    `features` have shape (n, d), `labels` are codes from 0, `weights` (n,) say how much each row counts. The
    penalty is `ridge` / 2 times the squared coefficients of standardized features; intercepts are free. It needs
    a row of every label. The solution is unique, so it depends on neither a seed nor the order of the rows.

    Raises:
        BadShape: the arrays do not run in parallel, or a label has no row.
        NotFitted: no convergence in 100 steps.
    """
    if features.ndim != 2 or labels.shape != features.shape[:1] or len(np.unique(labels)) != n_labels:
        raise BadShape(f"features {features.shape}, labels {labels.shape} for {n_labels} labels")
    counted = np.ones(len(labels)) if weights is None else weights
    mean, spread = features.mean(axis=0), features.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    rows = np.column_stack([np.ones(len(labels)), (features - mean) / scale])
    coefficients = _newton(rows, np.eye(n_labels)[labels][:, 1:], counted, ridge)
    coefficients[:, 1:] /= scale
    coefficients[:, 0] -= coefficients[:, 1:] @ mean
    return coefficients


def probabilities(features: Floats, coefficients: Floats) -> Floats:
    """How likely each label is, shape (n, n_labels), for features of shape (n, d)."""
    return _shares(np.column_stack([np.ones(len(features)), features]), coefficients)


def balanced_weights(labels: Ints, n_labels: int) -> Floats:
    """Weights, shape (n,), by which all labels count the same; their mean is 1."""
    counts = np.bincount(labels, minlength=n_labels)
    return len(labels) / n_labels / counts[labels]


def _shares(rows: Floats, coefficients: Floats) -> Floats:
    scores = np.column_stack([np.zeros(len(rows)), rows @ coefficients.T])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _newton(rows: Floats, chosen: Floats, weights: Floats, ridge: float) -> Floats:
    """Coefficients for rows of shape (n, width) and labels as indicators of shape (n, labels - 1)."""
    n_others, width = chosen.shape[1], rows.shape[1]
    penalty = np.full(width, ridge)
    penalty[0] = 0.0
    coefficients = np.zeros((n_others, width))
    for _step in range(MAX_STEPS):
        shares = _shares(rows, coefficients)[:, 1:]
        slope = (weights[:, None] * (chosen - shares)).T @ rows - penalty * coefficients
        curve = np.zeros((n_others, width, n_others, width))
        for label in range(n_others):
            for second in range(n_others):
                each = weights * shares[:, label] * ((label == second) - shares[:, second])
                curve[label, :, second] = rows.T @ (rows * each[:, None])
            curve[label, :, label] += np.diag(penalty)
        size = n_others * width
        step = np.linalg.solve(curve.reshape(size, size), slope.ravel()).reshape(n_others, width)
        loss = _loss(rows, chosen, weights, penalty, coefficients)
        while _loss(rows, chosen, weights, penalty, coefficients + step) > loss and np.abs(step).max() > TOLERANCE:
            step /= 2
        coefficients = coefficients + step
        if np.abs(step).max() <= TOLERANCE:
            return coefficients
    raise NotFitted(f"no convergence in {MAX_STEPS} steps")


def _loss(rows: Floats, chosen: Floats, weights: Floats, penalty: Floats, coefficients: Floats) -> float:
    """The penalized negative log-likelihood."""
    scores = np.column_stack([np.zeros(len(rows)), rows @ coefficients.T])
    highest = scores.max(axis=1)
    total = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
    return float(weights @ (total - (chosen * scores[:, 1:]).sum(axis=1)) + (penalty * coefficients**2).sum() / 2)


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
