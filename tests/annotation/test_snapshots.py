"""Snapshots follow from the accepted revisions, whoever makes them, and whenever."""

import random
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation import tasks
from annotation.models import Session, Snapshot
from annotation.writing import sessions, settling
from annotation.writing.drafting import DraftRefused
from annotation.writing.locking import FilledBy
from tests.annotation.writer import Writer, after, start_session
from tests.makers import NOW, give_consent, make_assignment, make_haystack, make_writing_study

pytestmark = pytest.mark.django_db
MARKS = range(600_000, 7_200_000, 600_000)


@pytest.fixture
def writer(ben) -> Writer:
    return Writer(start_session(ben))


@pytest.mark.parametrize(("at", "text"), [(600_000, "second"), (600_001, "first")])
def test_a_save_at_the_mark_is_in_it_and_one_millisecond_later_is_not(writer: Writer, at: int, text: str) -> None:
    writer.save(1_000, "first")
    writer.save(at, "second")
    writer.settle(600_001)
    assert writer.snapshots() == {600_000: text}


def test_a_snapshot_tells_how_old_its_text_was(writer: Writer) -> None:
    writer.save(590_000, "text")
    writer.settle(1_210_000)
    rows = Snapshot.objects.filter(session=writer.session).order_by("mark_ms")
    assert [row.staleness_ms for row in rows] == [10_000, 610_000]
    assert {row.revision.rev for row in rows if row.revision} == {1}


def test_an_end_exactly_on_a_mark_makes_one_final_snapshot(writer: Writer) -> None:
    writer.save(1_000, "text")
    writer.submit(1_200_000)
    rows = Snapshot.objects.filter(session=writer.session).order_by("mark_ms")
    assert [(row.mark_ms, row.kind) for row in rows] == [(600_000, "mark"), (1_200_000, "final")]


def test_hours_without_a_worker_are_made_up_by_one_look(writer: Writer) -> None:
    writer.save(1_500_000, "text")
    row = writer.settle(9 * 3_600_000)
    assert (row.state, row.ended_at) == ("expired", after(7_200_000))
    assert writer.snapshots() == {mark: "" if mark < 1_500_000 else "text" for mark in [*MARKS, 7_200_000]}


@pytest.mark.every_database
def test_two_beats_at_once_make_each_snapshot_once(writer: Writer) -> None:
    writer.save(1_000, "text")
    assert settling.settle_due(now=after(600_020)) == 1
    assert settling.settle_due(now=after(600_020)) == 0
    stale = Session.objects.get(pk=writer.session.pk)
    stale.next_due_at = after(600_001)
    settling.settle(session=stale, now=after(600_020))
    assert Snapshot.objects.filter(session=writer.session).count() == 1


def test_the_sweep_takes_what_is_due_and_leaves_the_rest(ben, cleo) -> None:
    first = Writer(start_session(ben))
    study = make_writing_study(haystack=make_haystack(key="mill"), name="Mill", annotators=[cleo])
    give_consent(cleo)
    task = make_assignment(annotator=cleo, study=study)
    second = Writer(sessions.start(assignment=task, attested=True, now=after(300_000)))
    assert settling.settle_due(now=after(600_001)) == 1
    assert (len(first.snapshots()), len(second.snapshots())) == (1, 0)
    assert Snapshot.objects.get().filled_by == "worker"
    assert first.row().next_due_at == after(1_200_001)


def test_an_export_settles_its_own_study_only(ben, cleo) -> None:
    first = Writer(start_session(ben))
    study = make_writing_study(haystack=make_haystack(key="mill"), name="Mill", annotators=[cleo])
    give_consent(cleo)
    sessions.start(assignment=make_assignment(annotator=cleo, study=study), attested=True, now=NOW)
    assert first.session.assignment.study is not None
    assert settling.settle_study(study=first.session.assignment.study, now=after(700_000)) == 1
    assert [(row.session_id, row.filled_by) for row in Snapshot.objects.all()] == [(first.session.pk, "export")]


