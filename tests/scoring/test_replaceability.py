"""The alternative annotator test: clones pass, constants fail, and few pass that should not."""

import numpy as np
import pytest

from benchmarks.scoring.replaceability import Distance, TooLittle, replaceability


def labels(rng: np.random.Generator, n: int, skills: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """A truth of three categories, and raters who know it so often and guess otherwise."""
    truth = rng.integers(0, 3, n)
    knows = rng.random((n, len(skills))) < np.array(skills)
    return truth, np.where(knows, truth[:, None], rng.integers(0, 3, (n, len(skills))))


def test_a_clone_of_an_annotator_passes_and_a_constant_fails() -> None:
    _truth, codes = labels(np.random.default_rng(1), 300, [0.8, 0.8, 0.8, 0.8])
    clone = replaceability(codes[:, :3], codes[:, 3])
    assert clone.passes
    assert clone.winning_rate == 1
    constant = replaceability(codes[:, :3], np.zeros(300, dtype=np.int64))
    assert not constant.passes
    assert constant.advantage < clone.advantage


def test_a_worked_example_by_hand() -> None:
    people = np.array([[0, 0, 0], [1, 1, 0], [2, 2, 2]] * 12)
    found = replaceability(people, np.array([0, 1, 1] * 12), epsilon=0.1)
    first = found.against[0]
    assert (first.n_items, first.judge, first.human) == (36, pytest.approx(2 / 3), 1.0)
    third = found.against[2]
    assert (third.judge, third.human) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_labels_with_values_are_as_near_as_their_values() -> None:
    partly = replaceability(np.array([[2, 2, 0]] * 40), np.full(40, 1), worth=(0.0, 0.5, 1.0))
    assert partly.against[2].judge == 1.0
    assert partly.against[0].judge == 1.0
    assert partly.against[0].human == 1.0


def test_few_annotators_or_items_are_refused() -> None:
    with pytest.raises(TooLittle, match="2 annotators and 40 items"):
        replaceability(np.zeros((40, 2), dtype=np.int64), np.zeros(40, dtype=np.int64))
    with pytest.raises(TooLittle, match="3 annotators and 20 items"):
        replaceability(np.zeros((20, 3), dtype=np.int64), np.zeros(20, dtype=np.int64))


def test_an_annotator_with_few_items_is_left_out_and_stays_among_the_others() -> None:
    _truth, codes = labels(np.random.default_rng(6), 300, [0.8, 0.8, 0.8, 0.8, 0.8])
    codes[29:, 3] = -1
    found = replaceability(codes[:, :4], codes[:, 4])
    assert [one.annotator for one in found.against] == [0, 1, 2]
    assert [(one.annotator, one.n_items, one.reason) for one in found.left_out] == [(3, 29, "fewer than 30 items")]
    assert found.against[0].human != replaceability(codes[:, :3], codes[:, 4]).against[0].human
    with pytest.raises(TooLittle, match="2 of 3 annotators have 30 items") as refused:
        replaceability(codes[:, [0, 1, 3]], codes[:, 4])
    assert [one.annotator for one in refused.value.left_out] == [2]


def test_an_annotator_with_items_of_one_cluster_is_left_out() -> None:
    _truth, codes = labels(np.random.default_rng(7), 100, [0.8, 0.8, 0.8, 0.8, 0.8])
    codes[40:, 3] = -1
    found = replaceability(codes[:, :4], codes[:, 4], clusters=[max(0, at - 39) for at in range(100)])
    assert [(one.annotator, one.reason) for one in found.left_out] == [(3, "items of one cluster only")]


def test_items_of_a_cluster_do_not_count_as_many() -> None:
    _truth, codes = labels(np.random.default_rng(3), 60, [0.8, 0.8, 0.8, 0.75])
    alone = replaceability(codes[:, :3], codes[:, 3])
    repeated = np.repeat(codes, 5, axis=0)
    clustered = replaceability(repeated[:, :3], repeated[:, 3], clusters=[at // 5 for at in range(300)])
    assert [one.p for one in clustered.against] == pytest.approx([one.p for one in alone.against])
    assert clustered.against[0].n_clusters == 60


def test_half_of_the_tests_are_won_as_statsmodels_corrects_them() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(4)
    for _ in range(20):
        _truth, codes = labels(rng, 60, [0.8, 0.7, 0.6, 0.5, 0.75])
        against = replaceability(codes[:, :4], codes[:, 4]).against
        won = multipletests([one.p for one in against], alpha=0.05, method="fdr_by")[0]
        assert [one.is_won for one in against] == won.tolist()


@pytest.mark.nightly
def test_few_judges_pass_that_stand_as_far_behind_as_is_allowed() -> None:
    """At the border, where the judge is epsilon behind, at most one in twenty may pass."""
    rng = np.random.default_rng(5)
    _truth, codes = labels(rng, 200_000, [0.8, 0.8, 0.8, 0.5])
    endless = replaceability(codes[:, :3], codes[:, 3], epsilon=0.0)
    border = float(np.mean([one.human - one.judge for one in endless.against]))
    passed = 0
    for _ in range(1_000):
        _truth, codes = labels(rng, 120, [0.8, 0.8, 0.8, 0.5])
        passed += replaceability(codes[:, :3], codes[:, 3], epsilon=border).passes
    assert passed <= 50


def test_the_root_mean_square_is_the_score_of_the_paper() -> None:
    """Others say 0 and 2: labels of 1 and of 0 are as far on average, but not by root mean square."""
    people = np.array([[0, 0, 2]] * 40)
    judge = np.full(40, 1)
    worth = (0.0, 0.5, 1.0)
    mean = replaceability(people, judge, worth=worth)
    root = replaceability(people, judge, worth=worth, distance=Distance.RMSE)
    assert (mean.against[0].judge, mean.against[0].human) == (1.0, 1.0)
    assert (root.against[0].judge, root.against[0].human) == (1.0, 0.0)
    assert (mean.distance, root.distance) == (Distance.ABSOLUTE, Distance.RMSE)
    assert replaceability(people, judge).distance is Distance.EXACT


def test_root_mean_squares_are_those_of_plain_numpy() -> None:
    _truth, codes = labels(np.random.default_rng(11), 120, [0.8, 0.6, 0.7, 0.7])
    found = replaceability(codes[:, :3], codes[:, 3], worth=(0.0, 0.5, 1.0), distance=Distance.RMSE)
    for one in found.against:
        others = [at for at in range(3) if at != one.annotator]
        sides = [
            -np.sqrt((((codes[:, at][:, None] - codes[:, others]) / 2) ** 2).mean(axis=1))
            for at in (3, one.annotator)
        ]
        assert one.judge == pytest.approx(np.mean(sides[0] >= sides[1] - 1e-9))


def test_the_advantage_has_an_interval_over_clusters_that_holds() -> None:
    rng = np.random.default_rng(12)
    keys = np.repeat(np.arange(20), 6).tolist()
    _truth, many = labels(rng, 60_000, [0.8, 0.7, 0.6, 0.7])
    truth = replaceability(many[:, :3], many[:, 3]).advantage
    held = 0
    for _world in range(300):
        _truth, codes = labels(rng, 120, [0.8, 0.7, 0.6, 0.7])
        found = replaceability(codes[:, :3], codes[:, 3], clusters=keys)
        held += found.low <= truth <= found.high
    assert 0.91 <= held / 300 <= 0.985
    few = replaceability(codes[:, :3], codes[:, 3], clusters=[at % 4 for at in range(120)])
    assert (few.low, few.high) == (None, None)


@pytest.mark.parametrize("n_clusters", [6, 12, 30])
def test_power_is_about_how_often_an_equal_judge_passes(n_clusters: int) -> None:
    """300 worlds each with a judge as skilled as the annotators, items in clusters of five."""
    rng = np.random.default_rng(n_clusters)
    keys = np.repeat(np.arange(n_clusters), 5).tolist()
    passed, power = 0, []
    for _world in range(300):
        _truth, codes = labels(rng, 5 * n_clusters, [0.7, 0.7, 0.7, 0.7])
        found = replaceability(codes[:, :3], codes[:, 3], clusters=keys)
        passed += found.passes
        power.append(found.power)
    assert np.mean(power) == pytest.approx(passed / 300, abs=0.12)
