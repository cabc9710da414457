"""Ratings from 1 to 5: figures by hand, and against SciPy, scikit-learn and the krippendorff package."""

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from benchmarks.scoring.likert import MEAN, RatingTable, likert_report
from benchmarks.scoring.sums import BadShape

ASPECTS = ("overall", "informativeness", "quality", "coherence", "attributability")
N_ASPECTS = len(ASPECTS)


def table(values, *, people: int, systems=None, clusters=None) -> RatingTable:
    """A table of ratings of shape (summaries, raters, aspects), 0 for none; the first raters are people."""
    given = np.asarray(values, dtype=np.int64)
    n, raters = given.shape[:2]
    return RatingTable(
        given - 1,
        ASPECTS,
        tuple(f"person{at}" for at in range(people)),
        tuple(f"judge{at}" for at in range(raters - people)),
        tuple(systems or ["one"] * n),
        tuple(clusters or range(n)),
    )


def drawn(seed: int, *, n: int = 40, people: int = 3, judges: int = 1, gaps: float = 0.2):
    """Ratings near a common truth, some of them missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, (n, 1, N_ASPECTS))
    values = np.clip(truth + rng.integers(-1, 2, (n, people + judges, N_ASPECTS)), 1, 5)
    return np.where(rng.random((n, people + judges, 1)) < gaps, 0, values)


def same_on_all_aspects(columns: list[list[int]]):
    """The ratings of raters, each a list over summaries, equal on every aspect."""
    return np.repeat(np.array(columns).T[:, :, None], N_ASPECTS, axis=2)


def measure(report, name: str):
    return next(one for one in report.measures if one.measure == name)


def test_a_worked_example_of_two_people_and_a_judge() -> None:
    """Two people differ by one step on one of four summaries; the judge is one step above the first everywhere."""
    values = same_on_all_aspects([[1, 2, 3, 4], [1, 2, 3, 3], [2, 3, 4, 5]])
    report = likert_report(table(values, people=2), resampling=None)
    overall = measure(report, "overall")
    # 1 − Σ(a − b)² / expected: Σ = 1; expected = (1/4) Σ_ij (a_i − b_j)² = 32 / 4
    assert overall.people.stats["quadratic_kappa"].value == pytest.approx(1 - 1 / 8)
    assert overall.people.stats["exact_agreement"].value == 0.75
    # r = cov / sd: covariances 3.5, variances 5 and 2.75 (sums of squares)
    assert overall.people.stats["pearson"].value == pytest.approx(3.5 / (5 * 2.75) ** 0.5)
    judge = overall.judges[0]
    # With the first person r = 1, with the second as the first person has
    assert judge.stats["pearson"].value == pytest.approx((1 + 3.5 / (5 * 2.75) ** 0.5) / 2)
    # People's means are 1, 2, 3, 3.5: the judge is above by 1, 1, 1, 1.5
    assert judge.stats["difference"].value == pytest.approx(1.125)
    assert judge.n_items == 4
    mean = measure(report, MEAN)
    assert mean.judges[0].stats["difference"].value == pytest.approx(1.125)
    assert "exact_agreement" not in mean.people.stats
    people, by_judge = report.systems
    assert people.rows[0].stats["overall"].value == pytest.approx((1 + 2 + 3 + 3.5) / 4)
    assert by_judge.rows[0].stats[MEAN].value == pytest.approx(3.5)


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_of_scipy_scikit_learn_and_krippendorff(seed: int) -> None:
    values = drawn(seed)
    given = table(values, people=3)
    report = likert_report(given, resampling=None)
    for at, name in enumerate([*ASPECTS, MEAN]):
        of_measure = np.where(values > 0, values, np.nan).astype(float)
        raters = of_measure.mean(axis=2) if name == MEAN else of_measure[:, :, at]
        found = measure(report, name)
        sides = {
            "people": list(combinations(range(3), 2)),
            "judge": [(person, 3) for person in range(3)],
        }
        for who, pairs in sides.items():
            row = found.people if who == "people" else found.judges[0]
            expected: dict[str, list[float]] = {"pearson": [], "spearman": [], "tau_b": [], "quadratic_kappa": []}
            for one, other in pairs:
                both = np.isfinite(raters[:, one]) & np.isfinite(raters[:, other])
                x, y = raters[both, one], raters[both, other]
                expected["pearson"].append(stats.pearsonr(x, y).statistic)
                expected["spearman"].append(stats.spearmanr(x, y).statistic)
                expected["tau_b"].append(stats.kendalltau(x, y).statistic)
                if name != MEAN:
                    kappa = cohen_kappa_score(x, y, labels=[1, 2, 3, 4, 5], weights="quadratic")
                    expected["quadratic_kappa"].append(kappa)
            for figure, each in expected.items():
                if each:
                    assert row.stats[figure].value == pytest.approx(np.mean(each)), (name, who, figure)
        level = "interval" if name == MEAN else "ordinal"
        alpha = krippendorff.alpha(
            reliability_data=raters[:, :3].T, level_of_measurement=level, value_domain=list(given.worth_of(name))
        )
        assert found.people.stats["alpha"].value == pytest.approx(alpha), name


def test_the_mean_needs_all_aspects_and_a_judge_only_what_people_rated() -> None:
    values = np.full((6, 2, N_ASPECTS), 3)
    values[0, 1, 2] = 0  # the judge's answer on quality could not be used
    values[5, 0] = 0  # nobody rated the last summary
    report = likert_report(table(values, people=1), resampling=None)
    assert [measure(report, name).judges[0].n_items for name in (*ASPECTS, MEAN)] == [5, 5, 4, 5, 5, 4]
    assert report.n_rated == 5
    assert [side.rows[0].n for side in report.systems] == [5, 5]
    people = measure(report, "overall").people
    assert (people.n_items, people.stats["alpha"].value) == (0, None)


def test_what_nobody_shares_is_undefined_and_says_why() -> None:
    values = np.zeros((4, 2, N_ASPECTS), dtype=int)
    values[:2, 0] = 4
    values[2:, 1] = 2
    row = measure(likert_report(table(values, people=1), resampling=None), "coherence").judges[0]
    assert all(stat.value is None and stat.undefined_reason for stat in row.stats.values())
    assert likert_report(table(np.zeros((0, 1, N_ASPECTS)), people=1), resampling=None).n_rated == 0


def test_systems_are_ranked_by_people_and_by_a_judge() -> None:
    """Three systems on six subtopics: the judge turns the last two round."""
    systems, clusters, people, judge = [], [], [], []
    for subtopic in range(6):
        for system, ours, theirs in (("a", 5, 5), ("b", 3, 2), ("c", 2, 3)):
            systems.append(system)
            clusters.append(subtopic)
            people.append(ours)
            judge.append(theirs)
    values = same_on_all_aspects([people, judge])
    report = likert_report(table(values, people=1, systems=systems, clusters=clusters), resampling=None)
    ranking = report.systems[1].ranking
    assert ranking.kendall.value == pytest.approx(1 / 3)
    assert ranking.swapped == (("b", "c"),)
    means = {row.system: row.stats[MEAN].value for row in report.systems[0].rows}
    assert means == {"a": pytest.approx(5), "b": pytest.approx(3), "c": pytest.approx(2)}
    assert {row.system: row.own[MEAN].value for row in report.systems[0].rows} == {"a": 5, "b": 3, "c": 2}


def test_intervals_resample_clusters_and_hold_the_value() -> None:
    values = drawn(3, n=60, gaps=0.0)
    report = likert_report(table(values, people=3, clusters=[at // 4 for at in range(60)]))
    for one in report.measures:
        for row in (one.people, *one.judges):
            for stat in row.stats.values():
                assert stat.low <= stat.value <= stat.high
                assert stat.n_clusters == 15


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2))
def test_no_table_breaks_it_and_figures_stay_on_their_scales(seed: int, n: int, people: int, judges: int) -> None:
    values = drawn(seed, n=n, people=people, judges=judges, gaps=0.4)
    report = likert_report(table(values, people=people), resampling=None)
    for one in report.measures:
        for row in (one.people, *one.judges):
            for name, stat in (row.stats if row else {}).items():
                bound = 4 if name == "difference" else 1
                assert stat.value is None or -bound - 1e-9 <= stat.value <= bound + 1e-9 or name == "alpha"
    for side in report.systems:
        for system in side.rows:
            assert all(stat.value is None or 1 <= stat.value <= 5 for stat in system.stats.values())


def test_a_table_of_another_shape_is_refused() -> None:
    with pytest.raises(BadShape):
        RatingTable(np.zeros((2, 1, 4), dtype=np.int64), ASPECTS, ("a",), (), ("s", "s"), (1, 2))
