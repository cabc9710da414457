"""Intervals over people: annotators are drawn as well as clusters, never compared with themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scoring.agreement import (
    Level,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    per_category,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.draws import People, Resampling, people_drawn, people_of
from benchmarks.scoring.intervals import Batch, Rate
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.sums import mean_of_defined

OVER = Resampling(n_resamples=1_000, over_people=True)
ITEMS = replace(OVER, over_people=False)
MEASURES = [percent_agreement, randolph_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha]


def ratings(n_people: int, *, odd: int = 0, n_clusters: int = 12, seed: int = 1) -> Ratings:
    """Six items a cluster; the last `odd` people answer at random, the others nearly always right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 6 * n_clusters)
    right = np.where(np.arange(n_people) < n_people - odd, 0.9, 0.0)
    knows = rng.random((len(truth), n_people)) < right
    codes = np.where(knows, truth[:, None], rng.integers(0, 3, (len(truth), n_people)))
    people = tuple(f"p{at}" for at in range(n_people))
    return Ratings(codes, ("none", "partial", "full"), people, tuple(np.repeat(np.arange(n_clusters), 6).tolist()))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_figure_is_the_same_and_its_interval_wider_when_people_differ(measure: object) -> None:
    table = ratings(8, odd=3)
    items, people = measure(table, resampling=ITEMS), measure(table, resampling=OVER)  # type: ignore[operator]
    assert people.value == items.value
    assert people.low < items.low
    assert people.high > items.high
    assert people.method.endswith("bootstrap over people and clusters")


def test_every_figure_of_a_category_is_over_people_too() -> None:
    table = ratings(8, odd=3)
    for over, items in zip(
        per_category(table, resampling=OVER), per_category(table, resampling=ITEMS), strict=True
    ):
        assert over.agreement.value == items.agreement.value
        assert over.agreement.low < items.agreement.low  # type: ignore[operator]


def test_people_who_are_drawn_twice_do_not_agree_with_themselves() -> None:
    """Two camps that never agree across: a resample of one person several times has no pair at all."""
    codes = np.tile(np.arange(5) % 2, (40, 1))
    table = Ratings(codes, ("no", "yes"), tuple("abcde"), tuple(np.repeat(np.arange(10), 4).tolist()))
    found = percent_agreement(table, resampling=OVER)
    drawn = people_drawn(5, OVER)
    same = lambda weights: sum(weights[a] * weights[b] for a in range(5) for b in range(a) if (a - b) % 2 == 0)  # noqa: E731
    all_pairs = lambda weights: sum(weights[a] * weights[b] for a in range(5) for b in range(a))  # noqa: E731
    expected = [same(row) / all_pairs(row) for row in drawn if all_pairs(row)]
    assert found.value == pytest.approx(0.4)
    assert found.low == pytest.approx(np.quantile(expected, 0.001), abs=0.1)
    assert min(expected) == 0


def test_under_five_people_there_is_no_interval_over_them() -> None:
    found = percent_agreement(ratings(4), resampling=OVER)
    assert found.low is None
    assert found.interval_reason == "no interval over people under 5 annotators"
    assert percent_agreement(ratings(4), resampling=ITEMS).low is not None


def test_ordinal_alpha_equals_its_figure_over_items() -> None:
    table = ratings(6, odd=1)
    over = krippendorff_alpha(table, level=Level.ORDINAL, resampling=OVER)
    assert over.value == krippendorff_alpha(table, level=Level.ORDINAL).value
    assert over.low < over.value < over.high  # type: ignore[operator]


def test_blocks_count_as_often_as_their_people_are_drawn() -> None:
    drawn = people_drawn(6, OVER)
    assert drawn.shape == (1_000, 6)
    assert set(drawn.sum(axis=1)) == {6.0}
    pairs = people_of([(0, 1), (2,)], 6, OVER)
    assert pairs is not None
    assert np.array_equal(pairs.weights[:, 0], drawn[:, 0] * drawn[:, 1])
    assert np.array_equal(pairs.weights[:, 1], drawn[:, 2])
    assert people_of([(0, 1)], 6, ITEMS) is None


def test_a_mean_over_people_and_a_pooled_share_follow_the_draw() -> None:
    hits = [np.full((10, 2), (share, 1.0)) for share in (0.0, 0.5, 1.0, 1.0, 1.0)]
    batch = Batch(10, OVER)
    blocks = [batch.add(block) for block in hits]
    people = people_of([(at,) for at in range(5)], 5, OVER)
    assert isinstance(people, People)
    figure = Rate.of("share", "nothing")
    mean, pooled = batch.estimate(figure, blocks, people=people), batch.pooled(figure, blocks, people=people)
    assert mean.value == pooled.value == pytest.approx(0.7)
    assert mean.values == pytest.approx(people.weights @ [0.0, 0.5, 1.0, 1.0, 1.0] / 5)
    assert pooled.values == pytest.approx(mean.values)
    assert mean.minus(mean).n_people == 5


def test_a_weighted_mean_leaves_out_what_is_undefined() -> None:
    values = np.array([[1.0, np.nan, 4.0], [np.nan, np.nan, np.nan]])
    found = mean_of_defined(values, np.array([[2.0, 5.0, 1.0], [1.0, 1.0, 1.0]]))
    assert found[0] == pytest.approx(2.0)
    assert np.isnan(found[1])


def test_the_interval_holds_the_truth_of_all_annotators() -> None:
    """Annotators of very different skill: intervals over items alone are far too narrow for those to come."""
    held = {"people": 0, "items": 0}
    rng = np.random.default_rng(4)

    def agreement_of(skills: np.ndarray) -> float:
        """Of two of many annotators on average: both know, or one guesses."""
        both = np.mean([a * b for i, a in enumerate(skills) for j, b in enumerate(skills) if i != j])
        return float(both + (1 - both) / 3)

    truth = agreement_of(rng.beta(4, 2, 400))
    for repetition in range(60):
        skills = rng.beta(4, 2, 10)
        right = rng.integers(0, 3, 90)
        knows = rng.random((90, 10)) < skills
        codes = np.where(knows, right[:, None], rng.integers(0, 3, (90, 10)))
        table = Ratings(
            codes, tuple("abc"), tuple(map(str, range(10))), tuple(np.repeat(np.arange(15), 6).tolist())
        )
        for name, resampling in (("people", OVER), ("items", ITEMS)):
            found = percent_agreement(table, resampling=replace(resampling, seed=repetition, n_resamples=500))
            held[name] += found.low <= truth <= found.high  # type: ignore[operator]
    assert held["people"] >= 53
    assert held["items"] < held["people"] - 10
