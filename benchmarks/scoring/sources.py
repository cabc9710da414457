"""Mean scores of texts on sources (MiddleSum, Tables 5 and 8), and differences of two systems on the same ones.

A source belongs to a dataset. Two means, both named: over all sources, and over datasets, each counting alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.means import bootstrap_mean
from benchmarks.scoring.oracle import TOKENS_PER_WORD
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval

WINDOWS = (2_048, 4_096, 8_192, 16_384, 32_768)
"""Lengths of context windows, in tokens (Figure 8)."""
MIN_OF_DATASET = 4
"""Sources that each dataset needs for an interval of their mean."""
OVER_DATASETS = "mean of the means of datasets"


@dataclass(frozen=True, slots=True)
class Scored:
    """What one system scored on one source; a measure that a text does not have is missing."""

    item: int
    dataset: str
    values: Mapping[str, float]


def mean_over_sources(texts: Sequence[Scored], measure: str, *, resampling: Resampling = DEFAULT) -> Stat:
    """The mean over the sources whose text has the measure, with an interval over sources."""
    known = sorted((text.values[measure], text.item) for text in texts if measure in text.values)
    return bootstrap_mean([value for value, _item in known], resampling=resampling, reason="no text has it")


def mean_over_datasets(texts: Sequence[Scored], measure: str) -> Stat:
    """The mean of the means of datasets, as the columns AVG of Table 5.

    The interval takes datasets as given and sources of each as a sample: the variances of means added up,
    Student's t with degrees of freedom after Satterthwaite. Without one where a dataset has too few sources.
    """
    return _over_strata(_by_dataset({(text.dataset, text.item): text.values.get(measure) for text in texts}))


def difference(
    first: Sequence[Scored], second: Sequence[Scored], measure: str, *, resampling: Resampling = DEFAULT
) -> Stat:
    """The first less the second on the sources that both have the measure of, with an interval over these."""
    apart = sorted(value for value in _apart(first, second, measure).values())
    method = "mean difference on the same sources"
    return bootstrap_mean(apart, resampling=resampling, method=method, reason="no source in common")


def difference_over_datasets(first: Sequence[Scored], second: Sequence[Scored], measure: str) -> Stat:
    """The mean over datasets of their mean differences on the same sources."""
    return _over_strata(_by_dataset(_apart(first, second, measure)))


def _apart(first: Sequence[Scored], second: Sequence[Scored], measure: str) -> dict[tuple[str, int], float]:
    theirs = {text.item: text.values[measure] for text in second if measure in text.values}
    return {
        (text.dataset, text.item): text.values[measure] - theirs[text.item]
        for text in first
        if measure in text.values and text.item in theirs
    }


def _by_dataset(values: Mapping[tuple[str, int], float | None]) -> dict[str, list[float]]:
    by_dataset: dict[str, list[float]] = defaultdict(list)
    for (dataset, _item), value in values.items():
        if value is not None:
            by_dataset[dataset].append(value)
    return by_dataset


def _over_strata(strata: Mapping[str, Sequence[float]]) -> Stat:
    if not strata:
        return Stat.undefined("no text has it", method=OVER_DATASETS)
    n_items = sum(len(values) for values in strata.values())
    value = fmean(fmean(values) for values in strata.values())
    if min(len(values) for values in strata.values()) < MIN_OF_DATASET:
        reason = f"no interval with under {MIN_OF_DATASET} sources in a dataset"
        return Stat(value, n_items=n_items, method=OVER_DATASETS, interval_reason=reason)
    parts = [(variance(values) / len(values), len(values) - 1) for values in strata.values()]
    total = sum(part for part, _df in parts)
    if not total:
        reason = "all sources of a dataset have the same score"
        return Stat(value, n_items=n_items, method=OVER_DATASETS, interval_reason=reason)
    df = total**2 / sum(part**2 / df for part, df in parts)
    low, high = t_interval(value, math.sqrt(total) / len(parts), df)
    return Stat(value, n_items=n_items, low=low, high=high, method=f"{OVER_DATASETS}, Student's t")


def visible_share(n_words: Sequence[int], window: int) -> float:
    """The mean share of sources, given by their words, that fits into a window of so many tokens."""
    return fmean(min(1.0, window / (TOKENS_PER_WORD * words)) if words else 1.0 for words in n_words)
