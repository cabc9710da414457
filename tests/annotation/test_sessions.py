"""The life of a session: start, pause, end, credits, voiding, exclusion, and two of everything at once."""

from datetime import timedelta

import pytest

from annotation import clock
from annotation.clock import Refusal
from annotation.models import (
    ActivePeriod,
    Assignment,
    ClockCredit,
    CreditRequest,
    DraftRevision,
    Exclusion,
    Exposure,
    Guideline,
    Session,
    SessionEvent,
    Snapshot,
    WritingPlan,
)
from annotation.writing import drafting, locking, sessions, settling
from annotation.writing.drafting import SessionClosed, TabLost
from annotation.writing.eligibility import Code, NotEligible
from annotation.writing.locking import Reading
from annotation.writing.sessions import NotAttested, OtherSession
from annotation.writing.settling import ClockRefused
from benchmarks.models import AuditEvent
from tests.annotation.writer import Writer, after, start_session
from tests.makers import NOW, give_consent, make_assignment, make_haystack, make_session, make_writing_study

pytestmark = pytest.mark.django_db
HOUR = 3_600_000


@pytest.fixture
def writer(ben) -> Writer:
    return Writer(start_session(ben))


def periods(session: Session) -> list[tuple[int, int | None, str, str]]:
    """(start, end, start reason, end reason), in ms after NOW."""
    return [
        (
            (row.started_at - NOW) // timedelta(milliseconds=1),
            None if row.ended_at is None else (row.ended_at - NOW) // timedelta(milliseconds=1),
            row.start_reason,
            row.end_reason,
        )
        for row in ActivePeriod.objects.filter(session=session).order_by("seq")
    ]


def test_the_clock_and_the_database_use_the_same_words() -> None:
    assert {state.value for state in clock.State} == set(Session.State.values)
    assert {policy.value for policy in clock.Policy} == set(WritingPlan.DisconnectPolicy.values)


def test_starting_freezes_the_study_and_opens_the_first_period(ben) -> None:
    session = start_session(ben, mark_every_ms=60_000, disconnect_policy="auto_pause", paste_policy="flag")
    assert (session.state, session.started_at, session.attested_before_at) == ("running", NOW, NOW)
    assert (session.limit_ms, session.mark_every_ms, session.disconnect_policy) == (
        7_200_000,
        60_000,
        "auto_pause",
    )
    assert session.document_numbers == session.assignment.document_numbers
    assert session.guideline is not None
    assert session.config["paste_policy"] == "flag"
    assert session.config["guideline_version"] == 1
    assert session.next_due_at == after(60_001)
    assert periods(session) == [(0, None, "start", "")]
    assert Assignment.objects.get(pk=session.assignment_id).state == "started"
    assert Exposure.objects.filter(user=ben, reason="writing").count() == 1


def test_a_later_change_of_the_study_leaves_a_session_as_it_is(ben) -> None:
    session = start_session(ben)
    study = session.assignment.study
    study.writing_plan.limit_ms = 60_000
    study.writing_plan.save()
    Guideline.objects.create(study=study, version=2, body="Other rules.", created_at=NOW)
    session.refresh_from_db()
    assert (session.limit_ms, session.guideline.version) == (7_200_000, 1)


def test_the_paper_protocol_has_no_aids_whatever_the_boxes_say(ben) -> None:
    config = start_session(ben, preset="paper", show_hit_counts=True).config
    assert (config["preset"], config["show_hit_counts"], config["click_to_cite"]) == ("paper", False, False)


def test_a_person_with_an_accommodation_gets_more_time_and_may_paste(ben) -> None:
    ben.annotator.limit_factor, ben.annotator.may_paste = "1.50", True
    ben.annotator.save()
    session = start_session(ben)
    assert (session.limit_ms, session.config["paste_policy"]) == (10_800_000, "flag")


@pytest.mark.every_database
def test_a_practice_session_takes_five_minutes_and_leaves_no_exposure(ben) -> None:
    give_consent(ben)
    task = make_assignment(annotator=ben, is_practice=True)
    session = sessions.start(assignment=task, attested=True, now=NOW)
    assert (session.limit_ms, session.config["is_practice"]) == (300_000, True)
    assert not Exposure.objects.exists()
    Writer(session).settle(310_000)
    assert Assignment.objects.get(pk=task.pk).state == "done"


@pytest.mark.every_database
def test_starting_twice_is_starting_once(ben) -> None:
    session = start_session(ben)
    again = sessions.start(assignment=session.assignment, attested=True, now=after(5_000))
    assert (again.pk, again.started_at) == (session.pk, NOW)
    assert len(periods(session)) == 1


