"""Hits among what nobody looked at, from those among what was drawn by lot."""

from __future__ import annotations

import pytest
from scipy.stats import hypergeom

from benchmarks.scoring.formulas import unseen_hits


@pytest.mark.parametrize(("n", "n_others"), [(5, 40), (20, 40), (40, 10)])
def test_the_interval_holds_the_truth_in_95_of_100_draws_whatever_it_is(n: int, n_others: int) -> None:
    stats = {hits: unseen_hits(hits, n, n_others) for hits in range(n + 1)}
    for truth in range(n + n_others + 1):
        held = 0.0
        for hits, stat in stats.items():
            assert stat.low is not None
            assert stat.high is not None
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
