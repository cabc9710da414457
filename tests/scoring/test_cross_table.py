"""Figures from cross tables are those of the plain formulas, and so are their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from benchmarks.scoring.comparison import Comparison, compare
from benchmarks.scoring.cross_table import LINKED, cross_tables, hit_sums, pair_figures
from benchmarks.scoring.intervals import DEFAULT, BadShape, bootstrap_mean, draws, shared_draws
from benchmarks.scoring.linking import Compared
from benchmarks.scoring.resampled import Batch, rate_stat, spread
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage, Verdict

LABELS = (Coverage.NONE, Coverage.PARTIAL, Coverage.FULL)
FIGURES = pair_figures((0.0, 0.5, 1.0), has_covered=True)
PLAIN = {
    "pearson": "pearson",
    "cohen_kappa": "cohen",
    "linear_kappa": "cohen_linear",
    "quadratic_kappa": "cohen_quadratic",
    "randolph_kappa": "randolph",
    "alpha_ordinal": "alpha_ordinal",
    "covered.kappa": "covered_kappa",
    "exact_agreement": "exact",
    "covered.accuracy": "covered_accuracy",
    "covered.tpr": "covered_tpr",
    "covered.tnr": "covered_tnr",
}
codes = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(0, 6)), min_size=1, max_size=60)


def plain(rows: list[tuple[int, int, int]], *, with_intervals: bool = False) -> Comparison:
    def said(code: int) -> Verdict | None:
        return None if code < 0 else Verdict(LABELS[code])

    return compare(
        [Compared(said(h), said(j), cluster=c) for h, j, c in rows], resampling=DEFAULT if with_intervals else None
    )


def from_tables(rows: list[tuple[int, int, int]]) -> dict[str, Stat]:
    human, judge, clusters = (np.array(column) for column in zip(*rows, strict=True))
    batch = Batch(int(clusters.max()) + 1)
    block = batch.add(cross_tables(human, judge, q=3, clusters=clusters, n_clusters=batch.n_clusters))
    n = int(batch.total(block).sum())
    found = {}
    for name, rate in FIGURES.rates.items():
        hits, among = rate.counts(batch.total(block))
        found[name] = rate_stat(
            spread(batch, [block], rate), hits=hits, n=among, method=name, reason=rate.reason, resampling=DEFAULT
        )
    for name, (figure, reason) in FIGURES.others.items():
        found[name] = spread(batch, [block], figure).stat(
            n_items=n, method=name, reason=reason, resampling=DEFAULT
        )
    return found


@given(codes)
def test_every_figure_is_the_one_of_the_plain_formula(rows: list[tuple[int, int, int]]) -> None:
    expected, found = plain(rows), from_tables(rows)
    for name, attribute in PLAIN.items():
        stat: Stat = getattr(expected, attribute)
        assert (found[name].value is None) == (stat.value is None), name
        if stat.value is not None:
            assert found[name].value == pytest.approx(stat.value, abs=1e-12), name
            assert found[name].n_items == stat.n_items


def test_intervals_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(1)
    rows = [(int(h), int((h + (rng.random() < 0.3)) % 3), i // 6) for i, h in enumerate(rng.integers(0, 3, 240))]
    expected, found = plain(rows, with_intervals=True), from_tables(rows)
    for name, attribute in PLAIN.items():
        stat: Stat = getattr(expected, attribute)
        assert stat.low is not None
        # A rate over part of the items draws all clusters here, and only those with such items there.
        tolerance = 0.02 if name in {"covered.tpr", "covered.tnr"} else 1e-9
        assert (found[name].low, found[name].high) == pytest.approx((stat.low, stat.high), abs=tolerance), name
        assert found[name].n_clusters == 40


def test_a_figure_of_several_blocks_is_their_mean_where_defined() -> None:
    batch = Batch(6)
    half = batch.add(np.tile([1.0, 2.0], (6, 1)))
    whole = batch.add(np.tile([2.0, 2.0], (6, 1)))
    empty = batch.add(np.zeros((6, 2)))
    found = spread(batch, [half, whole, empty], LINKED)
    assert found.value == 0.75
    assert set(found.values) == {0.75}
    assert (
        spread(batch, [empty], LINKED).stat(n_items=0, method="", reason="none", resampling=DEFAULT).value is None
    )


def test_a_difference_is_drawn_in_pairs() -> None:
    rng = np.random.default_rng(2)
    hits = rng.integers(0, 2, 100)
    batch = Batch(20)
    clusters = np.arange(100) % 20
    one = batch.add(hit_sums(hits, np.ones(100, dtype=int), clusters=clusters, n_clusters=20))
    same = spread(batch, [one], LINKED).minus(spread(batch, [one], LINKED))
    stat = same.stat(n_items=100, method="difference", reason="", resampling=DEFAULT)
    assert (stat.value, stat.low, stat.high) == (0.0, 0.0, 0.0)


def test_all_or_none_get_wilsons_interval_and_few_items_none() -> None:
    batch = Batch(8)
    block = batch.add(np.tile([3.0, 3.0], (8, 1)))
    sure = rate_stat(spread(batch, [block], LINKED), hits=24, n=24, method="m", reason="", resampling=DEFAULT)
    assert (sure.high, sure.method, sure.n_clusters) == (1.0, "m, Wilson interval", 8)
    small = Batch(3)
    few = spread(small, [small.add(np.ones((3, 2)))], LINKED).stat(
        n_items=3, method="m", reason="", resampling=DEFAULT
    )
    assert (few.low, few.interval_reason) == (None, "no interval under 4 items")


def test_blocks_must_fit_and_come_before_the_draw() -> None:
    batch = Batch(5)
    with pytest.raises(BadShape):
        batch.add(np.ones((4, 2)))
    batch.drawn(batch.add(np.ones((5, 2))))
    with pytest.raises(BadShape):
        batch.add(np.ones((5, 2)))


def test_shared_draws_are_the_same_draws() -> None:
    values = list(np.random.default_rng(3).random(50))
    alone = bootstrap_mean(values)
    with shared_draws():
        first, second = bootstrap_mean(values), bootstrap_mean(values)
        pieces = [piece.copy() for piece in draws(50)]
    assert alone == first == second
    assert all((piece == again).all() for piece, again in zip(pieces, draws(50), strict=True))


@given(codes)
def test_rank_correlations_of_a_table_are_those_of_scipy(rows: list[tuple[int, int, int]]) -> None:
    both = [(human, judge) for human, judge, _ in rows if human >= 0 and judge >= 0]
    human, judge = [one for one, _ in both], [one for _, one in both]
    found = from_tables(rows)
    if len(both) < 3 or len(set(human)) < 2 or len(set(judge)) < 2:
        assert found["spearman"].value is None
        assert found["tau_b"].value is None
        return
    assert found["spearman"].value == pytest.approx(spearmanr(human, judge).statistic, abs=1e-12)
    assert found["tau_b"].value == pytest.approx(kendalltau(human, judge, variant="b").statistic, abs=1e-12)


def test_rank_correlations_by_hand() -> None:
    """Human 0 0 1 2, judge 0 1 1 2: five pairs are untied on each side; four agree, none is opposed."""
    found = from_tables([(0, 0, 0), (0, 1, 1), (1, 1, 2), (2, 2, 3)])
    assert found["tau_b"].value == pytest.approx(4 / 5)
    assert found["spearman"].value == pytest.approx(3.75 / 4.5)
