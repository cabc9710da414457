"""Intervals over people: a double jackknife over annotators and clusters."""

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
from benchmarks.scoring.formulas import LeftOut, Rate, error_over_people
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.sums import People, Resampling, mean_of_defined, people_of

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
    items, people = measure(table, resampling=ITEMS), measure(table, resampling=OVER)
    assert people.value == items.value
    assert people.low < items.low
    assert people.high > items.high
    assert people.method.endswith("double jackknife over people and clusters")
    assert items.method.endswith("of these 8 annotators only")


def test_every_figure_of_a_category_is_over_people_too() -> None:
    table = ratings(8, odd=3)
    for over, items in zip(
        per_category(table, resampling=OVER), per_category(table, resampling=ITEMS), strict=True
    ):
        assert over.agreement.value == items.agreement.value
        assert over.agreement.low < items.agreement.low


EXAMPLE = ("00001", "22212", "00100", "22222", "10121", "00000", "21222", "11210")
"""Eight items, each its own cluster, by five annotators."""


@pytest.mark.parametrize(
    ("fifth", "expected"),
    [("", (0.4375, 0.0156, 0.0199, 0.0321, 0.1410, 7, 0.1040, 0.7710)),
     ("10210201", (0.1563, 0.1078, 0.0088, 0.0239, 0.3045, 4, -0.5, 1.0))],
)  # fmt: skip
def test_the_worked_examples(fifth: str, expected: tuple[float, ...]) -> None:
    codes = np.array([[int(code) for code in row] for row in EXAMPLE])
    if fifth:
        codes[:, 4] = [int(code) for code in fifth]
    table = Ratings(codes, tuple("abc"), tuple("vwxyz"))
    found = randolph_kappa(table, resampling=OVER)
    error = error_over_people(found.value or 0.0, without(table))
    assert (
        found.value, error.of_people, error.of_clusters, error.of_both, error.se, error.df, found.low, found.high
    ) == pytest.approx(expected, abs=5e-5)  # fmt: skip


def without(table: Ratings) -> LeftOut:
    """Randolph's kappa of the labels that are left, one computation for each."""

    def kappa(codes: np.ndarray) -> float:
        value = randolph_kappa(Ratings(codes, table.categories, table.raters)).value
        assert value is not None
        return value

    def less(item: int | slice, rater: int | slice) -> np.ndarray:
        codes = table.codes.copy()
        codes[item, rater] = -1
        return codes

    n, m = table.codes.shape
    return LeftOut(
        np.array([kappa(less(slice(None), rater)) for rater in range(m)]),
        np.array([kappa(np.delete(table.codes, item, axis=0)) for item in range(n)]),
        np.array([[kappa(less(item, rater)) for item in range(n)] for rater in range(m)]),
    )


def test_under_five_people_there_is_no_interval_over_them() -> None:
    found = percent_agreement(ratings(4), resampling=OVER)
    assert found.low is None
    assert found.interval_reason == "no interval over people under 5 annotators"
    assert percent_agreement(ratings(4), resampling=ITEMS).low is not None


def test_ordinal_alpha_equals_its_figure_over_items() -> None:
    table = ratings(6, odd=1)
    over = krippendorff_alpha(table, level=Level.ORDINAL, resampling=OVER)
    assert over.value == krippendorff_alpha(table, level=Level.ORDINAL).value
    assert over.low < over.value < over.high


def test_people_are_left_out_of_means_and_of_pooled_shares() -> None:
    rng = np.random.default_rng(3)
    hits = [np.column_stack([rng.integers(0, 5, 10), np.full(10, 4)]).astype(float) for _pair in range(10)]
    pairs = [(a, b) for a in range(5) for b in range(a)]
    batch = Batch(10, OVER)
    blocks = [batch.add(block) for block in hits]
    people = people_of(pairs, 5, OVER)
    assert people == People(tuple(pairs), 5)
    assert people_of(pairs, 5, ITEMS) is None
    figure = Rate.of("share", "nothing")
    for made, by_pair in (
        (batch.estimate(figure, blocks, people=people), True),
        (batch.pooled(figure, blocks, people=people), False),
    ):
        assert made.left_out is not None
        found = made.left_out()

        def share(kept: list[np.ndarray], *, by_pair: bool = by_pair) -> float:
            if by_pair:
                return float(np.mean([block[:, 0].sum() / block[:, 1].sum() for block in kept]))
            return float(sum(block[:, 0].sum() for block in kept) / sum(block[:, 1].sum() for block in kept))

        others = [block for pair, block in zip(pairs, hits, strict=True) if 2 not in pair]
        assert found.people[2] == pytest.approx(share(others))
        assert found.clusters[7] == pytest.approx(share([np.delete(block, 7, axis=0) for block in hits]))
        cut = [
            np.delete(block, 7, axis=0) if 2 in pair else block for pair, block in zip(pairs, hits, strict=True)
        ]
        assert found.cells[2, 7] == pytest.approx(share(cut))
        difference = made.minus(made)
        assert difference.n_people == 5
        assert difference.stat(n_items=40).interval_reason == "the same without any of the people or clusters"


def test_a_mean_leaves_out_what_is_undefined() -> None:
    found = mean_of_defined(np.array([[1.0, np.nan, 4.0], [np.nan, np.nan, np.nan]]))
    assert found[0] == pytest.approx(2.5)
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
        codes = np.where(rng.random((90, 10)) < skills, right[:, None], rng.integers(0, 3, (90, 10)))
        table = Ratings(
            codes, tuple("abc"), tuple(map(str, range(10))), tuple(np.repeat(np.arange(15), 6).tolist())
        )
        for name, resampling in (("people", OVER), ("items", ITEMS)):
            found = percent_agreement(table, resampling=replace(resampling, seed=repetition, n_resamples=500))
            held[name] += found.low <= truth <= found.high
    assert held["people"] >= 53
    assert held["items"] < held["people"] - 10
