"""Figures of two raters are those of the formulas for many, and so are their intervals; correlation of columns."""

import warnings
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from benchmarks.scoring.agreement import (
    Level,
    Weights,
    cohen_kappa,
    krippendorff_alpha,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.formulas import Figure, Rate
from benchmarks.scoring.intervals import Batch, bootstrap_mean, rate
from benchmarks.scoring.pairs import (
    LINK_FIGURES,
    Column,
    Items,
    add_pair,
    chance_shares,
    estimates_of,
    hit_sums,
    pair_figures,
    stats_of,
)
from benchmarks.scoring.ranking import pearson
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import DEFAULT, BadShape, Ints, Resampling, draws, mean_of_ratios, shared_draws

FIGURES = pair_figures((0.0, 0.5, 1.0), has_covered=True)
LINKED = LINK_FIGURES["linking"]
CATEGORIES = ("none", "partial", "full")
codes = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(0, 6)), min_size=1, max_size=60)


def plain(rows: list[tuple[int, int, int]], *, resampling: Resampling | None = None) -> dict[str, Stat]:
    """The same figures by the formulas for any number of raters, on the rows that both rated."""
    both = [row for row in rows if row[0] >= 0 and row[1] >= 0]
    clusters = [cluster for _, _, cluster in both]
    answers = np.array([row[:2] for row in both], dtype=np.int64).reshape(-1, 2)
    table = Ratings(answers, CATEGORIES, ("human", "judge"), tuple(clusters))
    split = table.merged({"none": "not covered", "partial": "covered", "full": "covered"})
    how = {"resampling": resampling}

    def rate_where(truth: bool) -> Stat:
        chosen = [(judge > 0, cluster) for human, judge, cluster in both if (human > 0) is truth]
        hits, keys = [covers is truth for covers, _ in chosen], [cluster for _, cluster in chosen]
        return rate(hits, clusters=keys, resampling=resampling or DEFAULT)

    x, y = answers.T / 2
    return {
        "pearson": pearson(x, y, clusters=clusters, **how),
        "cohen_kappa": cohen_kappa(table, **how),
        "linear_kappa": cohen_kappa(table, weights=Weights.LINEAR, **how),
        "quadratic_kappa": cohen_kappa(table, weights=Weights.QUADRATIC, **how),
        "randolph_kappa": randolph_kappa(table, **how),
        "alpha_ordinal": krippendorff_alpha(table, level=Level.ORDINAL, **how),
        "covered.kappa": cohen_kappa(split, **how),
        "exact_agreement": percent_agreement(table, **how),
        "covered.accuracy": percent_agreement(split, **how),
        "covered.tpr": rate_where(True),
        "covered.tnr": rate_where(False),
    }


def column(answers: Ints) -> Column:
    nothing = np.zeros(len(answers), dtype=object)
    return Column(answers, nothing, nothing.astype(bool))


def from_tables(
    rows: list[tuple[int, int, int]], figures: Mapping[str, Figure] = FIGURES, q: int = 3
) -> dict[str, Stat]:
    human, judge, clusters = (np.array(side) for side in zip(*rows, strict=True))
    items = Items(clusters, int(clusters.max()) + 1, tuple(np.linspace(0, 1, q)), has_covered=True)
    batch = Batch(items.n_clusters)
    blocks = [add_pair(batch, items, column(human), column(judge))]
    return stats_of(batch, blocks, estimates_of(batch, blocks, figures))


@given(codes)
def test_every_figure_is_the_one_of_the_plain_formula(rows: list[tuple[int, int, int]]) -> None:
    found = from_tables(rows)
    for name, stat in plain(rows).items():
        assert (found[name].value is None) == (stat.value is None), name
        if stat.value is not None:
            assert found[name].value == pytest.approx(stat.value, abs=1e-12), name
            assert found[name].n_items == stat.n_items