def test_a_session_that_fails_does_not_stop_the_sweep(
    ben, cleo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first = Writer(start_session(ben))
    study = make_writing_study(haystack=make_haystack(key="mill"), name="Mill", annotators=[cleo])
    give_consent(cleo)
    task = make_assignment(annotator=cleo, study=study)
    second = Writer(sessions.start(assignment=task, attested=True, now=after(1)))
    Session.objects.filter(pk=first.session.pk).update(mark_every_ms=0)
    assert settling.settle_due(now=after(600_020)) == 1
    assert second.snapshots() == {600_000: ""}
    assert "could not be settled" in caplog.text


def test_the_task_settles_what_is_due(writer: Writer, time_machine) -> None:
    time_machine.move_to(after(601_000), tick=False)
    tasks.settle_due()
    assert writer.snapshots() == {600_000: ""}


@pytest.mark.every_database
def test_the_database_refuses_a_second_snapshot_of_a_mark_and_a_second_final_one(writer: Writer) -> None:
    writer.submit(700_000)
    for mark, kind in ((600_000, "mark"), (1, "final")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Snapshot.objects.create(
                session=writer.session, mark_ms=mark, kind=kind, filled_by="worker", created_at=NOW
            )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", ["keep_running", "auto_pause"])
def test_stored_sessions_come_out_the_same_whether_or_not_anything_settled_in_between(
    ben, cleo, seed: int, policy: str
) -> None:
    dice = random.Random(seed)
    script = [(dice.choice("ssssssbpru"), dice.choice(STEPS)) for _ in range(40)]
    bare, swept = _play(ben, script, policy, sweep=None), _play(cleo, script, policy, sweep=dice)
    assert bare == swept


STEPS = [0, 1, 999, 29_999, 30_000, 60_000, 59_999, 60_001, 180_000, 10_000, 9_999, 7_000]


def _play(person, script: list[tuple[str, int]], policy: str, *, sweep: random.Random | None):
    """Work through a script of verbs; give all that a researcher would see of it."""
    study = make_writing_study(
        haystack=make_haystack(key=f"{person.username}-hay"),
        name=f"Study of {person.username}",
        annotators=[person],
        limit_ms=1_200_000,
        mark_every_ms=60_000,
        disconnect_policy=policy,
    )
    give_consent(person)
    task = make_assignment(annotator=person, study=study)
    writer, now = Writer(sessions.start(assignment=task, attested=True, now=NOW)), 0
    for n, (verb, step) in enumerate(script):
        if sweep is not None:
            for part in sorted(sweep.randint(0, step) for _ in range(sweep.randint(0, 2))):
                settling.settle_due(now=after(now + part))
        now += step
        _act(writer, verb, now, n)
    writer.settle(now + 10_000_000)
    row = writer.row()
    return (
        writer.snapshots(),
        [each[:2] + each[3:] for each in writer.revisions()],
        list(row.periods.order_by("seq").values_list("started_at", "ended_at", "start_reason", "end_reason")),
        (row.state, row.acc_ms, row.ended_at, row.end_reason, row.last_mark_ms, row.draft_text),
    )


def _act(writer: Writer, verb: str, now: int, n: int) -> None:
    try:
        if verb == "s":
            writer.save(now, f"text {n}")
        elif verb == "b":
            writer.beat(now)
        elif verb == "p":
            writer.pause(now)
        elif verb == "r" or n < 35:
            writer.resume(now)
        else:
            writer.submit(now)
    except DraftRefused:
        pass


def test_settling_several_marks_costs_the_same_as_settling_one(writer: Writer) -> None:
    for n in range(30):
        writer.save(n * 100_000, f"text {n}")
    with CaptureQueriesContext(connection) as one:
        writer.settle(3_000_500)
    with CaptureQueriesContext(connection) as many:
        writer.settle(9_000_000)
    assert len(many) <= len(one) + 2
    assert Snapshot.objects.filter(session=writer.session, filled_by=FilledBy.REQUEST).count() == 12
    assert NOW + timedelta(milliseconds=7_200_000) == writer.row().ended_at


def test_the_command_settles_what_is_due_and_says_how_many(writer: Writer, time_machine, capsys) -> None:
    time_machine.move_to(after(601_000), tick=False)
    call_command("settle_sessions", "--json")
    call_command("settle_sessions")
    assert capsys.readouterr().out == '{"settled": 1}\n0 settled\n'
    assert writer.snapshots() == {600_000: ""}
