"""Active time of label tasks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.activity import Told, worked_ms

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@given(st.lists(st.integers(1, 400_000), max_size=30))
def test_time_is_the_sum_of_gaps_of_at_most_two_minutes(gaps: list[int]) -> None:
    at, total = NOW, 0
    for gap in gaps:
        then = at + timedelta(milliseconds=gap)
        total += worked_ms(since=at, now=then)
        at = then
    assert total == sum(gap for gap in gaps if gap <= 120_000)


def test_a_clock_that_steps_back_counts_nothing() -> None:
    assert worked_ms(since=NOW, now=NOW - timedelta(seconds=5)) == 0
    assert worked_ms(since=None, now=NOW) == 0


def test_no_gap_counts_how_long_the_clock_stood() -> None:
    def counted(gap_s: int, *, worked_s: int, stood_s: int) -> int:
        told = Told(worked_ms=worked_s * 1000, stood_ms=stood_s * 1000)
        return worked_ms(since=NOW, now=NOW + timedelta(seconds=gap_s), told=told)

    assert counted(60, worked_s=15, stood_s=45) == 15_000
    assert counted(60, worked_s=0, stood_s=90) == 0
    assert counted(60, worked_s=60, stood_s=-90) == 60_000
    assert counted(300, worked_s=20, stood_s=280) == 20_000
    assert counted(300, worked_s=250, stood_s=280) == 20_000
