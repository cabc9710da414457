"""The checker of `make chaos` notices what is planted; and a short run of the whole thing."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bench.chaos import running
from bench.chaos.__main__ import report
from bench.chaos.checking import (
    Act,
    Log,
    Period,
    Revision,
    Save,
    Stored,
    StoredAct,
    StoredSession,
    held_after,
    problems,
)
from bench.site import ROOT, Member, Site
from tests.running import wait_for

SHA = "a" * 64


def log() -> Log:
    """Somebody who saved twice and once too late, answered, took that back and answered again."""
    return Log(
        saves=[
            Save("s", "one", SHA, 1, 9_000, 0.0, 0.1),
            Save("s", "two", SHA, 2, 20_000, 11.0, 11.1),
            Save("s", "late", SHA, None, 20_000, 30.0, 30.1),
        ],
        acts=[
            Act("ben", "t", "x", "q", "no"),
            Act("ben", "t", "y", is_undo=True),
            Act("ben", "t", "z", "q", "yes agree"),
            Act("ben", "t", "same", "q", "yes agree", has_changed=False),
        ],
        decisions=[("p", "why")],
        held={"s": SHA},
    )


def stored() -> Stored:
    """What the database holds of that."""
    session = StoredSession(
        state="submitted",
        limit_ms=60_000,
        acc_ms=20_000,
        mark_every_ms=10_000,
        draft_sha256=SHA,
        revisions=[
            Revision("one", 1, SHA, 9_000),
            Revision("two", 2, SHA, 20_000),
            Revision("late", None, SHA, 20_000),
        ],
        periods=[Period(1_000, 16_000, 0), Period(17_000, 22_000, 15_000)],
        marks=[(10_000, 1), (20_000, 2)],
    )
    acts = [
        StoredAct("ben", "t", "x", "q", "no", False, False),
        StoredAct("ben", "t", "y", "q", "", False, True),
        StoredAct("ben", "t", "z", "q", "yes agree", True, False),
    ]
    return Stored({"s": session}, acts, [("p", "why", True)], ["judge/summary/insight/0"])


def session_with(**changed) -> Stored:
    there = stored()
    return there._replace(sessions={"s": there.sessions["s"]._replace(**changed)})


def test_nothing_is_wrong_where_all_is_there() -> None:
    assert problems([log()], stored()) == []


REVISIONS, ACTS = stored().sessions["s"].revisions, stored().acts
ONE, TWO, LATE = REVISIONS


@pytest.mark.parametrize(
    ("planted", "noticed"),
    [
        (session_with(revisions=[ONE, LATE]), "lost: the text two"),
        (session_with(revisions=[ONE, TWO]), "lost: the text late"),
        (session_with(revisions=[ONE, TWO._replace(sha256="b"), LATE]), "lost: the text two"),
        (session_with(revisions=[*REVISIONS, TWO]), "doubled: the text two"),
        (session_with(draft_sha256="b"), "lost: the draft of session s"),
        (session_with(revisions=[ONE, TWO._replace(active_ms=8_000), LATE]), "ran back between"),
        (session_with(limit_ms=19_999), "passed its limit"),
        (session_with(periods=[Period(1_000, 16_000, 0)]), "not the sum of its periods"),
        (session_with(state="running"), "has an open period although"),
        (session_with(marks=[(20_000, 2)]), "no snapshot at a mark"),
        (session_with(marks=[(10_000, 2), (20_000, 2)]), "has revision 2 in the snapshot at 10000"),
        (stored()._replace(acts=ACTS[:2]), "lost: the answer z"),
        (stored()._replace(acts=[ACTS[0], ACTS[2]._replace(op_id="z")]), "lost: the undo y"),
        (stored()._replace(acts=[*ACTS, ACTS[2]._replace(is_current=False)]), "stored 2 times"),
        (stored()._replace(acts=[*ACTS, ACTS[2]._replace(op_id="ghost", is_current=False)]), "acknowledged never"),
        (stored()._replace(acts=[*ACTS, ACTS[0]._replace(op_id="x2", is_current=True)]), "2 answers hold at once"),
        (stored()._replace(acts=[*ACTS[:2], ACTS[2]._replace(answer="no")]), "and not “yes agree”"),
        (stored()._replace(decisions=[]), "lost: the decision"),
        (stored()._replace(decisions=[("p", "why", True)] * 2), "2 decisions hold at once"),
        (stored()._replace(verdicts=stored().verdicts * 2), "doubled: the verdict"),
    ],
)  # fmt: skip
def test_what_is_missing_doubled_or_runs_back_is_noticed(planted: Stored, noticed: str) -> None:
    assert any(noticed in line for line in problems([log()], planted)), problems([log()], planted)


@pytest.mark.parametrize(
    ("active_ms", "noticed"), [(8_999, "clock: ran back by 1 ms"), (20_200, "clock: 11200 ms of work in 11100 ms")]
)
def test_the_clock_as_it_was_told_neither_runs_back_nor_ahead_of_time(active_ms: int, noticed: str) -> None:
    mine = log()
    mine.saves[1:] = [replace(mine.saves[1], active_ms=active_ms)]
    assert any(noticed in line for line in problems([mine], stored()))


def test_what_a_browser_still_keeps_and_what_no_script_expects_is_a_problem() -> None:
    mine = replace(log(), unsent=["ben: 2 acts"], troubles=["404 for a claim"])
    assert problems([mine], stored()) == [
        "kept in a browser and never taken: ben: 2 acts",
        "not what a script expects: 404 for a claim",
    ]


def test_an_undo_takes_back_the_last_act_wherever_it_was_or_on_its_own_task() -> None:
    acts = [Act("ben", "t1", "a", "q", "no"), Act("ben", "t1", "b", "q", "yes"), Act("ben", "t2", "c", "q", "no")]
    here, anywhere = Act("ben", "t1", "d", is_undo=True, only_here=True), Act("ben", "t1", "e", is_undo=True)
    assert held_after([*acts, here]) == {("t1", "q"): "no", ("t2", "q"): "no"}
    assert held_after([*acts, anywhere]) == {("t1", "q"): "yes", ("t2", "q"): ""}
    assert held_after([*acts, replace(here, undone_on="t2")]) == {("t1", "q"): "yes", ("t2", "q"): ""}
    assert held_after([*acts, here, anywhere, anywhere]) == {("t1", "q"): "", ("t2", "q"): ""}


@pytest.mark.own_database
def test_a_short_run_loses_nothing(empty_database: Path, collected: Path) -> None:
    """A tenth of a minute under faults; `make chaos FAULTS=1000` is the long one."""
    site = Site()
    try:
        numbers = running.Numbers(seed=26, faults=15, writers=4, labellers=2, reviewers=1, has_one_worker=True)
        outcome = running.run(site, numbers, empty=empty_database, static=collected)
        said = report(outcome, numbers.seed)
        assert outcome.problems == [], said
        assert outcome.faults.total() == 15
        assert set(outcome.faults) <= set(running.WEIGHTS)
        assert sum(len(each.saves) for each in outcome.logs) > 10, said
        assert "lost: 0" in said
    finally:
        site.close()


LONGEST_S = 120
STARTER = """
import signal, sys
from pathlib import Path
from bench.site import Member, ending_in_order

