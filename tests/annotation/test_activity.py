"""Active time of label tasks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.activity import worked_ms

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
