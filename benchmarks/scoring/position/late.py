"""Scores on texts whose content lies late, beside those on random subsets of the same size (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.position.placing import Placed

LATE_FROM = 1_200
"""Words before the earliest sentence that the reference follows, at least."""
MIN_TEXTS = 5
"""No comparison with fewer late texts, or with fewer others."""


@dataclass(frozen=True, slots=True)
class Late:
    """The mean score of texts whose content lies late, and of random subsets of all texts of the same size.

    `low` and `high` hold 95 of 100 such subsets; `share_below` is the share of them whose mean is lower, half of
    the equal ones counted. `value` is None, with a reason, where there are too few texts.
    """

    value: float | None
    n: int
    n_all: int
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    share_below: float | None = None
    reason: str = ""


def is_late(text: Placed, *, from_word: int = LATE_FROM) -> bool:
    """Whether the reference follows some sentence, and none that starts before this many words."""
    first = text.placement.reference.first_word
    return first is not None and first >= from_word


def late_score(
    texts: Sequence[Placed], score: str, *, from_word: int = LATE_FROM, resampling: Resampling = DEFAULT
) -> Late:
    """Compare a score on late texts with that on random subsets, drawn without putting texts back."""
    scored = ((one.score(score), is_late(one, from_word=from_word)) for one in texts)
    known = sorted((value, late) for value, late in scored if value is not None)  # drawn in this order
    values = np.array([value for value, _late in known], dtype=np.float64)
    late = np.array([late for _value, late in known], dtype=bool)
    n, n_all = int(late.sum()), len(known)
    if min(n, n_all - n) < MIN_TEXTS:
        return Late(None, n, n_all, reason=f"under {MIN_TEXTS} texts whose content lies late, or of the others")
    value = float(values[late].mean())
    dice = np.random.default_rng(resampling.seed)
    keys = dice.random((resampling.n_resamples, n_all))
    means = values[np.argpartition(keys, n, axis=1)[:, :n]].mean(axis=1)
    ends = (1 - resampling.level) / 2
    low, high = np.quantile(means, [ends, 1 - ends])
    return Late(
        value,
        n,
        n_all,
        expected=float(values.mean()),
        low=float(low),
        high=float(high),
        share_below=float(np.mean(means < value - 1e-9) + np.mean(np.abs(means - value) <= 1e-9) / 2),
    )
