"""Means over sources and over datasets, paired differences, and ROUGE beside another program's counts."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.scoring.position import (
    Scored,
    beside_random,
    difference,
    difference_over_datasets,
    mean_over_datasets,
    mean_over_sources,
)
from benchmarks.scoring.spread import NAMES, rouge

WORDS = ("the", "ferry", "leaves", "at", "six", "boats", "wait", "a", "cat", "sleeps", "42")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


def scored(**datasets: list[float]) -> list[Scored]:
    """A text for each value; items are numbered through, so that two lists of one shape have the same."""
    values = [(name, value) for name, several in datasets.items() for value in several]
    return [Scored(item, name, {"score": value}) for item, (name, value) in enumerate(values)]


@given(texts, texts)
def test_rouge_is_what_the_usual_program_counts(text: str, reference: str) -> None:
    ours = rouge([text], [reference])
    theirs = RougeScorer(list(NAMES), use_stemmer=False).score(reference, text)
    assert ours == {name: pytest.approx(theirs[name].fmeasure) for name in NAMES}


def test_every_source_or_every_dataset_counts_alike() -> None:
    """MiddleSum's Table 8: five parts of which one has half as many sources, 10.96 over all sources."""
    means = {"arxiv": 12.62, "pubmed": 10.97, "govreport": 13.26, "multi": 10.43, "screen": 4.07}
    parts = scored(**{name: [value] * (25 if name == "screen" else 50) for name, value in means.items()})
    assert mean_over_sources(parts, "score").value == pytest.approx(10.96, abs=0.005)
    assert mean_over_datasets(parts, "score").value == pytest.approx(fmean(means.values()))


def test_an_interval_over_datasets_is_that_of_the_means_added_up() -> None:
    found = mean_over_datasets(scored(a=[1.0, 2.0, 3.0, 4.0], b=[10.0, 10.0, 12.0, 12.0]), "score")
    # variances of the means 5/12 and 1/3; standard error of their mean √.75 / 2 = .4330; 5.93 degrees of freedom
    assert (found.value, found.n_items) == (6.75, 8)
    assert (found.low, found.high) == (pytest.approx(5.6875, abs=1e-3), pytest.approx(7.8125, abs=1e-3))
    assert mean_over_datasets(scored(a=[1.0, 2.0, 3.0], b=[1.0] * 9), "score").low is None
    assert mean_over_datasets([], "score").value is None


def test_intervals_over_datasets_hold_the_true_mean() -> None:
    dice = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        parts = scored(
            a=list(dice.normal(5, 1, 8)), b=list(dice.normal(20, 3, 6)), c=list(dice.normal(1, 0.2, 30))
        )
        found = mean_over_datasets(parts, "score")
        hits += found.low <= 26 / 3 <= found.high
    assert 0.92 <= hits / 400 <= 0.98


def test_differences_are_of_the_sources_that_both_have() -> None:
    first, second = scored(a=[5.0, 6.0, 7.0, 9.0]), scored(a=[4.0, 6.0, 5.0])
    found = difference(first, second, "score")
    assert (found.value, found.n_items) == (pytest.approx(1.0), 3)
    assert difference(first, [], "score").value is None
    ours, theirs = scored(a=[1.0] * 4, b=[8.0] * 8), scored(a=[0.0] * 4, b=[4.0] * 8)
    assert difference(ours, theirs, "score").value == pytest.approx(3.0)
    assert difference_over_datasets(ours, theirs, "score").value == pytest.approx(2.5)


def test_random_subsets_take_as_many_of_every_group() -> None:
    """Were groups mixed, half of the subsets would lie elsewhere: one group scores 0, the other 10."""
    rows = [(0.0, at < 5, "a") for at in range(20)] + [(10.0, at < 15, "b") for at in range(20)]
    found = beside_random(rows, reason="few")
    assert (found.value, found.expected, found.low, found.high) == (7.5, 7.5, 7.5, 7.5)
    assert (found.n, found.n_all, found.share_below) == (20, 40, 0.5)
    assert beside_random(rows[:6], reason="few").reason == "few"