with ending_in_order():
    member = Member("sleeper", ["sleep", "600"], {"STARTED_BY": sys.argv[1]}, Path(sys.argv[1]))
    try:
        member.start()
        Path(sys.argv[1]).with_suffix(".up").touch()
        signal.pause()
    finally:
        member.end_for_good()
"""


def processes_with(word: str) -> list[int]:
    """The processes in whose environment a word stands."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@linux
def test_a_program_that_is_told_to_end_leaves_nothing_running(tmp_path: Path) -> None:
    log = tmp_path / "sleeper.log"
    with subprocess.Popen([sys.executable, "-c", STARTER, str(log)], cwd=ROOT) as starter:
        wait_for(log.with_suffix(".up").exists)
        assert processes_with(f"STARTED_BY={log}")
        starter.terminate()
        assert starter.wait(LONGEST_S) == 128 + signal.SIGTERM
    wait_for(lambda: not processes_with(f"STARTED_BY={log}"))


def test_what_was_ended_for_good_is_not_started_again(tmp_path: Path) -> None:
    member = Member("sleeper", ["sleep", "600"], dict(os.environ), tmp_path / "sleeper.log")
    member.start()
    member.end_for_good()
    member.start()
    assert not member.is_running()


@linux
@pytest.mark.nightly
@pytest.mark.own_database
def test_a_run_that_is_told_to_end_leaves_no_process_and_no_folder(empty_database: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.chaos", "--faults", "1000", "--empty", str(empty_database)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as run:
        wait_for(lambda: bool(list(tmp_path.glob("bench-*/beat.log"))))  # the last to be started
        run.terminate()
        assert run.wait(LONGEST_S) == 128 + signal.SIGTERM
    wait_for(lambda: not processes_with(str(tmp_path)))
    assert list(tmp_path.glob("bench-*")) == []
