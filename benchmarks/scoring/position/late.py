"""Scores on chosen texts, as those whose content lies late, beside random subsets of that size (section 4.2)."""

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
    scored = ((text.score(score), is_late(text, from_word=from_word)) for text in texts)
    known = [(value, late, "") for value, late in scored if value is not None]
    reason = f"under {MIN_TEXTS} texts whose content lies late, or of the others"
    return beside_random(known, reason=reason, resampling=resampling)


def beside_random(
    texts: Sequence[tuple[float, bool, str]], *, reason: str, resampling: Resampling = DEFAULT
) -> Late:
    """Compare the mean of chosen values with those of random subsets of all that take as many of each group.

    `texts` are (value, whether it is chosen, group); `reason` says what is missing where few are chosen or left.
    """
    n, n_all = sum(chosen for _value, chosen, _group in texts), len(texts)
    if min(n, n_all - n) < MIN_TEXTS:
        return Late(None, n, n_all, reason=reason)
    dice = np.random.default_rng(resampling.seed)
    total, expected = np.zeros(resampling.n_resamples), 0.0
    for group in sorted({group for _value, _chosen, group in texts}):
        known = sorted((value, chosen) for value, chosen, its in texts if its == group)  # drawn in this order
        values = np.array([value for value, _chosen in known], dtype=np.float64)
        size = sum(chosen for _value, chosen in known)
        if size == 0:
            continue
        expected += size * float(values.mean())
        keys = dice.random((resampling.n_resamples, len(values)))
        taken = np.argpartition(keys, size - 1, axis=1)[:, :size] if size < len(values) else slice(None)
        total += values[taken].sum(axis=1) if size < len(values) else values.sum()
    means = total / n
    value = sum(value for value, chosen, _group in texts if chosen) / n
    ends = (1 - resampling.level) / 2
    low, high = np.quantile(means, [ends, 1 - ends])
    return Late(
        value,
        n,
        n_all,
        expected=expected / n,
        low=float(low),
        high=float(high),
        share_below=float(np.mean(means < value - 1e-9) + np.mean(np.abs(means - value) <= 1e-9) / 2),
    )
