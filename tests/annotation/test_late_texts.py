"""Text that arrives after the end of a session: stored, told of, and counted only by a decision."""

import csv
import io
import json
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.models import DraftRevision, LateDecision, LateNotes, Session, Snapshot, TypedText
from annotation.writing import late, packing, scoring, settling
from annotation.writing.curves import study_report
from annotation.writing.drafting import SessionClosed
from annotation.writing.sheet import progress_chart
from benchmarks.engine import judging, versions
from benchmarks.models import AuditEvent
from summhay_site.operations import erasing
from tests.annotation.test_session_endpoints import Browser
from tests.annotation.writer import Writer, after, start_session
from tests.makers import NOW

pytestmark = pytest.mark.django_db
IN_TIME = "- Every day the ferry leaves at six in the morning [1, 2]"
LATER = IN_TIME + "\n- The new pier opens in the spring of 2031 [2, 3, 4]"
LATEST = LATER + "\n- A crossing costs four euros [3, 5]"


@pytest.fixture
def writer(ben) -> Writer:
    """Somebody who has submitted one bullet after a minute."""
    made = Writer(start_session(ben))
    made.submit(60_000, IN_TIME)
    return made


def say_late(writer: Writer, text: str, at_ms: int = 90_000, **fields) -> str:
    """Send a text that comes too late; gives its operation."""
    with pytest.raises(SessionClosed):
        writer.save(at_ms, text, **fields)
    return str(DraftRevision.objects.filter(session=writer.session).latest("pk").op_id)


def waits(writer: Writer) -> list[str]:
    """What waits for a researcher of the study, as the home says it."""
    study = writer.session.assignment.study
    return [f"{one.text} {one.url}" for one in late.waiting({study.pk: study})]


def decide(client, writer: Writer, op_id: str, decision: str = "accept", reason: str = "the line was cut"):
    address = reverse("annotation:session-late-text", args=[writer.session.uid])
    return client.post(address, {"text": op_id, "decision": decision, "reason": reason}, follow=True)


@pytest.fixture
def researcher(ada, as_ada, writer: Writer):
    writer.session.assignment.study.researchers.add(ada)
    return as_ada


def score(now: datetime) -> None:
    for run in scoring.score_snapshots(now=now):
        judging.run_pending(run=run, clock=lambda: now)


def test_the_writer_reads_how_many_words_came_too_late_and_which(writer: Writer, as_ben) -> None:
    say_late(writer, LATER, typed_at_ms=int(after(55_000).timestamp() * 1000))
    for name in ("session-after", "session-own"):
        shown = as_ben.get(reverse(f"annotation:{name}", args=[writer.session.uid])).text
        assert "9 words arrived too late" in shown
        assert "The new pier opens" in shown
        assert "Last typed at 2026-03-02 09:00:55" in shown
        assert "Arrived at 2026-03-02 09:01:30" in shown
        assert "not counted unless a researcher accepts it" in shown


def test_every_late_text_is_kept_and_the_newest_comes_first(writer: Writer, researcher) -> None:
    say_late(writer, LATER)
    say_late(writer, LATEST, 95_000)
    say_late(writer, LATER, 99_000)
    assert [one.revision.text for one in late.late_texts(writer.row())] == [LATER, LATEST]
    assert DraftRevision.objects.filter(reject_code="closed").count() == 3
    shown = researcher.get(f"/sessions/{writer.session.uid}/").text
    assert shown.index("9 words arrived too late") < shown.index("14 words arrived too late")


@pytest.mark.parametrize("text", [IN_TIME, f"{IN_TIME}  \n", ""])
def test_of_a_text_that_is_the_final_one_there_is_nothing_to_tell(ben, as_ben, text: str) -> None:
    writer = Writer(start_session(ben))
    writer.save(30_000, "- An earlier draft")
    writer.submit(60_000, IN_TIME)
    say_late(writer, text)
    assert late.late_texts(writer.row()) == []
    assert "late-title" not in as_ben.get(reverse("annotation:session-own", args=[writer.session.uid])).text


