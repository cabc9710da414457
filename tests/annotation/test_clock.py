"""The clock: random traces at and around its boundaries, and the scenarios that are about time alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotation import clock
from annotation.clock import ClockState, Policy, Refusal, State

T0 = 1_700_000_000_000
MINUTE = 60_000
TWO_HOURS = ClockState(limit_ms=7_200_000, mark_every_ms=600_000)
TEN_MARKS = tuple(range(600_000, 7_200_000, 600_000))


@dataclass(frozen=True)
class Save:
    """A stored draft, as the shell would stamp it."""

    active_ms: int
    name: str


@dataclass
class Desk:
    """A shell in memory: applies verbs, keeps what they report, makes snapshots at once and never again."""

    state: ClockState
    saves: list[Save] = field(default_factory=list)
    periods: list[tuple[int, int | None, str]] = field(default_factory=list)
    snapshots: dict[int, str | None] = field(default_factory=dict)
    final_ms: int | None = None
    seen_active: int = 0

    def take(self, done: clock.Settlement) -> clock.Settlement:
        assert done.active_ms >= self.seen_active, "active time decreased"
        assert done.active_ms <= done.state.limit_ms
        self.seen_active = done.active_ms
        if done.closed:
            self.periods[-1] = (self.periods[-1][0], done.closed.ended_at_ms, done.closed.reason)
        if done.opened:
            assert done.opened.acc_before_ms == self.worked()
            self.periods.append((done.opened.started_at_ms, None, ""))
        for mark in (*done.marks, *(() if done.final_ms is None else (done.final_ms,))):
            assert mark not in self.snapshots, "a snapshot was asked for twice"
            self.snapshots[mark] = self.text_at(mark)
        if done.final_ms is not None:
            self.final_ms = done.final_ms
        self.state = done.state
        return done

    def text_at(self, mark: int) -> str | None:
        found = clock.snapshot_at(self.saves, mark)
        return found.name if found else None

    def worked(self) -> int:
        return sum(end - start for start, end, _ in self.periods if end is not None)

    def save(self, now: int, name: str) -> bool:
        """A draft arrives: kept while running, and in a pause that a lapsed lease made."""
        done = self.take(clock.touch(self.state, now))
        lapsed = done.state.state == State.PAUSED and self.periods[-1][2] == "lease"
        if done.state.state == State.RUNNING or lapsed:
            self.saves.append(Save(done.active_ms, name))
            return True
        return False

    def run(self, verb: str, now: int, delta_ms: int = 0) -> None:
        if verb == "save":
            self.save(now, f"{len(self.saves)}")
        elif verb == "reopen":
            done = clock.reopen(self.state, now, delta_ms=delta_ms)
            if done.refused is None and self.final_ms is not None:
                del self.snapshots[self.final_ms]
                self.final_ms = None
            self.take(done)
        elif verb == "credit":
            self.take(clock.credit(self.state, now, delta_ms=delta_ms))
        else:
            self.take(getattr(clock, verb)(self.state, now))

    def check(self) -> None:
        """Every invariant that must hold after any step."""
        state, open_periods = self.state, [period for period in self.periods if period[1] is None]
        active = clock.active_ms(state, state.clock_hwm_ms)
        assert state.acc_ms == self.worked()
        assert len(open_periods) == (1 if state.state == State.RUNNING else 0)
        assert all(end is None or end >= start for start, end, _ in self.periods)
        assert 0 <= state.acc_ms <= active <= state.limit_ms
        assert state.state != State.PAUSED or active < state.limit_ms
        stamps = [save.active_ms for save in self.saves]
        assert stamps == sorted(stamps)
        expected = {*range(state.mark_every_ms, active, state.mark_every_ms)}
        if state.is_over and state.started_at_ms is not None:
            assert self.final_ms == state.acc_ms
            expected.add(state.acc_ms)
        assert set(self.snapshots) == expected
        assert self.snapshots == {mark: self.text_at(mark) for mark in self.snapshots}

    def record(self) -> tuple[object, ...]:
        return self.saves, self.periods, self.snapshots, self.final_ms


VERBS = ["start", "pause", "resume", "touch", "submit", "void", "credit", "reopen", *["save"] * 6, "settle"]
STEPS = st.one_of(
    st.integers(-20, 60),
    st.tuples(st.sampled_from(["mark", "lease", "deadline", "grace"]), st.sampled_from([-1, 0, 1])),
)
TRACES = st.lists(st.tuples(st.sampled_from(VERBS), STEPS, st.sampled_from([-70, -1, 1, 30, 200])), max_size=40)


@st.composite
def states(draw: st.DrawFn) -> ClockState:
    """Sessions so small that traces meet every boundary."""
    return ClockState(
        limit_ms=draw(st.sampled_from([1, 30, 60, 100, 120])),
        mark_every_ms=draw(st.sampled_from([1, 10, 30, 500])),
        grace_ms=draw(st.sampled_from([0, 1, 10])),
        disconnect_policy=draw(st.sampled_from(Policy)),
        lease_ms=draw(st.sampled_from([1, 18, 30, 300])),
    )


def instant(state: ClockState, now: int, step: int | tuple[str, int]) -> int:
    """The host's next reading: a plain step, or at most a millisecond off a boundary of the running clock."""
    if isinstance(step, int):
        return now + step
    kind, offset = step
    deadline, mark = state.deadline_ms, clock.next_mark_ms(state, state.clock_hwm_ms)
    if deadline is None or state.run_started_at_ms is None:
        return now + 1 + offset
    boundary = {
        "deadline": deadline,
        "grace": deadline + state.grace_ms,
        "mark": deadline if mark is None else state.run_started_at_ms + mark - state.acc_ms,
        "lease": (state.last_seen_ms or now) + state.lease_ms,
    }
    return boundary[kind] + offset