def test_no_session_starts_without_the_promise_or_the_consent(ben) -> None:
    study = make_writing_study(annotators=[ben])
    give_consent()
    task = make_assignment(annotator=ben, study=study, with_consent=False)
    with pytest.raises(NotAttested):
        sessions.start(assignment=task, attested=False, now=NOW)
    with pytest.raises(NotEligible) as refusal:
        sessions.start(assignment=task, attested=True, now=NOW)
    assert refusal.value.codes == {Code.NO_CONSENT}
    assert not Session.objects.exists()


@pytest.mark.every_database
def test_a_persons_clock_runs_in_one_session_at_a_time(ben) -> None:
    first = Writer(start_session(ben))
    study = make_writing_study(haystack=make_haystack(key="mill", title="The mill"), name="Mill", annotators=[ben])
    task = make_assignment(annotator=ben, study=study)
    with pytest.raises(OtherSession):
        sessions.start(assignment=task, attested=True, now=after(1_000))
    assert Session.objects.count() == 1
    first.pause(2_000)
    second = Writer(sessions.start(assignment=task, attested=True, now=after(3_000)))
    with pytest.raises(OtherSession) as refusal:
        first.resume(4_000)
    assert refusal.value.status.state == "paused"
    second.settle(3_000 + 7_200_000 + 10_000)
    assert first.resume(8 * HOUR).state == "running"


def test_another_session_that_ran_out_unseen_does_not_stand_in_the_way(ben) -> None:
    start_session(ben)
    study = make_writing_study(haystack=make_haystack(key="mill", title="The mill"), name="Mill", annotators=[ben])
    task = make_assignment(annotator=ben, study=study)
    assert sessions.start(assignment=task, attested=True, now=after(3 * HOUR)).state == "running"


def test_pauses_are_rows_and_only_work_counts(writer: Writer) -> None:
    writer.pause(60_000)
    writer.pause(70_000)
    writer.resume(100_000)
    writer.resume(110_000)
    writer.submit(130_000)
    assert periods(writer.session) == [
        (0, 60_000, "start", "pause"),
        (100_000, 130_000, "resume", "submitted"),
    ]
    row = writer.row()
    assert (row.acc_ms, row.state, row.ended_at, row.next_due_at) == (90_000, "submitted", after(130_000), None)
    assert Assignment.objects.get(pk=row.assignment_id).state == "done"


def test_a_closed_tab_does_not_stop_the_clock_by_default(writer: Writer) -> None:
    assert writer.beat(HOUR).active_ms == HOUR
    assert SessionEvent.objects.get(session=writer.session).type == "gap"


def test_a_silent_tab_pauses_the_clock_at_the_end_of_its_lease_where_the_study_says_so(ben) -> None:
    writer = Writer(start_session(ben, disconnect_policy="auto_pause"))
    writer.beat(60_000)
    row = writer.settle(HOUR)
    assert (row.state, row.acc_ms) == ("paused", 240_000)
    assert periods(row) == [(0, 240_000, "start", "lease")]
    writer.resume(HOUR)
    assert writer.beat(HOUR + 1_000).active_ms == 241_000


def test_a_pause_in_the_grace_takes_the_text_but_wins_no_time(writer: Writer) -> None:
    status = writer.pause(7_205_000, "late pause")
    assert (status.rev, status.state, status.refused) == (1, "running", "time_is_up")
    assert writer.settle(7_210_000).state == "expired"


@pytest.mark.parametrize(("at", "state"), [(7_209_999, "submitted"), (7_210_000, "expired")])
def test_a_submit_that_races_the_expiry_keeps_the_text_either_way(writer: Writer, at: int, state: str) -> None:
    writer.save(1_000, "early")
    if state == "submitted":
        writer.submit(at, "late")
    else:
        with pytest.raises(SessionClosed):
            writer.submit(at, "late")
    assert writer.row().state == state
    assert len(writer.revisions()) == 2
    assert writer.snapshots()[7_200_000] == ("late" if state == "submitted" else "early")
    assert Snapshot.objects.filter(session=writer.session, kind="final").count() == 1


@pytest.mark.every_database
def test_submitting_twice_is_submitting_once(writer: Writer) -> None:
    writer.submit(1_000)
    status = writer.submit(2_000)
    assert (status.state, status.refused) == ("submitted", "")
    assert writer.row().ended_at == after(1_000)