def test_a_late_text_that_was_a_draft_once_is_told_of_like_any_other(ben, as_ben, ada, as_ada) -> None:
    session = start_session(ben)
    writer = Writer(session)
    writer.save(20_000, LATER)
    writer.submit(60_000, IN_TIME)
    session.assignment.study.researchers.add(ada)
    say_late(writer, LATER)
    shown = as_ben.get(reverse("annotation:session-own", args=[session.uid])).text
    assert "9 words arrived too late" in shown
    assert waits(writer) == [f"1 late text to review /sessions/{session.uid}/"]
    assert "9 words arrived too late" in as_ada.get(f"/sessions/{session.uid}/").text


def test_a_late_text_changes_no_figure_and_is_not_scored(writer: Writer, researcher, now: datetime) -> None:
    score(now)
    study, judge = writer.session.assignment.study, versions.default_judge(now=now)
    before = study_report(study=study, judge=judge)
    say_late(writer, LATEST)
    score(now)
    assert Snapshot.objects.get(kind="final").text == IN_TIME
    assert study_report(study=study, judge=judge, with_late=True).sessions[0].stats == before.sessions[0].stats
    assert "arrived too late" in researcher.get(f"/sessions/{writer.session.uid}/").text


def test_an_accepted_late_text_is_a_second_final_text_that_figures_hold_only_on_request(
    writer: Writer, researcher, now: datetime
) -> None:
    op_id = say_late(writer, LATEST)
    score(now)
    assert "second final text" in decide(researcher, writer, op_id).text
    score(now)
    while scoring.check_late_copying(now=now):
        pass
    study, judge = writer.session.assignment.study, versions.default_judge(now=now)
    submitted, with_late = (study_report(study=study, judge=judge, with_late=each) for each in (False, True))

    def coverage(report) -> float:
        return float(report.sessions[0].stats[0].value)

    assert coverage(submitted) < coverage(with_late)
    assert submitted.curves[0].sessions[-1].value < with_late.curves[0].sessions[-1].value
    assert Snapshot.objects.get(kind="final").text == IN_TIME
    assert Snapshot.objects.count() == 1
    assert "late text accepted" in submitted.sessions[0].flags
    assert "1 session ends with an accepted late text" in progress_chart(with_late).subtitle
    assert "late text counted" in researcher.get(f"/studies/{study.uid}/results/?texts=late").text
    assert researcher.get(f"/studies/{study.uid}/results/figures.json?texts=late").json()["final_text"] == "late"
    assert researcher.get(f"/studies/{study.uid}/results/figures.json").json()["final_text"] == "submitted"


@pytest.mark.every_database
def test_the_files_say_which_text_is_which(writer: Writer, researcher, now: datetime) -> None:
    decide(researcher, writer, say_late(writer, LATEST, typed_at_ms=int(after(50_000).timestamp() * 1000)))
    score(now)
    base = f"/studies/{writer.session.assignment.study.uid}/files/"

    def read(name: str) -> str:
        return b"".join(researcher.get(base + name).streaming_content).decode()

    [row] = csv.DictReader(io.StringIO(read("sessions.csv")))
    assert (row["n_late_texts"], row["late_text"], row["late_text_reason"]) == (
        "1",
        "accepted",
        "the line was cut",
    )
    [text] = [json.loads(line) for line in read("late_texts.jsonl").splitlines()]
    assert (text["text"], text["is_accepted"], text["n_new_words"]) == (LATEST, True, 14)
    assert text["typed_at"] == "2026-03-02T09:00:50+00:00"
    assert text["summary"]
    curve = list(csv.DictReader(io.StringIO(read("curve.csv"))))
    assert {row["final_text"] for row in curve} == {"submitted", "late", "typed"}
    assert {json.loads(line)["kind"] for line in read("snapshots.jsonl").splitlines()} == {"final"}


