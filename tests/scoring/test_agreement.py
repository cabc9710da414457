"""Agreement: worked examples, gaps, unused categories, and the libraries on complete tables."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.scoring.agreement import (
    Level,
    Weights,
    alpha_formula,
    by_pair,
    by_subset,
    cohen_kappa,
    coincidences,
    disagreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    leave_one_out,
    per_category,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.ratings import Ratings, UnknownCategory
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import DEFAULT, Resampling

MULTIRATER: list[Callable[..., Stat]] = [
    percent_agreement,
    randolph_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
]


def table(*items: str, categories: str = "NPF") -> Ratings:
    """One string per item, one character per rater; any character that is no category is a gap."""
    raters = [str(column + 1) for column in range(max(map(len, items), default=0))]
    rows = [{str(at): mark for at, mark in enumerate(item, 1) if mark in categories} for item in items]
    return Ratings.from_rows(rows, categories=tuple(categories), raters=raters)


def values(ratings: Ratings) -> list[float | None]:
    return [figure(ratings).value for figure in MULTIRATER]


def test_three_annotators_who_rated_everything() -> None:
    ratings = table("FFF", "FPF", "NNN", "NPF", "PPN")
    assert disagreement(ratings) == pytest.approx([0, 2 / 3, 0, 1, 2 / 3])
    assert values(ratings) == pytest.approx([0.53333333, 0.3, 0.2905405, 0.3046358, 0.3378378], abs=5e-8)
    assert krippendorff_alpha(ratings, level=Level.ORDINAL).value == pytest.approx(0.5738721, abs=5e-8)
    assert krippendorff_alpha(ratings, level=Level.INTERVAL).value == pytest.approx(0.5731707, abs=5e-8)
    figure = randolph_kappa(ratings)
    assert (figure.n_items, figure.n_pairs, figure.method) == (5, 15, "Randolph's kappa, q = 3")


def test_two_ratings_missing() -> None:
    ratings = table("FFF", "FPF", "NNN", "NP.", "PP.")
    assert values(ratings) == pytest.approx([2 / 3, 0.5, 0.4983, 0.5008, 0.5714286], abs=5e-5)
    assert percent_agreement(ratings).n_pairs == 11


def test_an_item_rated_once_counts_for_the_shares_of_categories_only() -> None:
    ratings = table("FFF", "FPF", "N..", "NP.", "PP.")
    assert values(ratings)[1:4] == pytest.approx([0.375, 0.3729, 0.3760], abs=5e-5)
    assert disagreement(ratings)[2] is None
    assert percent_agreement(ratings).n_items == 4


def test_q_is_what_the_task_allows_not_what_occurs() -> None:
    assert randolph_kappa(table("NN", "FF", "NF", "FF", categories="NF")).value == pytest.approx(0.5)
    assert randolph_kappa(table("NN", "FF", "NF", "FF")).value == pytest.approx(0.625)


def test_fleiss_weighs_items_alike_whatever_their_number_of_ratings() -> None:
    assert fleiss_kappa(table("AAA", "AB", "BB", categories="AB")).value == pytest.approx(1 / 3)


PARADOX = ("NN",) * 180 + ("YY",) * 2 + ("NY",) * 9 + ("YN",) * 9


def test_the_paradox_of_high_agreement_and_low_kappa() -> None:
    ratings = table(*PARADOX, categories="NY")
    assert values(ratings) == pytest.approx([0.91, 0.82, 0.1342, 0.8996, 0.1364], abs=5e-5)
    assert cohen_kappa(ratings).value == pytest.approx(0.1342, abs=5e-5)


def two_by_two(cells: list[list[int]]) -> Ratings:
    marks = [
        a + b for a, row in zip("AB", cells, strict=True) for b, n in zip("AB", row, strict=True) for _ in range(n)
    ]
    return table(*marks, categories="AB")


def test_cohen_on_the_worked_table_with_an_interval_near_the_asymptotic_one() -> None:
    figure = cohen_kappa(two_by_two([[40, 9], [6, 45]]), resampling=Resampling(seed=1))
    assert figure.value == pytest.approx(0.6995192, abs=5e-8)
    assert figure.low == pytest.approx(0.5595904, abs=0.02)
    assert figure.high == pytest.approx(0.8394481, abs=0.02)


def test_a_constant_rater_makes_kappa_zero_and_two_make_it_undefined() -> None:
    assert cohen_kappa(two_by_two([[5, 5], [0, 0]])).value == pytest.approx(0)
    assert cohen_kappa(two_by_two([[9, 0], [0, 0]])).undefined_reason == "all ratings are the same"
    assert cohen_kappa(table("AB", "AB", "AB", categories="AB")).value == pytest.approx(0)


def test_cohen_uses_only_what_both_rated_and_wants_two_raters() -> None:
    assert cohen_kappa(table("AA", "A.", ".B", "BB", "AB", categories="AB")).n_items == 3
    assert cohen_kappa(table("A.", ".B", categories="AB")).undefined_reason == "no item was rated by both"
    with pytest.raises(ValueError, match="two raters"):
        cohen_kappa(table("AAA", categories="AB"))


def test_undefined_figures_say_why() -> None:
    single = table("A.", ".B", categories="AB")
    assert {figure(single).undefined_reason for figure in MULTIRATER} == {"no item has two ratings"}
    same = table("AA", "AA", categories="AB")
    assert fleiss_kappa(same).undefined_reason == "all ratings are the same"
    assert krippendorff_alpha(same).undefined_reason == "all ratings are the same"
    assert (percent_agreement(same).value, randolph_kappa(same).value, gwet_ac1(same).value) == (1, 1, 1)
    alone = table("AA", "AA", categories="A")
    assert randolph_kappa(alone).undefined_reason == "the task allows a single category"
    assert gwet_ac1(alone).undefined_reason == "the task allows a single category"
    assert percent_agreement(table(categories="AB")).value is None


def test_pairs_subsets_and_leaving_one_out() -> None:
    ratings = table("FFF", "FPF", "NNN", "NPF", "PPN")
    pairs = by_pair(percent_agreement, ratings)
    assert {pair: figure.value for pair, figure in pairs.items()} == pytest.approx(
        {("1", "2"): 0.6, ("1", "3"): 0.6, ("2", "3"): 0.4}
    )
    assert leave_one_out(percent_agreement, ratings)["3"] == pairs["1", "2"]
    assert leave_one_out(percent_agreement, ratings.only(["1", "2"])) == {}
    subsets = by_subset(randolph_kappa, ratings)
    assert list(subsets) == [("1", "2"), ("1", "3"), ("2", "3"), ("1", "2", "3")]
    assert subsets["1", "2", "3"].value == pytest.approx(0.3)


def test_specific_agreement_by_category() -> None:
    by_category = {row.category: row for row in per_category(table("FF", "FP", "PP", "NF"))}
    assert by_category["F"].agreement.value == pytest.approx(2 / 4)
    assert by_category["P"].agreement.value == pytest.approx(2 / 3)
    assert by_category["N"].agreement.value == 0
    assert by_category["F"].share == pytest.approx(0.5)
    unused = per_category(table("FF"))[0]
    assert unused.agreement.undefined_reason == "nobody gave this category"
    assert unused.share == 0
    assert {row.share for row in per_category(table("N.", ".F"))} == {None}, "no item was rated twice"


def test_merging_categories_keeps_gaps() -> None:
    merged = table("FP", "N.", "NF").merged({"N": "no", "P": "yes", "F": "yes"})
    assert merged.categories == ("no", "yes")
    assert merged.codes.tolist() == [[1, 1], [0, -1], [0, 1]]


def test_a_rating_outside_the_task_is_refused_with_its_place() -> None:
    with pytest.raises(UnknownCategory, match="item 2, ben: 'maybe'"):
        Ratings.from_rows([{"ben": "yes"}, {"ben": "maybe"}], categories=("yes", "no"))
    with pytest.raises(UnknownCategory):
        Ratings(np.array([[3]]), ("yes", "no"), ("ben",))


def test_absent_raters_and_none_are_gaps() -> None:
    ratings = Ratings.from_rows([{"ben": "yes", "cleo": None}, {"cleo": "no"}], categories=("yes", "no"))
    assert ratings.raters == ("ben", "cleo")
    assert ratings.codes.tolist() == [[0, -1], [-1, 1]]


def test_intervals_resample_clusters_and_repeat_under_a_seed() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (120, 3))
    codes[:, 1] = np.where(rng.random(120) < 0.7, codes[:, 0], codes[:, 1])
    codes[rng.random((120, 3)) < 0.1] = -1
    keys = tuple(index // 6 for index in range(120))
    ratings = Ratings(codes, ("N", "P", "F"), ("1", "2", "3"), keys)
    for figure in MULTIRATER:
        first = figure(ratings, resampling=Resampling(n_resamples=500))
        assert first == figure(ratings, resampling=Resampling(n_resamples=500))
        assert first.low < first.value < first.high
        assert first.n_clusters == 20
    for level in Level:
        figure_at = krippendorff_alpha(ratings, level=level, resampling=Resampling(n_resamples=500))
        assert figure_at.low < figure_at.value < figure_at.high
    few = Ratings(codes[:12], ("N", "P", "F"), ("1", "2", "3"), keys[:12])
    assert fleiss_kappa(few, resampling=Resampling()).interval_reason == "no interval under 5 clusters"


complete = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.text(alphabet="NPF", min_size=raters, max_size=raters), min_size=2, max_size=25)
)
gappy = st.lists(st.text(alphabet="NPF.", min_size=3, max_size=3), min_size=1, max_size=25)


@settings(deadline=None)
@given(complete)
def test_complete_tables_agree_with_statsmodels(items: list[str]) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as reference

    assume(len(set("".join(items))) > 1)
    ratings = table(*items)
    counts, _ = aggregate_raters(ratings.codes, n_cat=3)
    assert fleiss_kappa(ratings).value == pytest.approx(reference(counts, method="fleiss"))
    assert randolph_kappa(ratings).value == pytest.approx(reference(counts, method="randolph"))


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="NPF", min_size=2, max_size=2), min_size=2, max_size=30), st.sampled_from(Weights)
)
def test_cohen_agrees_with_scikit_learn(items: list[str], weights: Weights) -> None:
    from sklearn.metrics import cohen_kappa_score

    ratings = table(*items)
    first, second = ratings.codes.T
    assume(len(set(first.tolist()) | set(second.tolist())) > 1)
    named = None if weights is Weights.NONE else weights.value
    expected = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=named)
    assert cohen_kappa(ratings, weights=weights).value == pytest.approx(expected)


@settings(deadline=None)
@given(gappy, st.sampled_from(Level))
def test_the_resampled_alpha_is_the_same_alpha(items: list[str], level: Level) -> None:
    ratings = table(*items)
    expected = krippendorff_alpha(ratings, level=level)
    totals = coincidences(ratings.counts).sum(axis=0)[None, :]
    mine = float(alpha_formula(level, np.arange(3.0))(totals)[0])
    assert np.isnan(mine) if expected.value is None else mine == pytest.approx(expected.value)


@settings(deadline=None)
@given(gappy, st.permutations([0, 1, 2]), st.randoms())
def test_neither_the_order_of_items_nor_of_raters_matters(
    items: list[str], order: list[int], random: Random
) -> None:
    moved = ["".join(item[column] for column in order) for item in items]
    random.shuffle(moved)
    for figure in MULTIRATER:
        before, after = figure(table(*items)), figure(table(*moved))
        assert (before.value is None) == (after.value is None)
        assert before.value is None or after.value == pytest.approx(before.value)


@settings(deadline=None)
@given(gappy)
def test_agreement_is_bounded_and_perfect_only_when_nobody_differs(items: list[str]) -> None:
    ratings = table(*items)
    share = percent_agreement(ratings).value
    assume(share is not None)
    assert 0 <= share <= 1
    for figure in MULTIRATER:
        value = figure(ratings).value
        assert value is None or value <= 1 + 1e-12
        if value is not None:
            assert (value == pytest.approx(1)) == (share == pytest.approx(1))


def test_without_one_and_by_category_have_intervals_that_resample_clusters() -> None:
    rows = ["NNN", "FFP", "FFF", "PPN", "NPF", "PFF", "NPN", "FFF", "PPP"] * 3
    ratings = table(*rows)
    clusters = tuple(number // 2 for number in range(len(rows)))
    ratings = Ratings(ratings.codes, ratings.categories, ratings.raters, clusters)
    for stat in leave_one_out(percent_agreement, ratings, resampling=DEFAULT).values():
        assert stat.low < stat.value < stat.high
        assert stat.n_clusters == 14
    plain, drawn = per_category(ratings), per_category(ratings, resampling=DEFAULT)
    assert [row.agreement.value for row in plain] == [row.agreement.value for row in drawn]
    assert all(row.agreement.low is None for row in plain)
    for row in drawn:
        assert row.agreement.low < row.agreement.value < row.agreement.high
    few = per_category(table("NN", "FF", "NF"), resampling=DEFAULT)
    assert few[0].agreement.low is None
    assert few[0].agreement.interval_reason
