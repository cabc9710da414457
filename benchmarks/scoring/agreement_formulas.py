"""Formulas of agreement between raters, over sums of rows that are made of how often each category was given.

P_i is the share of agreeing pairs of ratings of item i, q the number of categories that the task allows.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from benchmarks.scoring.formulas import Formula
from benchmarks.scoring.shares import minority
from benchmarks.scoring.sums import Floats, divide

_NO_ROOM = 1e-12


class Level(StrEnum):
    """How distant two categories are: all alike, by rank, or by the value each stands for."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weights(StrEnum):
    """What a disagreement of two raters costs in Cohen's kappa."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def category_rows(counts: Floats, squares: Floats, *, code: int) -> Floats:
    """(ratings that another rater repeated, ratings) of one category on each item."""
    n = counts.sum(axis=-1)
    others = n**2 - squares.sum(axis=-1)
    agreeing = (counts[..., code] ** 2 - squares[..., code]) * n
    repeated = np.divide(agreeing, others, out=np.zeros_like(n), where=others > 0)
    return np.stack([repeated, np.where(others > 0, counts[..., code], 0.0)], axis=-1)


def minority_of_shares(totals: Floats) -> Floats:
    """The share of labels outside the commonest category, of sums of `pair_rows`."""
    return minority(totals[:, 3:])


def minority_of_pairs(totals: Floats) -> Floats:
    """The same of coincidence matrices, flat: totals of shape (resamples, q²)."""
    q = math.isqrt(totals.shape[1])
    return minority(totals.reshape(len(totals), q, q).sum(axis=2))


def minority_of_table(q: int) -> Formula:
    """The share of both raters' labels outside the commonest category, of cross tables, flat."""

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        return minority(table.sum(axis=1) + table.sum(axis=2))

    return formula


def pair_rows(counts: Floats, squares: Floats) -> Floats:
    """(P_i, has two raters, is rated, share of each category) of each item."""
    n = counts.sum(axis=-1)
    pairs = n**2 - squares.sum(axis=-1)
    agreeing = (counts**2 - squares).sum(axis=-1)
    agreement = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    shares = counts / np.where(n > 0, n, 1)[..., None]
    return np.concatenate([np.stack([agreement, pairs > 0, n > 0], axis=-1), shares], axis=-1)


def above_chance(agreement: Floats, chance: Floats | float) -> Floats:
    """(agreement − chance) / (1 − chance); NaN where chance leaves no room."""
    room = 1 - np.asarray(chance)
    return divide(agreement - chance, np.where(room > _NO_ROOM, room, 0.0))


def shares_of_categories(totals: Floats) -> Floats:
    """How often each category is given, of sums of `pair_rows`: shape (resamples, q)."""
    return divide(totals[:, 3:], totals[:, 2:3])


def coincidences(counts: Floats, squares: Floats | None = None) -> Floats:
    """Each item's coincidence matrix, flat: shape (items, q²); zero under two ratings."""
    squares = counts if squares is None else squares
    n = counts.sum(axis=-1)
    q = counts.shape[-1]
    pairs = counts[..., :, None] * counts[..., None, :] - squares[..., :, None] * np.eye(q)
    others = n**2 - squares.sum(axis=-1)
    weight = np.divide(n, others, out=np.zeros_like(n), where=others > 0)
    flat: Floats = (pairs * weight[..., None, None]).reshape(*n.shape, q * q)
    return flat


def alpha_formula(level: Level, scale: Floats) -> Formula:
    """Krippendorff's alpha of coincidence matrices, flat: totals of shape (resamples, q²)."""
    q = len(scale)

    def formula(totals: Floats) -> Floats:
        observed = totals.reshape(len(totals), q, q)
        chosen = observed.sum(axis=2)
        if level is Level.ORDINAL:
            below = np.cumsum(chosen, axis=1) - chosen / 2
            distance = (below[:, :, None] - below[:, None, :]) ** 2
        elif level is Level.INTERVAL:
            distance = np.broadcast_to((scale[:, None] - scale[None, :]) ** 2, observed.shape)
        else:
            distance = np.broadcast_to(1 - np.eye(q), observed.shape)
        expected = (chosen[:, :, None] * chosen[:, None, :] * distance).sum(axis=(1, 2))
        disagreed = (observed * distance).sum(axis=(1, 2))
        return 1 - divide((chosen.sum(axis=1) - 1) * disagreed, expected)

    return formula


def cohen_formula(weights: Weights, q: int) -> Formula:
    """Cohen's kappa of cross tables, flat: totals of shape (resamples, q²)."""
    ranks = np.arange(q)
    apart = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    cost = {Weights.NONE: (apart > 0).astype(np.float64), Weights.LINEAR: apart, Weights.QUADRATIC: apart**2}[
        weights
    ]

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        expected = (table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :] * cost).sum(axis=(1, 2))
        return 1 - divide(n * (table * cost).sum(axis=(1, 2)), expected)

    return formula