@pytest.mark.every_database
def test_decisions_are_audited_and_can_be_taken_back(writer: Writer, researcher, ada) -> None:
    op_id = say_late(writer, LATER)
    assert "needs a reason" in decide(researcher, writer, op_id, reason=" ").text
    assert not LateDecision.objects.exists()
    decide(researcher, writer, op_id)
    decide(researcher, writer, op_id)
    assert writer.row().late_text is not None
    decide(researcher, writer, op_id, "decline", "typed after the end")
    assert writer.row().late_text is None
    assert list(LateDecision.objects.values_list("is_accepted", "reason")) == [
        (True, "the line was cut"),
        (False, "typed after the end"),
    ]
    actions = AuditEvent.objects.filter(action__startswith="session.late_text").order_by("pk")
    assert [(event.action, event.actor) for event in actions] == [
        ("session.late_text_accepted", ada),
        ("session.late_text_declined", ada),
    ]


def test_of_two_late_texts_the_one_accepted_last_counts(writer: Writer, researcher) -> None:
    first, second = say_late(writer, LATER), say_late(writer, LATEST)
    decide(researcher, writer, first)
    decide(researcher, writer, second)
    assert [one.is_accepted for one in late.late_texts(writer.row())] == [True, False]


def test_giving_time_back_ends_the_acceptance_with_the_end_it_stood_for(
    writer: Writer, researcher, eve, as_ben
) -> None:
    decide(researcher, writer, say_late(writer, LATER))
    settling.reopen(session=writer.row(), by=eve, delta_ms=60_000, reason="a power cut", now=after(120_000))
    assert writer.row().late_text is None
    assert "9 words arrived too late" in as_ben.get(f"/work/sessions/{writer.session.uid}/").text


@pytest.mark.every_database
@pytest.mark.parametrize("state", ["running", "voided"])
def test_only_a_session_that_ended_by_itself_can_have_an_accepted_late_text(
    ben, as_ben, ada, eve, state: str
) -> None:
    writer = Writer(start_session(ben))
    writer.session.assignment.study.researchers.add(ada)
    writer.save(1_000, IN_TIME)
    if state == "voided":
        settling.void(session=writer.session, by=eve, reason="two at a desk", now=after(2_000))
        op_id = say_late(writer, LATER)
    else:
        op_id = DraftRevision.objects.get().op_id
        Session.objects.filter(pk=writer.session.pk).update(next_due_at=after(10**12))
    with pytest.raises(late.NotDecidable):
        late.accept(session=writer.row(), op_id=op_id, by=ada, reason="x", now=after(3_000))
    assert Session.objects.get().late_text is None
    if state == "voided":
        own = as_ben.get(f"/work/sessions/{writer.session.uid}/own/").text
        assert "9 words arrived too late" in own
        assert "unless a researcher accepts it" not in own
        assert waits(writer) == []
    with pytest.raises(IntegrityError), transaction.atomic():
        Session.objects.update(late_text=DraftRevision.objects.latest("pk"))


def test_a_text_in_time_cannot_be_accepted_as_late(writer: Writer, ada) -> None:
    in_time = DraftRevision.objects.get(accepted=True)
    with pytest.raises(late.NotDecidable):
        late.accept(session=writer.row(), op_id=in_time.op_id, by=ada, reason="x", now=after(90_000))


def test_the_work_of_an_erased_person_keeps_its_late_text(writer: Writer, researcher, ben, eve) -> None:
    op_id = say_late(writer, LATER)
    erasing.erase(actor=eve, user=ben, now=NOW)
    assert "9 words arrived too late" in researcher.get(f"/sessions/{writer.session.uid}/").text
    decide(researcher, writer, op_id)
    assert writer.row().late_text is not None


def test_a_browser_is_told_how_many_words_came_too_late(writer: Writer, as_ben, dot, login, time_machine) -> None:
    time_machine.move_to(after(120_000), tick=False)
    answer = Browser(as_ben, writer.session).draft(LATER, base_rev=1)
    assert (answer.status_code, answer.json()["late_words"]) == (410, 9)
    assert Browser(login(dot), writer.session).draft(LATEST, base_rev=1).status_code == 404
    assert not DraftRevision.objects.filter(text=LATEST).exists()