def test_a_host_clock_that_steps_back_holds_the_time_and_is_noted(writer: Writer) -> None:
    writer.save(100_000, "before")
    assert writer.save(95_000, "after").active_ms == 100_000
    assert writer.beat(100_500).active_ms == 100_500
    event = SessionEvent.objects.get(session=writer.session)
    assert (event.type, event.payload) == ("clock_jump", {"back_ms": 5_000})


def test_an_hour_by_which_the_host_clock_was_set_is_no_working_time_on_either_of_two_machines(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = {"one": 0, "two": 0}

    def save_on(machine: str, at_ms: int, text: str) -> int:
        monkeypatch.setattr(locking, "reading", lambda: Reading(machine, started[machine]))
        return writer.save(at_ms, text).active_ms

    assert [save_on("one", 100_000, "a"), save_on("two", 101_000, "b")] == [100_000, 101_000]
    started["one"] += HOUR
    assert save_on("one", 110_000 + HOUR, "c") == 110_000
    assert save_on("two", 120_000, "d") == 110_000, "it stands where the other machine is ahead"
    started["one"] -= HOUR
    assert [save_on("one", 130_000, "e"), save_on("two", 131_000, "f")] == [130_000, 131_000]
    assert writer.submit(140_000).active_ms == 140_000
    notes = SessionEvent.objects.filter(session=writer.session, type="clock_jump", payload__has_key="by_ms")
    assert [row.payload["by_ms"] for row in notes.order_by("client_seq")] == [HOUR, -HOUR]
    assert [row[2:] for row in periods(writer.session)] == [
        ("start", "clock_set"), ("clock_set", "clock_set"), ("clock_set", "submitted"),
    ]  # fmt: skip


def test_a_machine_remembers_few_others_and_no_slow_correction() -> None:
    assert locking.kept({"one": 1_000}, Reading("one", 1_999)) is None
    assert locking.kept({"one": 1_000}, Reading("one", 2_000)) == {"one": 2_000}
    many = {str(at): at for at in range(locking.MACHINES)}
    assert list(locking.kept(many, Reading("new", 5)) or {}) == [*list(many)[1:], "new"]


def test_looking_at_a_session_writes_nothing_unless_something_is_due(
    writer: Writer, django_assert_num_queries
) -> None:
    with django_assert_num_queries(0):
        writer_row = settling.settle(session=writer.session, now=after(599_000))
    assert writer_row.pk == writer.session.pk
    assert sessions.look(session=writer.session, tab_id="x", now=after(599_000)).active_ms == 599_000
    assert writer.row().clock_hwm == NOW


def test_a_sign_of_life_costs_four_statements(writer: Writer, django_assert_num_queries) -> None:
    writer.claim(500)
    with django_assert_num_queries(4):
        writer.beat(1_000)


def test_a_credit_moves_the_limit_as_an_audited_row(writer: Writer, eve) -> None:
    row = settling.credit_clock(
        session=writer.session, by=eve, delta_ms=600_000, reason="Power cut", now=after(1_000)
    )
    assert row.limit_ms == 7_800_000
    credit = ClockCredit.objects.get(session=writer.session)
    assert (credit.delta_ms, credit.reason, credit.by) == (600_000, "Power cut", eve)
    assert AuditEvent.objects.get(action="session.credit").detail["delta_ms"] == 600_000
    assert writer.settle(7_210_000).state == "running"
    assert writer.settle(7_810_000).state == "expired"
    assert len(writer.snapshots()) == 13


def test_a_credit_answers_the_wish_for_it(writer: Writer, eve) -> None:
    wish = CreditRequest.objects.create(session=writer.session, minutes=5, reason="Fire drill", at=NOW)
    settling.credit_clock(
        session=writer.session, by=eve, delta_ms=300_000, reason="Granted", now=after(9_000), request=wish
    )
    wish.refresh_from_db()
    assert (wish.answer, wish.answered_at, wish.credit_id) == (
        "Granted",
        after(9_000),
        ClockCredit.objects.get().pk,
    )
    settling.decline_request(request=wish, answer="No", by=eve, now=after(9_500))
    wish.refresh_from_db()
    assert wish.answer == "Granted"


@pytest.mark.parametrize(("at", "delta", "reason"), [(60_000, -7_140_000, "would_cut"), (7_210_000, 1, "over")])
def test_a_credit_cuts_no_worked_time_and_wakes_no_ended_session(
    writer: Writer, eve, at: int, delta: int, reason: str
) -> None:
    with pytest.raises(ClockRefused) as refusal:
        settling.credit_clock(session=writer.session, by=eve, delta_ms=delta, reason="?", now=after(at))
    assert refusal.value.reason == Refusal(reason)
    assert not ClockCredit.objects.exists()
    assert writer.row().state == ("expired" if reason == "over" else "running")


def test_an_admin_can_reopen_an_expired_session_and_every_text_of_it_is_there(writer: Writer, eve) -> None:
    writer.save(7_000_000, "before the cut")
    writer.settle(8_000_000)
    row = settling.reopen(
        session=writer.session, by=eve, delta_ms=900_000, reason="Server was down", now=after(9_000_000)
    )
    assert (row.state, row.limit_ms, row.ended_at) == ("paused", 8_100_000, None)
    assert not Snapshot.objects.filter(session=row, kind="final").exists()
    assert Assignment.objects.get(pk=row.assignment_id).state == "started"
    writer.resume(9_100_000)
    writer.save(9_200_000, "after the cut")
    writer.submit(9_300_000)
    assert writer.snapshots()[7_200_000] == "before the cut"
    assert Snapshot.objects.get(session=row, kind="final").text == "after the cut"
    assert writer.row().acc_ms == 7_400_000
    assert ClockCredit.objects.get(session=row).reason == "Server was down"


def test_only_a_session_that_is_over_and_not_voided_is_reopened(writer: Writer, eve) -> None:
    for reason in (Refusal.NOT_OVER, Refusal.OVER):
        with pytest.raises(ClockRefused) as refusal:
            settling.reopen(session=writer.session, by=eve, delta_ms=1, reason="?", now=after(1_000))
        assert refusal.value.reason == reason
        if reason == Refusal.NOT_OVER:
            settling.void(session=writer.session, by=eve, reason="Wrong person", now=after(2_000))


def test_voiding_ends_a_session_keeps_its_data_and_frees_its_place(writer: Writer, eve) -> None:
    writer.save(1_000, "text")
    row = settling.void(session=writer.session, by=eve, reason="Somebody else wrote it", now=after(2_000))
    assert (row.state, row.void_reason, row.acc_ms) == ("voided", "Somebody else wrote it", 2_000)
    task = Assignment.objects.get(pk=row.assignment_id)
    assert (task.state, task.withdrawn_reason) == ("withdrawn", "Somebody else wrote it")
    assert DraftRevision.objects.filter(session=row).count() == 1
    with pytest.raises(SessionClosed):
        writer.save(3_000, "more")
    settling.void(session=writer.session, by=eve, reason="Again", now=after(4_000))
    assert writer.row().void_reason == "Somebody else wrote it"
    assert AuditEvent.objects.filter(action="session.void").count() == 1


def test_a_session_that_ended_by_itself_is_excluded_not_voided(writer: Writer, eve) -> None:
    writer.submit(1_000)
    with pytest.raises(ClockRefused):
        settling.void(session=writer.session, by=eve, reason="No", now=after(2_000))
    for reason in ("Copied", "Copied again"):
        settling.exclude(session=writer.session, by=eve, reason=reason, now=after(3_000))
    assert [row.reason for row in Exclusion.objects.all()] == ["Copied"]
    assert settling.lift_exclusion(session=writer.session, by=eve, now=after(4_000))
    assert not settling.lift_exclusion(session=writer.session, by=eve, now=after(5_000))
    assert Exclusion.objects.get().lifted_at == after(4_000)


def test_notes_and_read_marks_are_kept_by_the_tab_that_writes(writer: Writer) -> None:
    writer.claim(500)
    sessions.write_notes(session=writer.session, tab_id="tab-1", text="look at 4", now=after(1_000))
    sessions.mark_read(session=writer.session, tab_id="tab-1", numbers=[1, 4], now=after(2_000))
    with pytest.raises(TabLost):
        sessions.write_notes(session=writer.session, tab_id="tab-2", text="old", now=after(3_000))
    with pytest.raises(drafting.DraftTooLong):
        sessions.write_notes(session=writer.session, tab_id="tab-1", text="x" * 70_000, now=after(3_500))
    row = writer.row()
    assert (row.notes_text, row.read_documents) == ("look at 4", [1, 4])
    writer.submit(4_000)
    with pytest.raises(SessionClosed):
        sessions.write_notes(session=writer.session, tab_id="tab-1", text="later", now=after(5_000))


def test_a_session_that_was_never_started_can_be_voided_and_has_no_snapshot(ben, eve) -> None:
    row = settling.void(session=make_session(annotator=ben), by=eve, reason="Left", now=NOW)
    assert (row.state, Snapshot.objects.count()) == ("voided", 0)
