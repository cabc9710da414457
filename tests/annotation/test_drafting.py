"""Saving: each text that is posted ends up as one row, counted only if it is the draft."""

from hashlib import sha256

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import DraftRevision, Session, SessionEvent
from annotation.writing import drafting
from annotation.writing.drafting import (
    MAX_TEXT_BYTES,
    DraftTooLong,
    EmptyNeedsConfirmation,
    Event,
    NotStarted,
    SessionClosed,
    SessionPaused,
    StaleDraft,
    TabLost,
)
from tests.annotation.writer import Writer, after, start_session
from tests.makers import make_session

pytestmark = pytest.mark.django_db
LONG = "- The ferry leaves at six in the morning, say three reports of the harbour office [1, 2, 3].\n" * 4


@pytest.fixture
def writer(ben) -> Writer:
    return Writer(start_session(ben))


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_a_save_is_a_revision_stamped_with_the_active_time_of_its_arrival(writer: Writer) -> None:
    status = writer.save(1_500, "- one [1]", client_active_ms=1_490, source="typing")
    assert (status.rev, status.state, status.active_ms) == (1, "running", 1_500)
    assert (status.remaining_ms, status.next_mark_ms) == (7_198_500, 600_000)
    row = DraftRevision.objects.get(session=writer.session)
    assert (row.rev, row.active_ms, row.client_active_ms, row.late_ms) == (1, 1_500, 1_490, 0)
    assert (row.received_at, row.sha256) == (after(1_500), hash_of("- one [1]"))
    assert writer.row().draft_text == "- one [1]"


def test_the_same_operation_twice_is_one_row_and_the_same_answer(writer: Writer) -> None:
    first = writer.save(1_000, "once", op_id="same", base_rev=0)
    again = writer.save(9_000, "once", op_id="same", base_rev=0)
    assert (first.rev, again.rev) == (1, 1)
    assert again.active_ms == 9_000
    assert writer.revisions() == [(1, 1_000, "once", "")]


def test_a_replay_long_after_other_saves_still_tells_its_own_revision(writer: Writer) -> None:
    writer.save(1_000, "one", op_id="first", base_rev=0)
    writer.save(2_000, "two")
    assert writer.save(3_000, "one", op_id="first", base_rev=0).rev == 1
    assert writer.row().draft_text == "two"


def test_a_replay_after_the_end_is_answered_as_the_first_time(writer: Writer) -> None:
    writer.save(1_000, "one", op_id="first", base_rev=0)
    writer.submit(2_000)
    status = writer.save(3_000, "one", op_id="first", base_rev=0)
    assert (status.rev, status.state) == (1, "submitted")


def test_another_text_under_a_used_operation_is_a_conflict_and_is_kept_once(writer: Writer) -> None:
    writer.save(1_000, "one", op_id="used", base_rev=0)
    for at in (2_000, 3_000):
        with pytest.raises(StaleDraft):
            writer.save(at, "two", op_id="used", base_rev=0)
    assert [row[2:] for row in writer.revisions()] == [("one", ""), ("two", "conflict")]


def test_a_refused_operation_is_refused_again_without_a_second_row(writer: Writer) -> None:
    writer.save(1_000, "one")
    for at in (2_000, 3_000):
        with pytest.raises(StaleDraft) as refusal:
            writer.save(at, "mine", op_id="stale", base_rev=0)
        assert refusal.value.your_text == "mine"
    assert len(writer.revisions()) == 2


def test_a_text_equal_to_the_last_one_is_a_revision_too(writer: Writer) -> None:
    writer.save(1_000, "same")
    assert writer.save(2_000, "same").rev == 2


def test_a_stale_text_is_kept_uncounted_and_the_new_revision_is_not_told(writer: Writer) -> None:
    writer.save(1_000, "server")
    with pytest.raises(StaleDraft) as refusal:
        writer.save(2_000, "mine", base_rev=0)
    error = refusal.value
    assert (error.your_text, error.server_text) == ("mine", "server")
    assert error.status.rev is None
    assert writer.revisions()[-1] == (None, 2_000, "mine", "conflict")
    assert writer.row().draft_text == "server"


def test_a_revision_from_the_future_is_a_conflict_as_well(writer: Writer) -> None:
    with pytest.raises(StaleDraft):
        writer.save(1_000, "mine", base_rev=7)