@pytest.mark.parametrize(("claimed", "stored"), [(-10_000, 0), (40_000, 40_000), (10**9, 90_000), (2**52, None)])
def test_what_the_browsers_clock_says_is_moved_into_the_session(
    writer: Writer, as_ben, time_machine, claimed: int, stored: int | None
) -> None:
    time_machine.move_to(after(90_000), tick=False)
    ms = claimed if claimed == 2**52 else int(after(claimed).timestamp() * 1000)
    Browser(as_ben, writer.session).draft(LATER, base_rev=1, typed_at=ms)
    assert DraftRevision.objects.get(text=LATER).typed_at == (None if stored is None else after(stored))


def test_notes_that_come_too_late_or_from_an_older_tab_are_stored_for_their_writer_alone(
    writer: Writer, researcher, as_ben, time_machine
) -> None:
    time_machine.move_to(NOW + timedelta(hours=1), tick=False)
    browser = Browser(as_ben, writer.session)
    for _ in range(2):
        assert browser.post("notes", text="look for the <pier>", op_id="n1").status_code == 410
    assert LateNotes.objects.get().text == "look for the <pier>"
    own = browser.client.get(reverse("annotation:session-own", args=[writer.session.uid])).text
    assert "look for the &lt;pier&gt;" in own
    assert "look for" not in researcher.get(f"/sessions/{writer.session.uid}/").text


def test_notes_of_a_tab_that_lost_the_session_are_stored_apart(ben, as_ben, time_machine) -> None:
    time_machine.move_to(NOW, tick=False)
    session = start_session(ben)
    Browser(as_ben, session, "tab-2").post("claim")
    assert Browser(as_ben, session, "tab-1").post("notes", text="mine", op_id="n1").status_code == 409
    assert (LateNotes.objects.get().text, LateNotes.objects.get().reject_code) == ("mine", "tab_lost")
    assert Session.objects.get().notes_text == ""


def test_open_questions_come_back_until_they_are_answered_or_declined(writer: Writer, as_ben) -> None:
    url = reverse("annotation:session-after", args=[writer.session.uid])

    def asks() -> list[bool]:
        return [url in as_ben.get("/work/").text, url in as_ben.get("/", follow=True).text]

    assert asks() == [True, True]
    as_ben.get(url)
    assert asks() == [True, True]
    assert as_ben.post(url, {"decline": "1"}).headers["Location"] == "/work/"
    assert asks() == [False, False]
    assert as_ben.get(url).headers["Location"] == reverse("annotation:session-own", args=[writer.session.uid])


def test_answered_questions_are_not_asked_again(writer: Writer, as_ben) -> None:
    url = reverse("annotation:session-after", args=[writer.session.uid])
    as_ben.post(url, {"time_was_enough": "yes", "used_no_model": "yes"})
    assert url not in as_ben.get("/work/").text
    assert as_ben.post(url, {"decline": "1"}).status_code == 302
    assert Session.objects.get().questions_declined_at is None


def test_my_work_shows_a_session_whose_time_is_up_as_over(ben, as_ben, time_machine) -> None:
    session = start_session(ben)
    time_machine.move_to(NOW + timedelta(hours=5), tick=False)
    shown = as_ben.get("/work/").text
    assert reverse("annotation:session-after", args=[session.uid]) in shown
    assert reverse("annotation:session", args=[session.uid]) + '"' not in shown


def test_the_home_counts_each_text_that_the_page_asks_for_and_no_other(writer: Writer, researcher) -> None:
    page = reverse("annotation:session-results", args=[writer.session.uid])
    say_late(writer, f"{IN_TIME}  \n")
    assert waits(writer) == [], "only blanks are new"
    op_id = say_late(writer, LATER)
    assert waits(writer) == [f"1 late text to review {page}"]
    decide(researcher, writer, op_id, "decline")
    assert waits(writer) == []
    say_late(writer, LATER, 95_000)
    assert waits(writer) == [], "the same text was decided on"
    say_late(writer, LATEST, 99_000)
    assert waits(writer) == [f"1 late text to review {page}"]


