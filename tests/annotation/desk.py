"""A desk at which a session is written by its clock alone."""

from dataclasses import dataclass, field

from annotation import clock
from annotation.clock import ClockState, State

T0 = 1_700_000_000_000


TWO_HOURS = ClockState(limit_ms=7_200_000, mark_every_ms=600_000)


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