def test_intervals_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(1)
    rows = [(int(h), int((h + (rng.random() < 0.3)) % 3), i // 6) for i, h in enumerate(rng.integers(0, 3, 240))]
    found = from_tables(rows)
    for name, stat in plain(rows, resampling=DEFAULT).items():
        assert stat.low is not None
        # Figures that are compared with others draw clusters in one order, one by itself in that of its sums.
        assert (found[name].low, found[name].high) == pytest.approx((stat.low, stat.high), abs=0.02), name
        assert found[name].n_clusters == 40


def test_a_figure_of_several_blocks_is_their_mean_where_defined() -> None:
    batch = Batch(6)
    half = batch.add(np.tile([1.0, 2.0], (6, 1)))
    whole = batch.add(np.tile([2.0, 2.0], (6, 1)))
    empty = batch.add(np.zeros((6, 2)))
    found = batch.estimate(LINKED, [half, whole, empty])
    assert found.value == 0.75
    assert set(found.values) == {0.75}
    nothing = batch.estimate(LINKED, [empty]).stat(n_items=0)
    assert (nothing.value, nothing.undefined_reason) == (None, "no insight is linked by both")


def test_a_difference_is_drawn_in_pairs() -> None:
    hits = np.random.default_rng(2).integers(0, 2, 100)
    batch = Batch(20)
    clusters = np.arange(100) % 20
    one = batch.add(hit_sums(hits, np.ones(100, dtype=int), clusters=clusters, n_clusters=20))
    stat = batch.estimate(LINKED, [one]).minus(batch.estimate(LINKED, [one])).stat(n_items=100)
    assert (stat.value, stat.low, stat.interval_reason) == (0.0, None, "the same in every resample")


def test_all_or_none_get_wilsons_interval_and_few_items_none() -> None:
    batch = Batch(8)
    sure = batch.estimate(Rate.of("m", ""), [batch.add(np.tile([3.0, 3.0], (8, 1)))]).stat()
    assert (sure.n_items, sure.high, sure.method, sure.n_clusters) == (
        24,
        1.0,
        "m, Wilson interval over clusters",
        8,
    )
    small = Batch(3)
    few = small.estimate(Figure("m", mean_of_ratios, ""), [small.add(np.ones((3, 2)))]).stat(n_items=3)
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


def test_rank_correlations_of_an_order_and_of_its_reverse() -> None:
    four = pair_figures((0.0, 1 / 3, 2 / 3, 1.0), has_covered=True)
    same = from_tables([(rank, rank, rank) for rank in range(4)], four, q=4)
    assert same["spearman"].value == pytest.approx(1)
    assert from_tables([(0, 2, 0), (1, 1, 1), (2, 0, 2)])["tau_b"].value == pytest.approx(-1)


@pytest.mark.parametrize("name", ["pearson", "spearman", "tau_b"])
def test_correlations_of_few_items_or_of_a_constant_side_are_undefined(name: str) -> None:
    reason = "under 3 items, or one side is constant"
    assert from_tables([(0, 0, 0), (2, 2, 1)])[name].undefined_reason == reason
    assert from_tables([(1, at % 3, at) for at in range(9)])[name].undefined_reason == reason
    assert from_tables([(at % 3, 2, at) for at in range(9)])[name].undefined_reason == reason
    three = from_tables([(0, 0, 0), (1, 2, 1), (2, 2, 2)])[name]
    assert three.value is not None
    assert three.interval_reason == "no interval under 4 items"


@pytest.mark.parametrize("name", ["pearson", "spearman", "tau_b"])
def test_correlations_are_resampled_by_cluster_and_symmetric(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 90)
    y = np.where(rng.random(90) < 0.7, x, rng.integers(0, 3, 90))
    there = from_tables([(int(a), int(b), at // 5) for at, (a, b) in enumerate(zip(x, y, strict=True))])[name]
    back = from_tables([(int(b), int(a), at // 5) for at, (a, b) in enumerate(zip(x, y, strict=True))])[name]
    assert there.low < there.value < there.high
    assert there.n_clusters == 18
    assert back.value == pytest.approx(there.value)


def test_a_link_to_the_seventieth_line_counts_like_any_other() -> None:
    masks = np.array([1 << 69 | 1, 0b11, 0], dtype=object)
    person = Column(np.array([1, 1, 1]), masks, masks.astype(bool))
    few = Column(person.codes[1:], masks[1:], masks[1:].astype(bool))
    assert chance_shares(person, np.array([100, 4, 4]), np.array([True, True, True])).tolist() == [0.02, 0.5, 0.0]
    assert chance_shares(few, np.array([4, 4]), np.array([True, True])).tolist() == [0.5, 0.0]


def test_known_values() -> None:
    x, y = [0, 0.5, 1, 1, 0], [0, 1, 1, 0.5, 0.5]
    assert pearson(x, y).value == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_too_few_points_or_a_constant_side_is_undefined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pearson([0, 1], [0, 1]).undefined_reason == "under 3 items"
        assert pearson([], []).undefined_reason == "under 3 items"
        assert pearson([0.1] * 9, range(9)).undefined_reason == "one side is constant"
        assert pearson(range(9), [1] * 9).undefined_reason == "one side is constant"


def test_three_points_have_a_value_and_no_interval() -> None:
    stat = pearson([0, 0.5, 1], [0, 1, 1], resampling=Resampling(n_resamples=50))
    assert stat.value is not None
    assert stat.interval_reason == "no interval under 4 items"


def test_intervals_resample_clusters() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([0, 0.5, 1], 90)
    y = np.where(rng.random(90) < 0.7, x, rng.choice([0, 0.5, 1], 90))
    stat = pearson(x, y, clusters=[index // 5 for index in range(90)], resampling=Resampling(n_resamples=200))
    assert stat.low < stat.value < stat.high
    assert stat.n_clusters == 18


def test_columns_must_run_in_parallel() -> None:
    with pytest.raises(BadShape):
        pearson([1, 2, 3], [1, 2])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1])), min_size=3, max_size=30))
def test_correlations_are_bounded_and_symmetric(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    there, back = pearson(x, y), pearson(y, x)
    assert there.undefined_reason == back.undefined_reason
    assert there.value is None or abs(there.value) <= 1
    assert there.value is None or back.value == pytest.approx(there.value)


@given(
    st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=3, max_size=20),
    st.floats(0.01, 100),
    st.floats(-1e6, 1e6),
)
def test_pearson_does_not_feel_scale_or_shift(x: list[float], scale: float, shift: float) -> None:
    y = [index % 3 + value / 7 for index, value in enumerate(x)]
    before, after = pearson(x, y), pearson([scale * value + shift for value in x], y)
    if before.value is not None and np.ptp(x) * scale > 1e-3 * max(1, abs(shift) * 1e-3):
        assert after.value == pytest.approx(before.value, abs=1e-4)
