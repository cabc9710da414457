"""Whatever happens in whatever order, the rules of the session clock hold."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation import clock
from annotation.clock import ClockState, Policy
from tests.annotation.desk import T0, Desk, Save

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


@given(
    waits=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=12),
    mark=st.integers(0, 300),
    later=st.integers(0, 100),
)
def test_what_was_typed_by_a_mark_is_the_recorded_text_or_a_later_one(
    waits: list[tuple[int, int]], mark: int, later: int
) -> None:
    """Never one that holds what was typed after the mark; without waiting it is the recorded one."""
    arrived, stamps = 0, []
    for gap, wait in waits:
        arrived += gap
        stamps.append((arrived, arrived - wait))
    recorded = sum(at <= mark for at, _typed in stamps) - 1
    found = clock.typed_by(stamps, mark)
    place = -1 if found is None else found
    assert place >= recorded
    assert all(typed <= mark for _at, typed in stamps[: place + 1])
    assert place + 1 == len(stamps) or stamps[place + 1][1] > mark
    on_time = clock.typed_by([(at, at) for at, _typed in stamps], mark)
    assert on_time == (recorded if recorded >= 0 else None)
    assert place <= (-1 if (then := clock.typed_by(stamps, mark + later)) is None else then)
