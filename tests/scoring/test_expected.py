"""Expected coverage beside labels and people."""

import numpy as np
import pytest

from benchmarks.scoring.comparison import Part, calibration, expected_figures, moment_sums
from benchmarks.scoring.ranking import pearson

HUMAN = [0, 0, 0.5, 1, 1, 0.5, 0, 1, 0, 1, 0.5, 1]
EXPECTED = [0.1, 0.2, 0.4, 0.9, 0.7, 0.5, 0.2, 0.8, 0.1, 0.6, 0.6, 0.9]
BY_LABEL = [0, 0, 0.5, 1, 0.5, 0.5, 0, 1, 0, 0.5, 1, 1]
CLUSTERS = [number // 2 for number in range(12)]


def test_the_correlations_are_those_of_the_plain_formula() -> None:
    found = expected_figures(EXPECTED, BY_LABEL, HUMAN, clusters=CLUSTERS)
    r = [float(np.corrcoef(side, HUMAN)[0, 1]) for side in (EXPECTED, BY_LABEL)]
    assert found.pearson.value == pytest.approx(r[0])
    assert found.label_pearson.value == pytest.approx(r[1])
    assert found.gain.value == pytest.approx(r[0] - r[1])
    assert found.bias.value == pytest.approx(np.mean(EXPECTED) - np.mean(HUMAN))


def test_the_gain_is_drawn_in_pairs() -> None:
    in_step = [0.1 + value / 2 for value in EXPECTED]
    same = expected_figures(EXPECTED, in_step, HUMAN, clusters=CLUSTERS)
    assert same.gain.value == pytest.approx(0)
    assert same.gain.low is None
    assert same.pearson.low is not None
    found = expected_figures(EXPECTED, BY_LABEL, HUMAN, clusters=CLUSTERS)
    assert found.gain.low is not None
    assert found.gain.n_clusters == 6


def test_parts_are_of_equal_size_by_what_was_expected() -> None:
    parts = calibration([0.9, 0.1] * 10, [1, 0.5, 0.75, 0] * 5)
    assert parts == (
        *[Part(2, pytest.approx(0.1), 0.25)] * 5,  # type: ignore[arg-type]
        *[Part(2, pytest.approx(0.9), 0.875)] * 5,  # type: ignore[arg-type]
    )
    assert [part.n for part in calibration([0.1, 0.2, 0.3], [0, 0, 1])] == [1, 1, 1]
    assert calibration([], []) == ()


def test_items_without_a_number_on_one_side_are_in_no_sum() -> None:
    first, second = np.array([0.0, 0.5, 1.0, np.nan, 1.0]), np.array([0.1, np.nan, 0.9, 0.5, 0.7])
    sums = moment_sums(first, second, np.array([0, 0, 1, 1, 1]), 2)
    assert sums[:, 0].tolist() == [1, 2]
    assert sums.sum(axis=0).tolist() == pytest.approx([3, 2, 1.7, 2, 0.01 + 0.81 + 0.49, 1.6])
    assert pearson([0, 1, 1], [0.1, 0.9, 0.7]).value == pytest.approx(
        (3 * 1.6 - 2 * 1.7) / np.sqrt((3 * 2 - 4) * (3 * 1.31 - 1.7**2))
    )