def play(state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]]) -> list[tuple[str, int, int]]:
    """Turn a trace into verbs at absolute host times, the first one a start."""
    desk, now, out = Desk(state), T0, []
    for verb, step, delta in [("start", 0, 0), *trace]:
        now = instant(desk.state, now, step)
        desk.run(verb, now, delta)
        out.append((verb, now, delta))
    return out


@settings(deadline=None)
@given(state=states(), trace=TRACES)
def test_every_invariant_holds_after_every_step(
    state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]]
) -> None:
    desk = Desk(state)
    for verb, now, delta in play(state, trace):
        desk.run(verb, now, delta)
        desk.check()


@settings(deadline=None)
@given(state=states(), trace=TRACES, data=st.data())
def test_the_result_does_not_depend_on_when_or_whether_settle_ran(
    state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]], data: st.DataObject
) -> None:
    bare, swept = Desk(state), Desk(state)
    for verb, now, delta in play(state, trace):
        latest = max(swept.state.clock_hwm_ms, now)
        for back in data.draw(st.lists(st.integers(0, 100), max_size=3)):
            swept.take(clock.settle(swept.state, latest - back))
        bare.run(verb, now, delta)
        swept.run(verb, now, delta)
        assert swept.state == bare.state
        assert swept.record() == bare.record()


@settings(deadline=None)
@given(state=states(), trace=TRACES)
def test_a_worker_that_wakes_at_every_due_instant_changes_nothing(
    state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]]
) -> None:
    bare, worked = Desk(state), Desk(state)
    for verb, now, delta in play(state, trace):
        while (due := clock.next_due_at(worked.state)) is not None and due <= now:
            done = worked.take(clock.settle(worked.state, due))
            assert done.closed or done.marks, "an instant that is due changes something"
        bare.run(verb, now, delta)
        worked.run(verb, now, delta)
        assert (worked.state, worked.record()) == (bare.state, bare.record())