@pytest.mark.every_database
def test_what_had_been_typed_by_the_mark_stands_beside_what_is_recorded(ben, ada, as_ada) -> None:
    """Typed offline before the mark of ten minutes and before the end, by a browser whose clock is slow by 5 s."""
    writer = Writer(start_session(ben))
    writer.session.assignment.study.researchers.add(ada)

    def typed(ms: int) -> int:
        return int(after(ms - 5_000).timestamp() * 1000)

    writer.save(60_000, "- Boats", typed_at_ms=typed(58_000))
    writer.save(700_000, LATER, typed_at_ms=typed(590_000), offline_ms=100_000)
    writer.save(720_000, LATEST, typed_at_ms=typed(718_000))
    writer.submit(900_000)
    say_late(writer, LATEST + " indeed", 950_000, typed_at_ms=typed(890_000))
    say_late(writer, LATEST + " and after the end", 960_000, typed_at_ms=typed(899_500))
    recorded = writer.snapshots()
    session = writer.row()
    late.note_typed(now=after(970_000))
    second = {row.snapshot.mark_ms: (row.rev, row.text) for row in session.typed_texts.all()}
    assert second == {600_000: (2, LATER), 900_000: (None, LATEST + " indeed")}
    assert recorded == writer.snapshots() == {600_000: "- Boats", 900_000: LATEST}
    packing.pack(session_id=session.pk, now=after(1_000_000))
    address = f"/studies/{session.assignment.study.uid}/files/as_typed.jsonl"
    lines = b"".join(as_ada.get(address).streaming_content).splitlines()
    assert {(row["mark_ms"], row["text"]) for row in map(json.loads, lines)} == {
        (mark, text) for mark, (_rev, text) in second.items()
    }
    shown = as_ada.get(f"/sessions/{session.uid}/").text
    assert "(final)" in shown.partition("As typed")[2].partition("</section>")[0]


def written_offline(user) -> Writer:
    """Somebody who wrote the second bullet before the mark of ten minutes, without a connection until after it."""
    writer = Writer(start_session(user))
    writer.save(60_000, IN_TIME, typed_at_ms=int(after(60_000).timestamp() * 1000))
    writer.save(700_000, LATER, typed_at_ms=int(after(590_000).timestamp() * 1000), offline_ms=100_000)
    writer.submit(720_000)
    return writer


def test_figures_take_texts_as_typed_where_a_page_asks(ben, ada, as_ada, now: datetime) -> None:
    study = written_offline(ben).session.assignment.study
    study.researchers.add(ada)
    address = f"/studies/{study.uid}/results/figures.json"

    def coverage_at_the_mark(query: str = "") -> float:
        score(now)
        points = as_ada.get(f"{address}?{query}").json()["measures"]["coverage"]["sessions"]
        return float(next(point["value"] for point in points if point["mark_ms"] == 600_000))

    recorded = coverage_at_the_mark()
    assert coverage_at_the_mark("texts=typed") == recorded, "nobody has looked for texts as typed yet"
    late.note_typed(now=now)
    assert coverage_at_the_mark("texts=typed") > recorded
    assert coverage_at_the_mark() == recorded
    assert as_ada.get(f"{address}?texts=typed").json()["final_text"] == "typed"
    assert "1 text counts as typed by the mark" in as_ada.get(f"/studies/{study.uid}/results/?texts=typed").text
    assert TypedText.objects.get().summary is not None
    curve = b"".join(as_ada.get(f"/studies/{study.uid}/files/curve.csv").streaming_content).decode()
    assert {row["final_text"] for row in csv.DictReader(io.StringIO(curve))} == {"submitted", "typed"}


def test_a_text_that_comes_later_still_is_looked_at_again(writer: Writer) -> None:
    typed_at = int(after(55_000).timestamp() * 1000)
    Session.objects.filter(pk=writer.session.pk).update(as_typed_at=after(61_000))
    assert late.note_typed(now=after(62_000)) == 0
    say_late(writer, LATER, typed_at_ms=typed_at)
    assert late.note_typed(now=after(100_000)) == 1
    assert [row.text for row in TypedText.objects.all()] == [LATER]
    say_late(writer, IN_TIME, typed_at_ms=typed_at)
    late.note_typed(now=after(110_000))
    assert not TypedText.objects.exists(), "what was typed last is what is recorded"
