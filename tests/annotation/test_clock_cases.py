"""The session clock case by case: marks, the grace, pauses, credits, and clocks of hosts that are set."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotation import clock
from annotation.clock import ClockState, Policy, Refusal, State
from tests.annotation.desk import T0, TWO_HOURS, Desk

MINUTE = 60_000


TEN_MARKS = tuple(range(600_000, 7_200_000, 600_000))


def started(state: ClockState = TWO_HOURS) -> Desk:
    desk = Desk(state)
    desk.run("start", T0)
    return desk


def test_a_session_without_a_save_has_eleven_empty_marks_and_an_empty_final_text() -> None:
    desk = started()
    desk.run("settle", T0 + 7_200_000 + 10_000)
    assert desk.snapshots == dict.fromkeys([*TEN_MARKS, 7_200_000])
    assert len(TEN_MARKS) == 11
    assert desk.final_ms == 7_200_000
    assert desk.state.state == State.EXPIRED


@pytest.mark.parametrize(("at", "text"), [(600_000, "late"), (600_001, "early")])
def test_a_save_at_the_mark_belongs_to_it_and_one_millisecond_later_does_not(at: int, text: str) -> None:
    desk = started()
    desk.save(T0 + 5, "early")
    desk.save(T0 + at, "late")
    desk.run("settle", T0 + 610_000)
    assert desk.snapshots == {600_000: text}


def test_a_second_save_in_the_millisecond_of_a_mark_is_not_missed() -> None:
    desk = started()
    desk.save(T0 + 600_000, "first")
    assert desk.snapshots == {}
    desk.save(T0 + 600_000, "second")
    desk.run("settle", T0 + 600_001)
    assert desk.snapshots == {600_000: "second"}


def test_hours_without_any_worker_are_made_up_by_one_look() -> None:
    desk = started()
    desk.save(T0 + 25 * MINUTE, "draft")
    assert desk.take(clock.settle(desk.state, T0 + 9 * 60 * MINUTE)).marks == TEN_MARKS[2:]
    assert desk.snapshots == {mark: None if mark < 25 * MINUTE else "draft" for mark in (*TEN_MARKS, 7_200_000)}
    assert desk.state.ended_at_ms == T0 + 7_200_000


def test_in_the_grace_the_clock_stands_at_the_limit_and_a_last_save_is_stamped_there() -> None:
    desk = started()
    assert desk.save(T0 + 7_200_000 + 9_999, "last")
    assert desk.saves[-1].active_ms == 7_200_000
    assert desk.state.state == State.RUNNING
    assert not desk.save(T0 + 7_200_000 + 10_000, "too late")
    assert desk.snapshots[7_200_000] == "last"
    assert desk.periods == [(T0, T0 + 7_200_000, "expired")]


def test_a_pause_in_the_grace_is_refused_so_that_no_time_is_won() -> None:
    desk = started()
    assert desk.take(clock.pause(desk.state, T0 + 7_200_000)).refused == Refusal.TIME_IS_UP
    assert desk.take(clock.pause(desk.state, T0 + 7_210_000)).refused == Refusal.OVER


@pytest.mark.parametrize(
    ("late", "state", "ended"), [(9_999, "submitted", 7_209_999), (10_000, "expired", 7_200_000)]
)
def test_a_submit_that_races_the_expiry_ends_the_session_once(late: int, state: str, ended: int) -> None:
    desk = started()
    desk.run("submit", T0 + 7_200_000 + late)
    desk.run("submit", T0 + 7_200_000 + late)
    desk.run("settle", T0 + 7_300_000)
    assert (desk.state.state, desk.state.ended_at_ms) == (state, T0 + ended)
    assert (desk.state.acc_ms, desk.final_ms) == (7_200_000, 7_200_000)
    assert desk.periods[0][1] == T0 + 7_200_000


def test_a_pause_on_the_mark_leaves_the_mark_open_until_work_goes_on() -> None:
    desk = started()
    desk.save(T0 + 600_000, "at the mark")
    desk.run("pause", T0 + 600_000)
    desk.run("settle", T0 + 5_000_000)
    assert desk.snapshots == {}
    desk.run("resume", T0 + 6_000_000)
    desk.save(T0 + 6_000_000, "still at the mark")
    desk.run("settle", T0 + 6_000_001)
    assert desk.snapshots == {600_000: "still at the mark"}


def test_an_end_on_a_mark_makes_one_final_snapshot_and_no_mark() -> None:
    desk = started()
    desk.save(T0 + 10, "text")
    done = desk.take(clock.submit(desk.state, T0 + 600_000))
    assert (done.marks, done.final_ms) == ((), 600_000)
    assert desk.snapshots == {600_000: "text"}


def test_two_beats_at_once_ask_for_each_snapshot_once() -> None:
    desk = started()
    first = desk.take(clock.settle(desk.state, T0 + 600_020))
    assert (first.marks, desk.take(clock.settle(desk.state, T0 + 600_020)).marks) == ((600_000,), ())


def test_a_host_clock_that_steps_back_holds_active_time_and_is_reported() -> None:
    desk = started()
    desk.save(T0 + 100_000, "before")
    done = desk.take(clock.touch(desk.state, T0 + 95_000))
    assert (done.active_ms, done.stepped_back_ms) == (100_000, 5_000)
    desk.save(T0 + 96_000, "held")
    assert desk.saves[-1].active_ms == 100_000
    assert desk.take(clock.touch(desk.state, T0 + 100_500)).stepped_back_ms == 0


def test_a_host_clock_that_is_set_gives_and_takes_no_working_time() -> None:
    hour, lease = 3_600_000, replace(TWO_HOURS, disconnect_policy=Policy.AUTO_PAUSE)
    for by in (hour, -hour):
        desk = started(lease)
        desk.run("touch", T0 + 599_000 - 450_000)
        desk.run("touch", T0 + 599_000 - 300_000)
        desk.run("touch", T0 + 599_000 - 150_000)
        done = desk.take(clock.host_clock_set(desk.state, T0 + 601_000 + by, by_ms=by))
        assert (done.active_ms, done.marks, done.stepped_back_ms) == (601_000, (600_000,), 0)
        assert desk.periods == [(T0, T0 + 601_000, "clock_set"), (T0 + 601_000 + by, None, "")]
        desk.run("touch", T0 + 620_000 + by)
        assert desk.seen_active == 620_000
        assert desk.state.lease_end_ms == T0 + 620_000 + by + 180_000
        done = desk.take(clock.host_clock_set(desk.state, T0 + 630_000, by_ms=-by))
        desk.run("settle", T0 + 640_000)
        assert (done.active_ms, desk.seen_active) == (630_000, 640_000)


def test_what_was_over_by_the_old_setting_is_over_and_a_pause_goes_on_by_the_new() -> None:
    desk = started()
    done = desk.take(clock.host_clock_set(desk.state, T0 + 7_300_000 - 9_000_000, by_ms=-9_000_000))
    assert (done.state.state, done.state.ended_at_ms) == ("expired", T0 + 7_200_000)
    desk = started()
    desk.run("pause", T0 + 1_000)
    desk.take(clock.host_clock_set(desk.state, T0 - 500_000, by_ms=-501_000))
    desk.run("resume", T0 - 400_000)
    desk.run("settle", T0 - 390_000)
    assert desk.seen_active == 11_000


def test_a_long_silence_or_a_jump_ahead_is_reported_once() -> None:
    desk = started()
    assert desk.take(clock.touch(desk.state, T0 + clock.GAP_MS)).gap_ms == clock.GAP_MS
    assert desk.take(clock.touch(desk.state, T0 + clock.GAP_MS + 20_000)).gap_ms == 0


def test_a_silent_session_pauses_itself_at_the_end_of_its_lease_and_time_never_runs_back() -> None:
    desk = started(replace(TWO_HOURS, disconnect_policy=Policy.AUTO_PAUSE))
    desk.run("touch", T0 + 60_000)
    desk.run("settle", T0 + 500_000)
    assert desk.periods == [(T0, T0 + 240_000, "lease")]
    assert desk.save(T0 + 501_000, "typed offline")
    assert desk.saves[-1].active_ms == 240_000
    desk.run("resume", T0 + 600_000)
    assert clock.active_ms(desk.state, T0 + 600_000) == 240_000


def test_a_session_says_how_long_it_waits_for_a_sign_before_it_pauses_itself() -> None:
    state = clock.start(replace(TWO_HOURS, disconnect_policy=Policy.AUTO_PAUSE), T0).state
    assert [clock.pauses_in_ms(state, T0 + t) for t in (0, 60_000, 180_000, 200_000)] == [180_000, 120_000, 0, 0]
    assert clock.pauses_in_ms(clock.start(TWO_HOURS, T0).state, T0) is None
    assert clock.pauses_in_ms(clock.pause(state, T0 + 1_000).state, T0 + 2_000) is None


def test_going_on_after_a_lapse_that_nobody_noticed_keeps_the_silence_out_of_the_time() -> None:
    desk = started(replace(TWO_HOURS, disconnect_policy=Policy.AUTO_PAUSE))
    desk.run("resume", T0 + 1_000_000)
    assert desk.periods == [(T0, T0 + 180_000, "lease"), (T0 + 1_000_000, None, "")]


def test_a_lease_that_outlasts_the_deadline_lets_the_session_end() -> None:
    desk = started(replace(TWO_HOURS, limit_ms=180_000, disconnect_policy=Policy.AUTO_PAUSE))
    desk.run("settle", T0 + 1_000_000)
    assert (desk.state.state, desk.state.ended_at_ms) == (State.EXPIRED, T0 + 180_000)


def test_a_closed_tab_does_not_stop_the_clock_unless_the_study_says_so() -> None:
    assert clock.active_ms(started().state, T0 + 3_600_000) == 3_600_000


def test_a_credit_in_the_grace_carries_on_from_the_real_time() -> None:
    desk = started()
    desk.save(T0 + 7_203_000, "in the grace")
    desk.run("credit", T0 + 7_204_000, 60_000)
    assert desk.seen_active == 7_204_000
    assert desk.snapshots[7_200_000] == "in the grace"
    assert clock.next_due_at(desk.state) == T0 + 7_270_000


def test_a_credit_never_cuts_time_already_worked_and_never_reaches_a_session_that_is_over() -> None:
    desk = started()
    assert clock.credit(desk.state, T0 + 60_000, delta_ms=-7_140_000).refused == Refusal.WOULD_CUT
    assert clock.credit(desk.state, T0 + 60_000, delta_ms=-7_139_999).state.limit_ms == 60_001
    desk.run("submit", T0 + 60_000)
    assert clock.credit(desk.state, T0 + 60_000, delta_ms=5).refused == Refusal.OVER


def test_a_reopened_session_is_paused_keeps_its_texts_and_gets_its_final_snapshot_anew() -> None:
    desk = started()
    desk.save(T0 + 7_000_000, "first")
    desk.run("settle", T0 + 8_000_000)
    desk.run("reopen", T0 + 9_000_000, 600_001)
    assert (desk.state.state, desk.final_ms, len(desk.snapshots)) == (State.PAUSED, None, 11)
    desk.run("resume", T0 + 9_100_000)
    desk.save(T0 + 9_200_000, "second")
    desk.run("settle", T0 + 10_000_000)
    assert (desk.snapshots[7_200_000], desk.snapshots[7_800_000]) == ("first", "second")
    assert (desk.final_ms, desk.snapshots[7_800_001]) == (7_800_001, "second")


def test_a_reopened_session_runs_on_after_a_host_clock_that_was_years_ahead() -> None:
    desk = started()
    desk.run("settle", T0 + 10**11)
    desk.run("reopen", T0 + 1_000, 600_000)
    desk.run("resume", T0 + 2_000)
    assert clock.active_ms(desk.state, T0 + 3_000) == 7_201_000


@pytest.mark.parametrize("verb", ["pause", "resume", "submit"])
def test_a_session_that_was_not_started_refuses_every_verb_but_start_and_void(verb: str) -> None:
    done = getattr(clock, verb)(TWO_HOURS, T0)
    assert done.refused == Refusal.NOT_STARTED
    assert done.state == replace(TWO_HOURS, clock_hwm_ms=T0)


def test_a_voided_session_that_was_never_started_has_no_snapshot() -> None:
    done = clock.void(TWO_HOURS, T0)
    assert (done.state.state, done.marks, done.final_ms) == (State.VOIDED, (), None)


@pytest.mark.parametrize("verb", ["start", "pause", "resume", "submit", "void"])
def test_every_transition_is_a_no_op_when_already_there(verb: str) -> None:
    desk = Desk(TWO_HOURS)
    for before in {"start": [], "resume": ["start", "pause"]}.get(verb, ["start"]):
        desk.run(before, T0)
    desk.run(verb, T0 + 1_000)
    done = getattr(clock, verb)(desk.state, T0 + 2_000)
    assert done.refused is None
    assert replace(done.state, clock_hwm_ms=0) == replace(desk.state, clock_hwm_ms=0)
    assert (done.closed, done.opened, done.final_ms) == (None, None, None)


@pytest.mark.parametrize("wrong", [{"limit_ms": 0}, {"mark_every_ms": 0}, {"lease_ms": 0}, {"grace_ms": -1}])
def test_a_clock_without_a_positive_limit_interval_or_lease_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        replace(TWO_HOURS, **wrong)


@settings(deadline=None)
@given(t=st.integers(0, 200))
@example(t=60)
def test_what_is_left_and_what_was_worked_make_the_limit(t: int) -> None:
    state = clock.start(ClockState(limit_ms=100, mark_every_ms=30), T0).state
    assert clock.active_ms(state, T0 + t) + clock.remaining_ms(state, T0 + t) == 100
    assert clock.next_mark_ms(state, T0 + t) == next((m for m in (30, 60, 90) if t <= m), None)
