"""Time to a share of a system's score: the worked example, another implementation, and worlds with quitters."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from benchmarks.scoring.sessions import Session, first_reaching, kaplan_meier, restricted_mean, time_to_score
from benchmarks.scoring.sums import BadShape

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
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        errors.append(found.value - truth)
        held += found.low <= truth <= found.high
    assert abs(np.mean(errors)) < 0.6
    assert 0.917 <= held / 400 <= 0.983