@pytest.mark.parametrize("picked", ["mine", "server"])
def test_choosing_after_a_conflict_names_the_text_it_replaces(writer: Writer, picked: str) -> None:
    writer.save(1_000, "server")
    status = writer.choose(3_000, picked, replaces_sha256=hash_of("server"))
    assert (status.rev, writer.row().draft_text) == (2, picked)
    assert DraftRevision.objects.get(session=writer.session, rev=2).source == "resolve"
    assert writer.save(4_000, "goes on").rev == 3


def test_choosing_against_a_text_that_has_changed_is_a_conflict_again(writer: Writer) -> None:
    writer.save(1_000, "server")
    writer.save(2_000, "newer")
    with pytest.raises(StaleDraft) as refusal:
        writer.choose(3_000, "mine", replaces_sha256=hash_of("server"))
    assert refusal.value.server_text == "newer"
    assert writer.revisions()[-1] == (None, 3_000, "mine", "conflict")


def test_of_two_tabs_the_newer_one_writes_and_the_text_of_the_older_is_kept(writer: Writer) -> None:
    writer.save(1_000, "old tab")
    newer = Writer(writer.session, "tab-2")
    status, text = newer.claim(2_000)
    assert (status.rev, text, status.is_active_tab) == (1, "old tab", True)
    newer.save(3_000, "new tab")
    with pytest.raises(TabLost) as refusal:
        writer.save(4_000, "old tab goes on")
    assert (refusal.value.server_text, refusal.value.status.is_active_tab) == ("new tab", False)
    assert writer.revisions()[-1] == (None, 4_000, "old tab goes on", "tab_lost")
    writer.claim(5_000)
    assert writer.save(6_000, "back in the old tab").rev == 3


def test_the_first_tab_that_saves_holds_the_session(writer: Writer) -> None:
    writer.save(1_000, "one")
    assert writer.row().active_tab == "tab-1"
    with pytest.raises(TabLost):
        Writer(writer.session, "tab-2", rev=1).save(2_000, "two")


def test_emptying_a_long_draft_needs_a_word_that_it_is_meant(writer: Writer) -> None:
    writer.save(1_000, LONG)
    with pytest.raises(EmptyNeedsConfirmation) as refusal:
        writer.save(2_000, " \n")
    assert refusal.value.server_text == LONG
    assert writer.row().draft_text == LONG
    assert writer.save(3_000, "", confirm_empty=True).rev == 2
    assert writer.row().draft_text == ""


def test_emptying_a_short_draft_needs_nothing(writer: Writer) -> None:
    writer.save(1_000, "short")
    assert writer.save(2_000, "").rev == 2


