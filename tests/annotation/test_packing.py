"""Drafts of sessions that are over are compressed; nothing that anybody can see of them changes."""

import random
import uuid
from datetime import timedelta
from typing import Any

import pytest

from annotation.models import DraftRevision, PackedRows, Session, SessionEvent
from annotation.people.removal import going_of
from annotation.writing import drafting, late, packing, result_views, scoring, settling
from annotation.writing.drafting import Event
from annotation.writing.files import files_of
from annotation.writing.results import with_facts
from benchmarks.engine import versions
from benchmarks.io import published
from tests.annotation.writer import Writer, after, start_session
from tests.makers import FILLER
from tests.running import output_of

pytestmark = [pytest.mark.django_db, pytest.mark.every_database]

MINUTE = 60_000
LATER = after(3 * 24 * 60 * MINUTE)


@pytest.fixture
def writer(ben) -> Writer:
    """A session that is over, with a refused text, events of both sorts, and a late text that was accepted."""
    writer = Writer(start_session(ben))
    for n in range(1, 40):
        events = (Event(n, "search", {"query": f"ferry {n}"}), Event(1000 + n, "paste", {"length": n}))
        writer.save(n * 20_000, "- The ferry leaves at six. [1]\n" * n, op_id=f"save-{n}", events=events)
    with pytest.raises(drafting.StaleDraft):
        writer.save(14 * MINUTE, "- From long ago.", op_id="stale", base_rev=3)
    writer.submit(15 * MINUTE)
    with pytest.raises(drafting.SessionClosed):
        writer.save(16 * MINUTE, "- And one more. [2]", op_id="late")
    late.accept(session=writer.row(), op_id="late", by=None, reason="no connection", now=after(17 * MINUTE))
    return writer


def looked_over() -> None:
    """What a worker does to a finished text."""
    scoring.score_snapshots(now=LATER)
    scoring.check_growth(now=LATER)


def all_that_is_seen(session: Session) -> dict[str, Any]:
    """The files of the study, and the page of the session."""
    study = session.assignment.study
    assert study is not None
    judge = versions.default_judge(now=LATER)
    files = {
        file.name: b"".join(
            piece if isinstance(piece, bytes) else piece.encode() for piece in file.content(reader="programs")
        )
        for file in files_of(study, LATER)
    }
    [row] = with_facts(Session.objects.filter(pk=session.pk))
    page = result_views.build(session=row, judge=judge, present_only=False)
    shown = {name: page[name] for name in ("timeline", "jumps", "copied", "insights", "result")}
    times = [(event.type, event.at, event.payload) for event in page["events"]]
    return {**files, **shown, "events": times, "late": [text.n_new for text in page["late_texts"]]}


def rows() -> list[list[dict[str, Any]]]:
    """Every draft and event, with every column."""
    return [list(model.objects.order_by("pk").values()) for model in (DraftRevision, SessionEvent)]


def test_files_pages_and_figures_are_the_same_once_drafts_are_packed(writer: Writer) -> None:
    looked_over()
    seen, before = all_that_is_seen(writer.row()), rows()
    assert packing.pack_ended(now=LATER) == 1
    assert DraftRevision.objects.count() < 5  # those that snapshots name, and the late text
    assert set(SessionEvent.objects.values_list("type", flat=True)) == {"paste"}
    assert all_that_is_seen(writer.row()) == seen
    packing.unpack(session_id=writer.session.pk)
    assert rows() == before
    assert not PackedRows.objects.exists()


def test_finished_texts_are_looked_over_alike_from_packed_drafts(writer: Writer) -> None:
    before = growth_of(writer)
    packing.pack(session_id=writer.session.pk, now=LATER)
    assert growth_of(writer) == before != []


def growth_of(writer: Writer) -> list[Any]:
    """What is found anew in the drafts of the session."""
    scoring.check_growth(now=LATER)
    final = writer.row().snapshots.get(kind="final")
    jumps = final.growth_check.jumps
    final.growth_check.delete()
    return [jumps]


