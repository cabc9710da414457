"""Intervals: known values, simulated coverage of the truth, and the smallest samples that get one."""

import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from benchmarks.scoring.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha
from benchmarks.scoring.coverage_check import check
from benchmarks.scoring.coverage_worlds import WORLDS, check_worlds
from benchmarks.scoring.formulas import Figure, wilson_ends
from benchmarks.scoring.intervals import (
    TOO_RARE,
    Batch,
    Estimate,
    bootstrap_mean,
    bootstrap_ratio,
    figure_of,
    rate,
    wilson,
)
from benchmarks.scoring.ranking import moments, pearson, r_of_moments
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    BadShape,
    Floats,
    Resampling,
    cluster_index,
    expanded_tail,
    mean_of_ratios,
    ratio,
    sum_by_cluster,
)

QUICK = Resampling(n_resamples=200)


def ends(figure: Stat) -> tuple[float, float]:
    assert figure.low is not None
    assert figure.high is not None
    return figure.low, figure.high


def test_wilson_matches_the_worked_example() -> None:
    figure = wilson(157, 180)
    assert figure.value == pytest.approx(157 / 180)
    assert ends(figure) == pytest.approx((0.8156, 0.9133), abs=5e-5)


def test_wilson_at_the_edges_stays_within_0_and_1_and_has_a_width() -> None:
    assert wilson(0, 10).low == 0
    assert ends(wilson(0, 10))[1] > 0.2
    assert wilson(10, 10).high == 1
    assert wilson(0, 0).undefined_reason == "no items"
    with pytest.raises(BadShape):
        wilson(5, 4)


@given(st.integers(4, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_its_share(case: tuple[int, int]) -> None:
    hits, n = case
    low, high = ends(wilson(hits, n))
    assert 0 <= low <= hits / n <= high <= 1


def test_wilson_agrees_with_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    for hits, n in ((0, 9), (3, 9), (88, 99), (99, 99)):
        assert ends(wilson(hits, n)) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-12)


def test_the_same_seed_gives_the_same_interval_and_both_are_kept() -> None:
    values, keys = list(range(40)), [index % 8 for index in range(40)]
    first = bootstrap_mean(values, clusters=keys, resampling=Resampling(seed=3, n_resamples=300))
    again = bootstrap_mean(values, clusters=keys, resampling=Resampling(seed=3, n_resamples=300))
    other = bootstrap_mean(values, clusters=keys, resampling=Resampling(seed=4, n_resamples=300))
    assert first == again
    assert ends(first) != ends(other)
    assert (first.seed, first.n_resamples, first.n_clusters, first.n_items) == (3, 300, 8, 40)
    assert first.method == "mean, cluster bootstrap"


def test_repeating_items_within_clusters_does_not_narrow_the_interval() -> None:
    centres = np.random.default_rng(1).normal(size=20)
    once = bootstrap_mean(centres, clusters=list(range(20)))
    tenfold = bootstrap_mean(np.repeat(centres, 10), clusters=np.repeat(np.arange(20), 10).tolist())
    naive = bootstrap_mean(np.repeat(centres, 10))
    assert ends(tenfold) == pytest.approx(ends(once))
    assert np.ptp(ends(naive)) < 0.5 * np.ptp(ends(tenfold))


def test_a_bootstrap_of_a_mean_is_close_to_the_normal_interval() -> None:
    values = np.random.default_rng(2).normal(size=400)
    error = values.std(ddof=1) / np.sqrt(400)
    low, high = ends(bootstrap_mean(values))
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.02)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.02)


def test_small_samples_have_a_value_and_a_reason_instead_of_an_interval() -> None:
    few_items = bootstrap_mean([0.1, 0.2, 0.3])
    assert few_items.value == pytest.approx(0.2)
    assert few_items.low is None
    assert few_items.interval_reason == "no interval under 4 items"
    few_clusters = bootstrap_mean([1, 2, 3, 4, 5, 6], clusters=list("aabbcc"))
    assert few_clusters.low is None
    assert few_clusters.interval_reason == "no interval under 5 clusters"
    assert few_clusters.n_clusters == 3
    assert wilson(1, 3).interval_reason == "no interval under 4 items"
    assert bootstrap_mean([1, 2, 3, 4, 5, 6], clusters=list("abcdea")).low is not None


def test_a_mean_of_nothing_is_undefined() -> None:
    assert bootstrap_mean([]).undefined_reason == "nothing to average"
    assert bootstrap_ratio([0, 0], [0, 0], reason="no questions").undefined_reason == "no questions"