@settings(deadline=None)
@given(state=states(), trace=TRACES, ahead=st.integers(0, 400))
def test_nothing_changes_by_itself_before_the_next_due_instant_and_something_does_then(
    state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]], ahead: int
) -> None:
    desk = Desk(state)
    for verb, now, delta in play(state, trace):
        desk.run(verb, now, delta)
    due, t = clock.next_due_at(desk.state), desk.state.clock_hwm_ms + ahead
    later = clock.settle(desk.state, t)
    if due is None or t < due:
        assert replace(later.state, clock_hwm_ms=desk.state.clock_hwm_ms) == desk.state
        assert (later.closed, later.marks, later.final_ms) == (None, (), None)
    if due is not None:
        then = clock.settle(desk.state, due)
        assert then.closed or then.marks


@settings(deadline=None)
@given(state=states(), trace=TRACES, now=st.integers(-50, 400))
def test_settling_twice_at_one_instant_is_settling_once(
    state: ClockState, trace: list[tuple[str, int | tuple[str, int], int]], now: int
) -> None:
    desk = Desk(state)
    for verb, at, delta in play(state, trace):
        desk.run(verb, at, delta)
    once = clock.settle(desk.state, T0 + now)
    again = clock.settle(once.state, T0 + now)
    assert again.state == once.state
    assert (again.closed, again.opened, again.marks, again.final_ms) == (None, None, (), None)


@settings(deadline=None)
@given(
    stamps=st.lists(st.integers(0, 20), max_size=30).map(sorted),
    mark=st.integers(0, 21),
)
def test_a_snapshot_is_the_last_text_stamped_at_or_before_its_mark(stamps: list[int], mark: int) -> None:
    saves = [Save(stamp, str(n)) for n, stamp in enumerate(stamps)]
    kept = [save for save in saves if save.active_ms <= mark]
    assert clock.snapshot_at(saves, mark) == (kept[-1] if kept else None)


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
    done = desk.take(clock.settle(desk.state, T0 + 9 * 60 * MINUTE))
    assert done.marks == TEN_MARKS[2:]
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
    done = desk.take(clock.pause(desk.state, T0 + 7_200_000))
    assert done.refused == Refusal.TIME_IS_UP
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
    second = desk.take(clock.settle(desk.state, T0 + 600_020))
    assert (first.marks, second.marks) == ((600_000,), ())


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
    done = desk.take(clock.touch(desk.state, T0 + clock.GAP_MS))
    assert done.gap_ms == clock.GAP_MS
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


def test_going_on_after_a_lapse_that_nobody_noticed_keeps_the_silence_out_of_the_time() -> None:
    desk = started(replace(TWO_HOURS, disconnect_policy=Policy.AUTO_PAUSE))
    desk.run("resume", T0 + 1_000_000)
    assert desk.periods == [(T0, T0 + 180_000, "lease"), (T0 + 1_000_000, None, "")]


def test_a_lease_that_outlasts_the_deadline_lets_the_session_end() -> None:
    desk = started(replace(TWO_HOURS, limit_ms=180_000, disconnect_policy=Policy.AUTO_PAUSE))
    desk.run("settle", T0 + 1_000_000)
    assert (desk.state.state, desk.state.ended_at_ms) == (State.EXPIRED, T0 + 180_000)


def test_a_closed_tab_does_not_stop_the_clock_unless_the_study_says_so() -> None:
    desk = started()
    assert clock.active_ms(desk.state, T0 + 3_600_000) == 3_600_000


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
        replace(TWO_HOURS, **wrong)  # type: ignore[arg-type]


@settings(deadline=None)
@given(t=st.integers(0, 200))
@example(t=60)
def test_what_is_left_and_what_was_worked_make_the_limit(t: int) -> None:
    state = clock.start(ClockState(limit_ms=100, mark_every_ms=30), T0).state
    assert clock.active_ms(state, T0 + t) + clock.remaining_ms(state, T0 + t) == 100
    mark = clock.next_mark_ms(state, T0 + t)
    assert mark == next((m for m in (30, 60, 90) if t <= m), None)
