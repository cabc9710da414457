"""Intervals of shares near 0 and 1, and of hits among what nobody looked at."""

import numpy as np
import pytest
from scipy.stats import hypergeom
from statsmodels.stats.proportion import proportion_confint

from benchmarks.scoring.formulas import (
    effective_n,
    is_rare,
    logit_ends,
    minority,
    share_ends,
    unseen_hits,
    wilson_ends,
)
from benchmarks.scoring.retrieval import Retrieved, qualities

SIZES = np.full(10, 4.0)


def test_the_worked_examples_of_shares() -> None:
    one_wrong = np.array([3.0, *[4.0] * 9])
    assert effective_n(SIZES, SIZES) == pytest.approx(18.7668, abs=5e-5)
    assert share_ends(1.0, SIZES, SIZES) == pytest.approx((0.8301, 1.0), abs=5e-5)
    assert effective_n(one_wrong, SIZES) == pytest.approx(23.0976, abs=5e-5)
    assert share_ends(39 / 40, one_wrong, SIZES) == pytest.approx((0.8175, 0.9971), abs=5e-5)


def test_the_worked_example_of_a_rare_joint_score() -> None:
    sums = np.array([0, 0.3, 0, 0.5, 0, 0, 0.4, 0, 0, 0.2])
    sizes = np.array([7.0, 9, 5, 8, 6, 7, 10, 4, 6, 8])
    assert sums.sum() / sizes.sum() == pytest.approx(0.02)
    assert logit_ends(sums, sizes) == pytest.approx((0.0083, 0.0474), abs=5e-5)


def test_wilson_is_that_of_statsmodels() -> None:
    assert wilson_ends(0.3, 20) == pytest.approx(proportion_confint(6, 20, method="wilson"))


def test_clusters_that_are_all_alike_inside_count_about_once_each() -> None:
    alike = np.array([0.0, 4, 0, 4, 4, 4, 0, 4, 4, 4])
    apart = np.full(10, 3.0)
    assert effective_n(alike, SIZES) < effective_n(apart, SIZES)
    assert effective_n(alike, SIZES) < 40 / (1 + 3 * 0.5)
    assert (is_rare(alike, SIZES), is_rare(alike * 5, SIZES * 5)) == (True, False)


def test_intervals_of_rare_shares_hold_the_truth_about_as_often_as_they_say() -> None:
    """1,000 worlds of 20 clusters, 2 % hits that come in clusters; bootstrap: .83."""
    rng = np.random.default_rng(1)
    sizes, held = np.full(20, 12.0), 0
    for _world in range(1000):
        hits = rng.binomial(12, rng.beta(0.2, 9.8, 20)).astype(float)
        low, high = share_ends(hits.sum() / sizes.sum(), hits, sizes)
        held += low <= 0.02 <= high
    assert 0.93 <= held / 1000 <= 0.995


def test_the_minority_is_what_is_not_the_commonest_category() -> None:
    assert minority(np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])).tolist() == [0.4, 0.0, 0.0]


def test_retrievers_near_1_are_judged_by_their_documents_and_an_oracle_has_no_interval_of_what_it_must_be() -> (
    None
):
    def found(subtopic: int, n_found: int) -> Retrieved:
        return Retrieved(subtopic, 12, 10, n_found, 7, 7 if n_found == 10 else 6, n_found / 10)

    all_found = [found(at, 10) for at in range(9)]
    one_missed = [found(at, 10 - (at == 0)) for at in range(9)]
    made = qualities({"oracle": all_found, "perfect": all_found, "near": one_missed}, oracles=["oracle"])
    perfect, near = made["perfect"].recall_documents, made["near"].recall_documents
    assert 0.8 < near.low <= perfect.low < 0.95
    assert made["oracle"].ndcg.interval_reason.startswith("1 by construction")
    assert made["oracle"].recall_documents == perfect
    assert made["perfect"].ndcg.low is not None


@pytest.mark.parametrize(("n", "n_others"), [(5, 40), (20, 40), (40, 10)])
def test_the_interval_holds_the_truth_in_95_of_100_draws_whatever_it_is(n: int, n_others: int) -> None:
    stats = {hits: unseen_hits(hits, n, n_others) for hits in range(n + 1)}
    for truth in range(n + n_others + 1):
        held = 0.0
        for hits, stat in stats.items():
            if stat.low <= truth - hits <= stat.high:
                held += hypergeom.pmf(hits, n + n_others, truth, n)
        assert held >= 0.95 - 1e-9


def test_nothing_is_estimated_of_nothing_and_all_of_all_is_known() -> None:
    assert unseen_hits(0, 0, 50).value is None
    everything = unseen_hits(3, 50, 0)
    assert (everything.value, everything.low) == (0.0, None)
    none_found = unseen_hits(0, 100, 9_000)
    assert none_found.value == 0.0
    assert none_found.high == pytest.approx(323, abs=15), "about three in a hundred, as the rule of three says"