def test_rates_of_independent_items_take_wilson_and_the_clusters_otherwise() -> None:
    keys = [index // 4 for index in range(40)]
    sure = rate([1.0] * 40, clusters=keys)
    assert sure.method == "rate, Wilson interval over clusters"
    assert ends(sure) == pytest.approx((0.8301, 1.0), abs=5e-5)
    mixed = rate([float(key % 2) for key in keys], clusters=keys)
    assert mixed.method == "rate, cluster bootstrap"
    independent = rate([float(key % 2) for key in keys])
    assert independent.method == "rate, Wilson interval"
    assert np.ptp(ends(independent)) < np.ptp(ends(mixed))
    assert rate([1.0] * 40, clusters=keys).n_clusters == 10
    assert rate([]).value is None


def difference(first: Floats, second: Floats, figure: Figure) -> Estimate:
    """A figure of the rows of one side minus that of the other; every row is its own cluster."""
    batch = Batch(len(first))
    one, other = batch.add(first), batch.add(second)
    return batch.estimate(figure, [one]).minus(batch.estimate(figure, [other]))


def test_a_paired_difference_is_sharper_than_its_sides() -> None:
    rng = np.random.default_rng(5)
    base = rng.normal(size=60)
    ones = np.ones(60)
    shifted = base + 0.1 + rng.normal(scale=0.01, size=60)
    mean = Figure("mean", mean_of_ratios, "nothing")
    figure = difference(np.column_stack([shifted, ones]), np.column_stack([base, ones]), mean).stat(n_items=60)
    assert figure.value == pytest.approx(0.1, abs=0.01)
    low, high = ends(figure)
    assert 0 < low < 0.1 < high < 0.12
    assert figure.method == "paired difference, cluster bootstrap"
    nothing = difference(np.column_stack([base, ones]), np.column_stack([base, 0 * ones]), mean)
    assert nothing.stat(n_items=60).undefined_reason == "undefined on one side"


def test_any_two_figures_of_the_same_rows_can_be_compared() -> None:
    rng = np.random.default_rng(9)
    truth = rng.normal(size=80)
    near, far = truth + rng.normal(scale=0.3, size=80), truth + rng.normal(scale=2, size=80)
    correlation = Figure("Pearson", r_of_moments, "one side is constant")
    figure = difference(moments(truth, near), moments(truth, far), correlation).stat(n_items=80)
    assert figure.value == pytest.approx((pearson(truth, near).value or 0) - (pearson(truth, far).value or 0))
    assert ends(figure)[0] > 0.2


def test_a_figure_that_is_mostly_undefined_gets_no_interval() -> None:
    rows = np.array([[0.0, 0.0]] * 30 + [[1.0, 1.0]])
    figure = figure_of(Figure("share", ratio, "nothing"), rows, n_items=31)
    assert figure.value == 1
    assert figure.interval_reason == "undefined in too many resamples"


def test_any_figure_of_sums_can_be_resampled() -> None:
    values = np.random.default_rng(0).normal(size=50)
    keys = [index // 2 for index in range(50)]
    rows = np.column_stack([values, np.ones(50)])
    mean = Figure("mean", lambda totals: totals[:, 0] / totals[:, 1], "nothing")
    assert figure_of(mean, rows, clusters=keys, n_items=50) == bootstrap_mean(values, clusters=keys)
    assert figure_of(mean, rows[:3], n_items=3).interval_reason == "no interval under 4 items"
    never = Figure("never", lambda totals: np.full(len(totals), np.nan), "there is none")
    assert figure_of(never, rows, n_items=50).undefined_reason == "there is none"
    rarely = Figure("rarely", lambda totals: np.where(np.arange(len(totals)) % 2, np.nan, 1.0), "there is none")
    assert figure_of(rarely, rows, n_items=50).interval_reason == "undefined in too many resamples"


def test_shapes_that_do_not_match_are_refused() -> None:
    with pytest.raises(BadShape):
        cluster_index(["a"], 2)
    with pytest.raises(BadShape):
        bootstrap_ratio([1, 2], [1])


@given(st.lists(st.tuples(st.floats(-5, 5), st.sampled_from("abcdef")), min_size=1, max_size=30))
def test_sums_by_cluster_keep_the_total(rows: list[tuple[float, str]]) -> None:
    values, keys = [value for value, _ in rows], [key for _, key in rows]
    totals = sum_by_cluster(values, keys)
    assert totals.shape == (len(set(keys)), 1)
    assert totals.sum() == pytest.approx(sum(values))


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=5, max_size=40))
def test_an_interval_of_a_mean_stays_within_the_values_and_has_a_width(values: list[float]) -> None:
    figure = bootstrap_mean(values, resampling=QUICK)
    if figure.low is None:
        assert figure.interval_reason == "the same in every resample"
        return
    low, high = ends(figure)
    assert min(values) - 1e-12 <= low < high <= max(values) + 1e-12


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_figure_at_its_bound_gets_the_interval_of_its_effective_number_of_items(value: float) -> None:
    stat = bootstrap_mean([value] * 24, clusters=[at // 3 for at in range(24)], bounds=(0.0, 1.0))
    independent = (norm.ppf(0.975) / t.ppf(0.975, 7)) ** 2
    assert ends(stat) == pytest.approx(wilson_ends(value, 24 / (1 + 2 * 0.2) * independent))
    assert stat.n_clusters == 8
    stretched = bootstrap_mean([2 * value - 1] * 8, bounds=(-1.0, 1.0))
    expected = [2 * end - 1 for end in wilson_ends(value, 8 * independent)]
    assert ends(stretched) == pytest.approx(expected)


def test_one_error_never_makes_a_share_look_surer() -> None:
    keys = [at // 4 for at in range(40)]
    lows = [ends(rate([0.0] * wrong + [1.0] * (40 - wrong), clusters=keys))[0] for wrong in range(20)]
    assert lows == sorted(lows, reverse=True)
    assert lows[:2] == pytest.approx([0.8301, 0.8175], abs=5e-5)


def test_kappas_of_rare_labels_have_no_interval() -> None:
    keys = tuple(at // 10 for at in range(200))
    dice = np.random.default_rng(4)
    for share, reason in ((0.3, ""), (0.03, TOO_RARE)):
        truth = dice.random(200) < share
        codes = np.column_stack([truth, truth ^ (dice.random(200) < share / 4)]).astype(np.int64)
        table = Ratings(codes, ("no", "yes"), ("ada", "ben"), keys)
        for measure in (fleiss_kappa, cohen_kappa, krippendorff_alpha):
            assert measure(table, resampling=QUICK).interval_reason == reason
        assert gwet_ac1(table, resampling=QUICK).low is not None


def test_a_figure_at_its_bound_in_too_few_clusters_has_no_interval() -> None:
    stat = bootstrap_mean([1.0] * 24, clusters=[at // 6 for at in range(24)], bounds=(0.0, 1.0))
    assert (stat.low, stat.interval_reason) == (None, "no interval under 5 clusters")


def test_a_figure_between_its_bounds_that_never_varies_has_no_interval() -> None:
    stat = bootstrap_mean([0.5] * 24, bounds=(0.0, 1.0))
    assert (stat.low, stat.interval_reason) == (None, "the same in every resample")


def test_the_fewer_the_clusters_the_further_out_the_percentiles() -> None:
    sizes = (5, 10, 60, 100_000)
    expected = [norm.cdf(-((n / (n - 1)) ** 0.5) * t.ppf(0.975, n - 1)) for n in sizes]
    assert [expanded_tail(n) for n in sizes] == pytest.approx(expected)
    assert expected == sorted(expected)
    assert expected[0] < 0.001 < 0.0249 < expected[-1]


@pytest.mark.parametrize(("n", "least"), [(5, 0.87), (10, 0.92)])
def test_intervals_of_few_clusters_hold_the_true_mean_about_as_often_as_they_say(n: int, least: float) -> None:
    rng = np.random.default_rng(n)
    held = 0  # of 400, so that a share of .9 is known to ± .03
    for values in rng.normal(size=(400, n)):
        low, high = ends(bootstrap_mean(values))
        held += low <= 0 <= high
    assert held / 400 >= least


@given(data=st.data())
def test_the_same_rows_in_another_order_have_the_same_interval(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=8, max_size=40))
    clusters = [f"cluster {at % 7}" for at in range(len(values))]
    order = data.draw(st.permutations(range(len(values))))
    first = bootstrap_mean(values, clusters=clusters)
    again = bootstrap_mean([values[at] for at in order], clusters=[clusters[at] for at in order])
    assert (again.low, again.high) == pytest.approx((first.low, first.high))


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rows = list(check(clusters=[5, 12], repetitions=40, resampling=Resampling(n_resamples=600)))
    assert len({row.figure for row in rows}) * 2 == len(rows)
    for clusters, least in ((5, 0.87), (12, 0.91)):
        held = [row.coverage for row in rows if row.clusters == clusters and row.coverage is not None]
        assert len(held) >= 20
        assert sum(held) / len(held) >= least
        assert min(held) >= least - 0.1


def test_too_few_clusters_are_shown_without_an_interval() -> None:
    rows = list(check(clusters=[3], repetitions=3, resampling=Resampling(n_resamples=50)))
    assert {row.shown for row in rows} == {0.0}
    assert {row.coverage for row in rows} == {None}


def test_the_command_prints_a_row_for_each_figure() -> None:
    out = io.StringIO()
    call_command("simulate", "coverage", "--clusters", "5", "--repetitions", "2", "--json", stdout=out)
    rows = json.loads(out.getvalue())
    assert {row["world"] for row in rows} == {"ordinary", *WORLDS}
    assert {"figure", "clusters", "coverage", "mean_width", "repetitions"} <= set(rows[0])
    assert all(row["coverage"] is None or 0 <= row["coverage"] <= 1 for row in rows)
    with_widths = {row["world"] for row in rows if row["mean_width"]}
    assert with_widths >= WORLDS.keys() - {"ranks"}


def test_worlds_are_chosen_by_name() -> None:
    out = io.StringIO()
    call_command("simulate", "coverage", "--worlds", "edge", "--repetitions", "3", "--json", stdout=out)
    rows = json.loads(out.getvalue())
    assert {row["world"] for row in rows} == {"edge"}
    assert any(row["mean_width"] for row in rows)


def test_equal_systems_are_a_world() -> None:
    rows = list(check_worlds(["ranks"], repetitions=2))
    assert [(row.clusters, row.shown) for row in rows] == [(9, 1.0), (9, 1.0), (33, 1.0), (33, 1.0)]
