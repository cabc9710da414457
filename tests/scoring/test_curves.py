"""Progress over active time under both rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scoring.components import Cell, mean_over_writers
from benchmarks.scoring.sessions import BadCurve, CurveRule, SessionCurve, marks, measures_of, progress
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage, UnknownMeasure, Verdict, score_summary
from benchmarks.scoring.sums import Resampling
from benchmarks.scoring.text import lines_from_text

CARRIED, AT_WORK = CurveRule.CARRIED_FORWARD, CurveRule.STILL_AT_WORK
QUICK = Resampling(n_resamples=50)


def of(coverage: float, citation: float | None = 0.5) -> dict[str, float | None]:
    return {"coverage": coverage, "citation": citation, "precision": citation, "recall": citation, "joint": 0.0}


def full(key: str, *values: float) -> SessionCurve:
    points = {10 * (index + 1): of(value) for index, value in enumerate(values)}
    return SessionCurve(key, max(points), points)


def test_an_ended_session_is_carried_forward_or_left_out() -> None:
    early = SessionCurve("early", 15, {10: of(0.2), 15: of(0.4)})
    late = full("late", 0.0, 0.2, 0.6)
    carried = progress([early, late], measure="coverage", at_marks=[10, 20, 30], rule=CARRIED, resampling=QUICK)
    at_work = progress([early, late], measure="coverage", at_marks=[10, 20, 30], rule=AT_WORK, resampling=QUICK)
    assert [point.mean.value for point in carried.points] == pytest.approx([0.1, 0.3, 0.5])
    assert [point.mean.value for point in at_work.points] == pytest.approx([0.1, 0.2, 0.6])
    assert [point.n_sessions for point in carried.points] == [2, 2, 2]
    assert [point.n_sessions for point in at_work.points] == [2, 1, 1]
    assert [(point.mark_ms, point.is_carried) for point in carried.sessions if point.key == "early"] == [
        (10, False),
        (20, True),
        (30, True),
    ]


def test_a_session_that_ends_on_a_mark_is_at_work_there() -> None:
    curve = progress(
        [full("a", 0.1, 0.2)], measure="coverage", at_marks=[10, 20, 30], rule=AT_WORK, resampling=QUICK
    )
    assert [point.mean.value for point in curve.points] == [0.1, 0.2, None]
    assert curve.points[2].mean.undefined_reason == "no session lasted until here"


def test_what_is_not_scored_yet_is_counted_apart_from_what_is_undefined() -> None:
    waiting = SessionCurve("a", 20, {10: None, 20: of(0.4)})
    unscored = progress([waiting], measure="coverage", at_marks=[10, 20], rule=CARRIED, resampling=QUICK)
    assert unscored.points[0].mean.undefined_reason == "not scored yet"
    assert unscored.points[0].n_unscored == 1
    empty = SessionCurve("b", 20, {10: of(0.0, None), 20: of(0.4, 0.3)})
    citation = progress([empty], measure="citation", at_marks=[10, 20], rule=CARRIED, resampling=QUICK)
    assert citation.points[0].mean.undefined_reason == "nothing covered yet"
    assert citation.points[0].n_unscored == 0
    assert citation.sessions[0].value is None
    both = progress([waiting, empty], measure="coverage", at_marks=[10], rule=CARRIED, resampling=QUICK)
    assert (both.points[0].mean.value, both.points[0].mean.n_items, both.points[0].n_sessions) == (0.0, 1, 2)


def test_the_band_resamples_sessions_and_needs_five() -> None:
    sessions = [full(str(number), number / 10, number / 5) for number in range(5)]
    curve = progress(sessions, measure="coverage", at_marks=[10, 20], rule=CARRIED, resampling=Resampling(seed=7))
    first = curve.points[0].mean
    assert first.low < 0.2 < first.high
    assert (first.seed, first.n_clusters) == (7, 5)
    four = progress(sessions[:4], measure="coverage", at_marks=[10], rule=CARRIED, resampling=QUICK)
    assert four.points[0].mean.interval_reason == "no interval under 5 clusters"


def test_marks_end_at_the_limit() -> None:
    assert marks(limit_ms=7_200_000, mark_every_ms=600_000) == tuple(range(600_000, 7_200_001, 600_000))
    assert marks(limit_ms=25, mark_every_ms=10) == (10, 20, 25)


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadCurve, match="ended at 10 ms"):
        SessionCurve("a", 10, {20: of(0.1)})
    with pytest.raises(BadCurve, match="ascend"):
        progress([], measure="coverage", at_marks=[20, 10], rule=CARRIED)
    with pytest.raises(UnknownMeasure):
        progress([], measure="rouge", at_marks=[10], rule=CARRIED)


def test_a_scored_summary_gives_a_point() -> None:
    score = score_summary([("a", frozenset({1}))], {"a": Verdict(Coverage.FULL, (1,))}, lines_from_text("- x [1]"))
    assert measures_of(score.scores) == {"coverage": 1, "citation": 1, "precision": 1, "recall": 1, "joint": 1}


sessions_of = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=1, max_size=7).map(
    lambda rows: [full(str(index), *row) for index, row in enumerate(rows)]
)


@settings(deadline=None)
@given(sessions_of)
def test_the_rules_agree_until_the_first_session_ends_and_n_never_grows_after(
    sessions: list[SessionCurve],
) -> None:
    grid = list(range(10, 61, 10))
    first_end = min(session.end_ms for session in sessions)
    carried = progress(sessions, measure="coverage", at_marks=grid, rule=CARRIED, resampling=QUICK)
    at_work = progress(sessions, measure="coverage", at_marks=grid, rule=AT_WORK, resampling=QUICK)
    for one, other in zip(carried.points, at_work.points, strict=True):
        if one.mark_ms <= first_end:
            assert one.mean.value == other.mean.value
        assert one.n_sessions == len(sessions)
        assert 0 <= one.mean.value <= 1
    counts = [point.n_sessions for point in at_work.points]
    assert counts == sorted(counts, reverse=True)


def test_from_five_writers_on_the_interval_is_for_writers_and_subtopics_like_these() -> None:
    """It is that of people's mean on the leaderboard, and wider than one that takes sessions for independent."""
    rng = np.random.default_rng(2)
    own, hard = rng.normal(0, 0.1, 5), rng.normal(0, 0.1, 6)
    values = {(one, at): float(0.5 + own[one] + hard[at]) for one in range(5) for at in range(6)}

    def curve(n_writers: int, *, named: bool = True) -> Stat:
        sessions = [
            SessionCurve(
                f"{one} {at}", 10, {10: {"joint": value}}, writer=f"w{one}" if named else None, subtopic=at
            )
            for (one, at), value in values.items()
            if one < n_writers
        ]
        return progress(sessions, measure="joint", at_marks=(10,), rule=CurveRule.CARRIED_FORWARD).points[0].mean

    expected = mean_over_writers([Cell(f"w{one}", at, value) for (one, at), value in values.items()])
    found, plain = curve(5), curve(5, named=False)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert found.high - found.low > plain.high - plain.low
    few = curve(4)
    assert few.only_these == 4
    assert "of these 4 writers only" in few.method