def test_a_draft_and_events_that_a_browser_sends_again_are_known_though_packed(writer: Writer) -> None:
    packing.pack(session_id=writer.session.pk, now=LATER)
    before = rows()
    status = writer.save(
        20 * MINUTE, "- The ferry leaves at six. [1]\n" * 5, op_id="save-5", base_rev=4,
        events=(Event(5, "search", {"query": "ferry 5"}),),
    )  # fmt: skip
    assert (status.rev, status.state) == (5, "submitted")
    assert rows() == before


def test_a_packed_session_that_gets_time_back_has_its_drafts_again(writer: Writer) -> None:
    before = [row["op_id"] for row in rows()[0]]
    packing.pack(session_id=writer.session.pk, now=LATER)
    settling.reopen(session=writer.row(), by=None, delta_ms=30 * MINUTE, reason="fire alarm", now=LATER)
    assert [row["op_id"] for row in rows()[0]] == before
    assert packing.pack(session_id=writer.session.pk, now=LATER) == 0


@pytest.mark.parametrize("why", ["not looked over yet", "ended just now", "running"])
def test_drafts_stay_while_something_may_still_be_done_with_them(writer: Writer, why: str) -> None:
    now = LATER
    if why != "not looked over yet":
        looked_over()
    if why == "ended just now":
        now = after(20 * MINUTE)
    if why == "running":
        settling.reopen(session=writer.row(), by=None, delta_ms=30 * MINUTE, reason="fire alarm", now=now)
    assert packing.pack_ended(now=now + timedelta(minutes=1)) == 0


def test_packing_stops_when_its_time_is_up_and_goes_on_later(writer: Writer) -> None:
    looked_over()
    assert packing.pack_ended(now=LATER, until=lambda: True) == 0
    assert packing.pack_ended(now=LATER) == 1
    assert packing.pack_ended(now=LATER) == 0


def test_the_command_packs_without_a_worker(writer: Writer) -> None:
    looked_over()
    assert output_of("pack_drafts") == "1 sessions packed\n"


def test_what_a_removal_would_delete_is_counted_alike(writer: Writer) -> None:
    before = going_of(writer.session.annotator).totals
    packing.pack(session_id=writer.session.pk, now=LATER)
    assert going_of(writer.session.annotator).totals == before


def test_two_hours_of_saves_and_events_take_less_than_150_kb(ben) -> None:
    """1,440 saves of a text that grows to 3,000 letters, here and there changed, and 1,000 events."""
    dice, session, text = random.Random(1), start_session(ben), ""
    revisions, events = [], []
    for n in range(1, 1441):
        at = after(n * 5000 + dice.randint(0, 900))
        words = " ".join(dice.choices(FILLER, k=2)) + (f" [{n % 90}]\n- " if n % 6 == 0 else " ")
        place = len(text) if n % 5 else dice.randint(0, len(text))
        text = (text[:place] + words + text[place:])[-3000:]
        revisions.append(
            DraftRevision(
                session=session, rev=n, op_id=str(uuid.UUID(int=dice.getrandbits(128))), base_rev=n - 1,
                tab_id="t" * 36, text=text, sha256=published.sha256_of(text), received_at=at,
                typed_at=at - timedelta(milliseconds=700), active_ms=n * 5000,
                client_active_ms=n * 5000 + dice.randint(0, 99), source="typing", accepted=True,
            )
        )  # fmt: skip
        if n <= 1000:
            events.append(
                SessionEvent(
                    session=session, tab_id="t" * 36, client_seq=n, type="search", at_server=at, happened_at=at,
                    active_ms=n * 5000, payload={"query": " ".join(dice.choices(FILLER, k=2)), "hits": n % 7},
                )
            )  # fmt: skip
    DraftRevision.objects.bulk_create(revisions)
    SessionEvent.objects.bulk_create(events)
    Session.objects.filter(pk=session.pk).update(state="submitted", run_started_at=None, ended_at=LATER)
    assert packing.pack(session_id=session.pk, now=LATER) == 2440
    sizes = [len(pack.rows) for pack in PackedRows.objects.order_by("table")]
    assert sum(sizes) < 150_000, sizes
