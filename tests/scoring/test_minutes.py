"""Human minutes that a system is worth, and the time to a share of its score: known crossings, and intervals."""

import math

import numpy as np
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from benchmarks.scoring.components import TOO_FEW_SESSIONS, Minutes, drawn_through, minutes_worth
from benchmarks.scoring.coverage_check import simulated_minutes
from benchmarks.scoring.sessions import Session, first_reaching, kaplan_meier, restricted_mean, time_to_score
from benchmarks.scoring.sums import BadShape, Resampling

MARKS = [10.0, 20.0, 30.0, 40.0]


def worth(rows: list[list[float]], target: float, subtopics: list[str] | None = None) -> Minutes:
    of = subtopics or ["a"] * len(rows)
    found = minutes_worth(np.array(rows), marks=MARKS, subtopics=of, targets=dict.fromkeys(of, target))
    assert found is not None
    return found


def test_the_crossing_is_read_off_the_mean_straight_between_marks() -> None:
    rows = [[0.2, 0.4, 0.6, 0.6], [0.0, 0.2, 0.6, 1.0]]
    assert worth(rows, 0.3).value == pytest.approx(20)
    assert worth(rows, 0.45).value == pytest.approx(25)
    assert worth(rows, 0.05).value == pytest.approx(5)
    assert worth(rows, 0.0).value == 0


def test_what_people_never_reach_is_an_answer_of_its_own() -> None:
    found = worth([[0.1, 0.2, 0.3, 0.4]] * 8, 0.9)
    assert math.isinf(found.value)
    assert found.value == math.inf
    assert (found.low, found.high) == (math.inf, math.inf)


def test_the_first_crossing_counts_where_the_mean_falls_again() -> None:
    assert worth([[0.5, 0.2, 0.5, 0.5]], 0.4).value == pytest.approx(8)


def test_the_score_is_that_on_the_subtopics_of_the_sessions() -> None:
    values = np.array([[0.2, 0.4, 0.6, 0.8]] * 3)
    found = minutes_worth(values, marks=MARKS, subtopics=["a", "a", "b"], targets={"a": 0.3, "b": 0.6, "c": 0.0})
    assert found.target == pytest.approx(0.4)
    assert (found.n_sessions, found.n_subtopics, found.value) == (3, 2, pytest.approx(20))
    assert minutes_worth(values, marks=MARKS, subtopics=["x"] * 3, targets={"a": 0.3}) is None


def test_the_higher_mean_over_subtopics_may_be_reached_first_where_sessions_weigh_otherwise() -> None:
    values = np.array([[0.2, 0.4, 0.6, 0.8]] * 3)
    first, second = (
        minutes_worth(values, marks=MARKS, subtopics=["a", "a", "b"], targets={"a": of_a, "b": of_b})
        for of_a, of_b in ((0.6, 0.69), (0.7, 0.52))
    )
    assert (first.target, second.target) == (pytest.approx(0.63), pytest.approx(0.64))
    assert first.value < second.value


def test_few_sessions_get_a_minute_and_a_reason() -> None:
    found = worth([[0.2, 0.4, 0.6, 0.8]] * 4, 0.4)
    assert (found.value, found.low, found.high, found.reason) == (pytest.approx(20), None, None, TOO_FEW_SESSIONS)


def test_undefined_scores_are_passed_over_in_the_session_itself() -> None:
    nan = float("nan")
    rows = [[nan, 0.4, 0.6, 0.8], [nan, nan, 0.6, 0.8]]
    assert worth(rows, 0.4).value == pytest.approx(20)
    assert worth(rows, 0.2).value == pytest.approx(10), "not from 0 at the first mark, which nobody has"
    assert worth([*rows, [nan] * 4], 0.4).n_sessions == 2


def test_a_session_is_drawn_through_its_own_marks() -> None:
    own = {7.0: 0.7, 14.0: None, 21.0: 0.9, 25.0: 0.5}
    assert drawn_through(own, [3.5, 7.0, 14.0, 23.0, 25.0, 60.0]) == pytest.approx([0.35, 0.7, 0.8, 0.7, 0.5, 0.5])
    assert np.isnan(drawn_through({7.0: None}, MARKS)).all()


def test_sessions_with_marks_of_their_own_are_worth_the_same_minutes() -> None:
    grid = sorted({*np.arange(7.0, 60.0, 7.0), *np.arange(10.0, 61.0, 10.0)})
    every = [{at: at / 60 for at in np.arange(step, 60.0, step)} | {60.0: 1.0} for step in (7.0, 10.0)]
    values = np.array([drawn_through(own, grid) for own in every])
    for target in (0.05, 0.1, 0.5, 0.9):
        found = minutes_worth(values, marks=grid, subtopics=["a", "a"], targets={"a": target})
        assert found.value == pytest.approx(60 * target)


def test_shapes_must_fit() -> None:
    with pytest.raises(BadShape):
        minutes_worth(np.zeros((2, 3)), marks=MARKS, subtopics=["a", "b"], targets={"a": 0.5})