def test_a_text_of_sixty_kilobytes_is_stored_and_one_byte_more_is_not(writer: Writer) -> None:
    assert writer.save(1_000, "é" * (MAX_TEXT_BYTES // 2)).rev == 1
    with pytest.raises(DraftTooLong):
        writer.save(2_000, "é" * (MAX_TEXT_BYTES // 2) + "x")
    assert len(writer.revisions()) == 1


def test_a_text_after_the_end_is_kept_uncounted_and_changes_nothing(writer: Writer) -> None:
    writer.save(1_000, "in time")
    writer.submit(2_000)
    with pytest.raises(SessionClosed) as refusal:
        writer.save(3_000, "too late")
    assert refusal.value.status.state == "submitted"
    assert writer.revisions()[-1] == (None, 2_000, "too late", "closed")
    assert (writer.row().draft_text, writer.snapshots()) == ("in time", {2_000: "in time"})


def test_a_text_in_a_pause_is_kept_and_can_be_sent_again_after_it(writer: Writer) -> None:
    writer.save(1_000, "one")
    writer.pause(2_000)
    with pytest.raises(SessionPaused):
        writer.save(3_000, "two")
    writer.resume(4_000)
    assert writer.save(5_000, "two").rev == 2
    assert writer.revisions()[-1] == (2, 3_000, "two", "")


def test_a_session_that_was_not_started_takes_no_text_but_keeps_it(ben) -> None:
    writer = Writer(make_session(annotator=ben))
    with pytest.raises(NotStarted):
        writer.save(1_000, "eager")
    assert writer.revisions() == [(None, 0, "eager", "not_started")]


def test_a_text_typed_offline_into_a_lapsed_lease_is_taken_at_the_lapse_with_its_lateness(ben) -> None:
    writer = Writer(start_session(ben, disconnect_policy="auto_pause"))
    writer.save(60_000, "before")
    status = writer.save(1_000_000, "typed offline")
    assert (status.rev, status.state, status.paused_by, status.active_ms) == (2, "paused", "lease", 240_000)
    row = DraftRevision.objects.get(session=writer.session, rev=2)
    assert (row.active_ms, row.late_ms) == (240_000, 760_000)
    assert writer.save(1_001_000, "and more").rev == 3


def test_the_tab_that_lost_the_session_does_not_keep_its_lease_alive(ben) -> None:
    old = Writer(start_session(ben, disconnect_policy="auto_pause"), "old")
    Writer(old.session, "new").claim(10_000)
    for at in (60_000, 120_000, 180_000):
        assert old.beat(at).state == "running"
    assert old.beat(190_000).state == "paused"
    assert old.row().acc_ms == 190_000


def test_a_long_silence_does_not_overflow_the_lateness(ben) -> None:
    writer = Writer(start_session(ben, disconnect_policy="auto_pause"))
    writer.save(40 * 24 * 3_600_000, "found in a drawer")
    assert DraftRevision.objects.get(session=writer.session).late_ms == 2**31 - 1


def test_pause_and_submit_carry_the_draft_in_the_same_step(writer: Writer) -> None:
    status = writer.pause(1_000, "with the pause")
    assert (status.rev, status.state, status.paused_by) == (1, "paused", "pause")
    writer.resume(5_000)
    status = writer.submit(6_000, "with the submit")
    assert (status.rev, status.state) == (2, "submitted")
    assert writer.snapshots() == {2_000: "with the submit"}


@pytest.mark.parametrize("verb", ["pause", "submit"])
def test_a_pause_or_submit_whose_draft_is_refused_leaves_the_clock_running(writer: Writer, verb: str) -> None:
    writer.save(1_000, "server")
    with pytest.raises(StaleDraft):
        getattr(writer, verb)(2_000, "mine", base_rev=0)
    assert writer.row().state == "running"
    assert writer.revisions()[-1] == (None, 2_000, "mine", "conflict")


def test_a_draft_that_was_saved_before_its_pause_arrives_is_one_row_and_the_pause_happens(writer: Writer) -> None:
    writer.save(1_000, "text", op_id="both", base_rev=0)
    status = writer.pause(2_000, "text", op_id="both", base_rev=0)
    assert (status.rev, status.state) == (1, "paused")
    assert len(writer.revisions()) == 1


def test_submitting_from_a_pause_may_repeat_the_text_but_not_change_it(writer: Writer) -> None:
    writer.pause(1_000, "text")
    with pytest.raises(SessionPaused):
        writer.submit(2_000, "text, and more")
    assert writer.submit(3_000, "text").state == "submitted"


def test_events_come_with_a_save_and_once_however_often_they_are_sent(writer: Writer) -> None:
    events = (Event(1, "search", {"query": "ferry"}), Event(2, "blur", {"ms": 900}))
    writer.save(1_000, "one", events=events)
    writer.save(2_000, "two", events=(*events, Event(3, "paste", {"size": 12})))
    rows = SessionEvent.objects.filter(session=writer.session).order_by("client_seq")
    assert [(row.client_seq, row.type, row.active_ms) for row in rows] == [
        (1, "search", 1_000),
        (2, "blur", 1_000),
        (3, "paste", 2_000),
    ]


def test_an_ordinary_save_costs_five_statements_and_reads_no_documents(writer: Writer) -> None:
    writer.save(1_000, "one")
    with CaptureQueriesContext(connection) as captured:
        drafting.save(session=writer.session, message=writer.message("two"), now=after(2_000))
    kinds = [each["sql"].split()[0] for each in captured.captured_queries]
    assert kinds == ["SAVEPOINT", "SELECT", "INSERT", "UPDATE", "RELEASE"]
    assert "document_numbers" not in captured.captured_queries[1]["sql"]
    assert "config" not in captured.captured_queries[1]["sql"]


def test_a_session_that_is_gone_is_not_found(writer: Writer) -> None:
    with pytest.raises(Session.DoesNotExist):
        drafting.save(session=Session(pk=0), message=writer.message("too late"), now=after(1_000))