@pytest.mark.nightly
@pytest.mark.parametrize(("n_subtopics", "each"), [(5, 4), (10, 2), (20, 1), (4, 10)])
def test_intervals_hold_the_true_crossing(n_subtopics: int, each: int) -> None:
    rng = np.random.default_rng(n_subtopics)
    held = 0
    for seed in range(300):
        resampling = Resampling(seed=seed, n_resamples=600)
        found, crossing = simulated_minutes(
            rng, n_subtopics * each, n_subtopics=n_subtopics, resampling=resampling
        )
        held += found.low <= crossing <= found.high
    assert held / 300 >= 0.92


MINUTES = np.array([20.0, 30, 30, 50, 40, 60])
REACHED = np.array([True, True, True, True, False, False])


def test_the_worked_example() -> None:
    steps = kaplan_meier(MINUTES, REACHED)
    assert [step.minute for step in steps] == [20, 30, 50]
    assert [step.survival for step in steps] == pytest.approx([0.8333, 0.5, 0.25], abs=5e-5)
    assert [step.n_at_risk for step in steps] == [6, 5, 2]
    found = restricted_mean(MINUTES, REACHED, range(6), limit=60)
    assert found.value == pytest.approx(40.8333, abs=5e-5)
    assert found.low is not None
    assert (found.n_items, found.n_clusters) == (6, 6)


def test_the_curve_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    minutes, reached = rng.integers(1, 12, 60) * 10.0, rng.random(60) < 0.6
    expected = SurvfuncRight(minutes, reached.astype(int))
    steps = kaplan_meier(minutes, reached)
    known = dict(zip(expected.surv_times, expected.surv_prob, strict=True))
    assert [step.survival for step in steps] == pytest.approx([known[step.minute] for step in steps])


def session(writer: object, scores: list[float | None], target: float = 0.5) -> Session:
    return Session(str(writer), tuple(10.0 * (at + 1) for at in range(len(scores))), tuple(scores), target)


def test_a_session_reaches_a_level_at_its_first_mark_there_or_is_censored_at_its_last() -> None:
    one = session("ada", [0.1, 0.3, 0.26, 0.5])
    assert first_reaching(one, 0.25) == (20.0, True)
    assert first_reaching(one, 0.5) == (40.0, True)
    assert first_reaching(one, 0.6) == (40.0, False)
    assert first_reaching(session("ben", [None, 0.7]), 0.5) == (20.0, True)
    assert first_reaching(one, 0.0) == (0.0, True)
    with pytest.raises(BadShape):
        first_reaching(Session("cleo", (10.0,), (), 0.5), 0.5)


def test_each_session_has_the_level_of_its_own_subtopic() -> None:
    sessions = [session(at, [0.2, 0.4], target=0.4 if at % 2 else 0.8) for at in range(10)]
    found = time_to_score(sessions, share=0.5, limit=20)
    assert (found.n_reached, found.n_censored, found.n_writers) == (10, 0, 10)
    assert found.mean.value == pytest.approx(15.0)
    higher = time_to_score(sessions, share=0.9, limit=20)
    assert (higher.n_reached, higher.n_censored) == (5, 5)


def test_few_writers_have_a_mean_without_an_interval() -> None:
    found = time_to_score([session(at % 3, [0.1 * at]) for at in range(9)], share=0.5, limit=30)
    assert found.mean.interval_reason == "no interval under 5 writers"
    assert time_to_score([], share=0.5, limit=30).mean.undefined_reason.startswith("no session")
    same = time_to_score([session(at, [0.1, 0.5]) for at in range(8)], share=0.9, limit=30)
    assert (same.mean.value, same.mean.interval_reason) == (20.0, "the same without any writer")


def test_quitters_do_not_make_people_look_slower_and_the_interval_holds() -> None:
    """400 worlds of 12 writers on 3 sessions each, of whom a third quit by chance; marks every 5 minutes."""
    rng = np.random.default_rng(5)

    def world(n_writers: int, *, quits: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pace = np.repeat(rng.normal(0, 0.25, n_writers), 3)
        true = np.ceil(30 * np.exp(pace + rng.normal(0, 0.4, 3 * n_writers)) / 5) * 5
        end = np.where(rng.random(len(true)) < 1 / 3, rng.integers(1, 12, len(true)) * 5.0, 60.0)
        end = end if quits else np.full(len(true), 60.0)
        return np.minimum(true, end), true <= end, np.repeat(np.arange(n_writers), 3)

    minutes, reached, _writers = world(20_000, quits=False)
    truth = float(np.where(reached, minutes, 60.0).mean())
    held, errors = 0, []
    for _world in range(400):
        minutes, reached, writers = world(12, quits=True)
        found = restricted_mean(minutes, reached, writers.tolist(), limit=60)
        errors.append(found.value - truth)
        held += found.low <= truth <= found.high
    assert abs(np.mean(errors)) < 0.6
    assert 0.917 <= held / 400 <= 0.983
