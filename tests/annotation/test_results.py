"""What was written is scored without being asked for, and a researcher sees it; nobody else does."""

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import CopyCheck, Exposure, Session, SessionEvent, Snapshot
from annotation.tasks import score_snapshots
from annotation.writing import files, scoring, settling
from annotation.writing.curves import study_report
from annotation.writing.late import changes
from annotation.writing.results import session_results, sessions_of
from annotation.writing.sheet import progress_chart
from benchmarks.engine import judging, runs, versions
from benchmarks.models import JudgeRun, Summary, Verdict
from tests.makers import fill_missing, flat, make_assignment, make_haystack, make_session, make_writing_study
from tests.running import csv_rows, output_of

MINUTE = 60_000
FIRST = "- Every day the ferry leaves at six in the morning [1, 2]"
BOTH = FIRST + "\n- As planned the new pier opens in the spring of 2031 [2, 3, 4]"


@pytest.fixture
def study(ada, ben, cleo):
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, texts in ((ben, [(5 * MINUTE, FIRST), (25 * MINUTE, BOTH)]), (cleo, [(15 * MINUTE, FIRST)])):
        task = make_assignment(annotator=person, study=study)
        session = make_session(assignment=task, state=Session.State.SUBMITTED, revisions=texts)
        fill_missing(session=session, now=timezone.now())
    return study


def judge_everything(now: datetime) -> list[JudgeRun]:
    runs = scoring.score_snapshots(now=now)
    for run in runs:
        judging.run_pending(run=run, clock=lambda: now)
    return runs


def test_every_snapshot_and_final_text_is_scored_without_being_asked_for(study, now: datetime) -> None:
    score_snapshots()
    results = session_results(sessions=sessions_of(study), judge=versions.default_judge(now=now))
    assert [len(result.snapshots) for result in results] == [3, 2]
    assert all(one.score is not None for result in results for one in result.snapshots)
    coverage = [one.score.scores.coverage.value for one in results[0].snapshots if one.score]
    assert coverage[0] == coverage[1] < coverage[2]


def test_a_text_that_two_people_wrote_is_judged_once(study, now: datetime) -> None:
    judge_everything(now)
    assert set(Summary.objects.values_list("text", flat=True)) == {"", FIRST, BOTH}
    assert Verdict.objects.count() == 3 * 3
    assert judge_everything(now) == []
    assert Verdict.objects.count() == 3 * 3


def test_a_study_is_scored_to_its_end_by_the_judge_that_began_and_a_new_one_by_the_default(
    study, ada, as_ada, ben, now: datetime, monkeypatch
) -> None:
    first = versions.offline_judge(name="lexical", now=now)
    with monkeypatch.context() as patch:
        patch.setattr(versions, "default_judge", lambda **_: first)
        judge_everything(now)
    haystack, soon = study.writing_plan.subtopics.first().haystack, now + timedelta(days=1)
    new = make_writing_study(haystack=haystack, name="New", researcher=ada, annotators=[ben], now=soon)
    for one, number, texts in ((study, 2, [BOTH]), (new, 1, [FIRST, "- Only here [1]"])):
        task = make_assignment(annotator=ben, study=one, subtopic=haystack.subtopics.get(number=number))
        written = [(5 * MINUTE * at, text) for at, text in enumerate(texts, 1)]
        fill_missing(session=make_session(assignment=task, state="submitted", revisions=written), now=soon)
    assert {run.judge.name for run in judge_everything(soon)} == {"lexical", "lexical-2"}
    for one, name in ((study, "lexical"), (new, "lexical-2")):
        assert scoring.judge_of(study=one.pk, now=soon).name == name
        texts = Summary.objects.filter(snapshots__session__assignment__study=one)
        assert not texts.exclude(verdicts__judge__name=name).exists(), "one measure for all of a study"
        page = as_ada.get(reverse("annotation:study-results", args=[one.uid]))
        assert f"by judge {name}." in flat(page.content.decode())


def test_more_snapshots_than_a_batch_are_all_scored_at_once(study, ben, now: datetime) -> None:
    session = Session.objects.get(annotator=ben.annotator)
    n = 2 * scoring.BATCH + 5
    assert n > 200
    Snapshot.objects.bulk_create(
        Snapshot(
            session=session, mark_ms=number, kind="mark", text=f"- Text {number}", filled_by="x", created_at=now
        )
        for number in range(n)
    )
    score_snapshots()
    assert Verdict.objects.values("summary").distinct().count() == n + 3
    assert set(JudgeRun.objects.values_list("state", flat=True)) == {JudgeRun.State.DONE}
    assert scoring.score_snapshots(now=now) == []


def test_a_lost_message_is_only_a_delay(study, now: datetime) -> None:
    [run] = scoring.score_snapshots(now=now)
    assert runs.unfinished_runs(now=now) == [run.uid]


def test_practice_is_never_scored(ben, now: datetime) -> None:
    task = make_assignment(annotator=ben, is_practice=True)
    session = make_session(assignment=task, state="submitted", revisions=[(MINUTE, FIRST)])
    fill_missing(session=session, now=now)
    assert Snapshot.objects.exists()
    assert scoring.score_snapshots(now=now) == []
    assert not Summary.objects.exists()


def test_the_curve_carries_an_ended_session_forward_only_where_it_says_so(study, now: datetime) -> None:
    judge_everything(now)
    judge = versions.default_judge(now=now)
    carried = study_report(study=study, judge=judge).curves[0]
    working = study_report(study=study, judge=judge, carried=False).curves[0]
    last = [result.final.score.scores.coverage.value for result in scored(study, now) if result.final]
    means = {point.mark_ms: point for point in carried.points}
    assert means[30 * MINUTE].mean.value == pytest.approx(sum(last) / 2)
    assert means[30 * MINUTE].n_sessions == 2
    assert {point.mark_ms: point.n_sessions for point in working.points}[30 * MINUTE] == 0
    assert means[10 * MINUTE].mean.value == pytest.approx(last[1] / 2)


def test_running_sessions_enter_the_curves_when_asked_up_to_their_last_mark(
    study, dot, ada, as_ada, now: datetime
) -> None:
    task = make_assignment(annotator=dot, study=study)
    texts = [(5 * MINUTE, FIRST), (25 * MINUTE, BOTH)]
    session = make_session(assignment=task, state="paused", revisions=texts, acc_ms=25 * MINUTE)
    fill_missing(session=session, now=now)
    judge_everything(now)
    judge = versions.default_judge(now=now)
    without = study_report(study=study, judge=judge)
    assert (without.n_counted, without.n_running) == (2, 1)
    assert "1 running session is excluded." in progress_chart(without).subtitle
    report = study_report(study=study, judge=judge, with_running=True)
    n = {point.mark_ms: point.n_sessions for point in report.curves[0].points}
    assert (report.n_counted, n[20 * MINUTE], n[30 * MINUTE]) == (3, 3, 2)
    assert "1 of them is still running" in progress_chart(report).subtitle
    page = reverse("annotation:study-results", args=[study.uid])
    assert "still running" in as_ada.get(f"{page}?running=running").text
    settling.exclude(session=session, by=ada, reason="was ill", now=now)
    assert study_report(study=study, judge=judge, with_running=True).n_counted == 2


def scored(study, now: datetime):
    return session_results(sessions=sessions_of(study), judge=versions.default_judge(now=now))


def test_an_excluded_session_leaves_the_figures_and_stays_in_the_table(study, ada, now: datetime) -> None:
    judge_everything(now)
    session = Session.objects.get(annotator__user__username="cleo")
    settling.exclude(session=session, by=ada, reason="was ill", now=now)
    report = study_report(study=study, judge=versions.default_judge(now=now))
    assert report.n_counted == 1
    assert [row.is_excluded for row in report.sessions] == [False, True]
    settling.lift_exclusion(session=session, by=ada, now=now)
    assert study_report(study=study, judge=None).n_counted == 2


def test_copied_text_is_flagged_for_review(study, now: datetime) -> None:
    while scoring.check_copying(now=now):
        pass
    assert CopyCheck.objects.count() == 2
    check = CopyCheck.objects.get(snapshot__session__annotator__user__username="ben")
    assert check.n_flagged == 2
    assert {line["line"] for line in check.lines} == {1, 2}


def test_what_changed_rebuilds_both_texts() -> None:
    before, after = "one two  three\nfour", "one three\nfour five"
    found = changes(before, after)
    assert "".join(change.text for change in found if change.kind != "delete") == after
    assert "".join(change.text for change in found if change.kind == "delete").strip() == "two"


def test_the_researcher_sees_curves_and_sessions(study, ada, as_ada, now: datetime) -> None:
    judge_everything(now)
    body = as_ada.get(f"/studies/{study.uid}/results/").content.decode()
    assert "annotator1" in body
    assert "svg" in body
    session = Session.objects.get(annotator__user__username="ben")
    page = as_ada.get(f"/sessions/{session.uid}/").content.decode()
    assert "the new pier opens" in page
    assert "<ins>" in flat(as_ada.get(f"/sessions/{session.uid}/snapshots/{25 * MINUTE}/").content.decode())
    assert Exposure.objects.filter(user=ada, haystack__key="ferry").exists()
    page = flat(as_ada.get(f"/studies/{study.uid}/results/?sessions-sort=-minutes").content.decode())
    assert 'id="look" method="get"' in page
    assert '<input type="hidden" name="sessions-sort" value="-minutes">' in page


def test_a_study_without_sessions_says_what_will_come(ada, as_ada) -> None:
    study = make_writing_study(researcher=ada)
    assert "first snapshot" in as_ada.get(f"/studies/{study.uid}/results/").content.decode()


def read(client: Client, address: str) -> bytes:
    response = client.get(address)
    assert response.status_code == 200
    return response.getvalue()


def test_everything_can_be_downloaded_and_names_never_leave(study, as_ada, now: datetime) -> None:
    judge_everything(now)
    base = f"/studies/{study.uid}/files/"
    for name in files.files(study, None, now):
        assert name in {"as_typed.jsonl", "events.jsonl", "late_texts.jsonl"} or read(as_ada, base + name)
    rows = csv_rows(read(as_ada, base + "sessions.csv"))
    assert [row["annotator"] for row in rows] == ["annotator1", "annotator2"]
    assert rows[0]["active_ms"] == str(25 * MINUTE)
    revisions = [
        json.loads(line) for line in gzip.decompress(read(as_ada, base + "revisions.jsonl.gz")).splitlines()
    ]
    assert [row["text"] for row in revisions] == [FIRST, BOTH, FIRST]
    marks = [json.loads(line) for line in read(as_ada, base + "snapshots.jsonl").splitlines()]
    assert [row["mark_ms"] for row in marks[:3]] == [10 * MINUTE, 20 * MINUTE, 25 * MINUTE]
    manifest = json.loads(read(as_ada, base + "manifest.json"))
    assert manifest["counts"] == {"sessions": 2, "revisions": 3, "snapshots": 5}
    for kind in ("svg", "png", "pdf"):
        assert read(as_ada, f"/studies/{study.uid}/results/curves.{kind}")
    assert as_ada.get(f"/studies/{study.uid}/results/curves.exe").status_code == 404
    assert read(as_ada, as_ada.get(f"/studies/{study.uid}/results/curves.json").headers["Location"])
    assert as_ada.get(base + "passwords.csv").status_code == 404
    for name in files.files(study, None, now):
        content = read(as_ada, f"/studies/{study.uid}/files/{name}")
        content = gzip.decompress(content) if name.endswith(".gz") else content
        assert b"ben" not in content.lower()


def test_events_are_exported_as_stored_and_in_few_pieces(study, as_ada, now: datetime) -> None:
    session = Session.objects.get(annotator__user__username="ben")
    at = now + timedelta(microseconds=123_456)
    payload = {"query": "Hafen “München”", "hits": 17, "ratio": 0.5, "case": False, "gone": None}
    SessionEvent.objects.bulk_create(
        SessionEvent(
            session=session,
            tab_id="t",
            client_seq=number,
            type="search",
            at_server=at,
            active_ms=number,
            payload=payload,
        )
        for number in range(500)
    )
    pieces = list(as_ada.get(f"/studies/{study.uid}/files/events.jsonl").streaming_content)
    rows = [json.loads(line) for line in b"".join(pieces).splitlines()]
    assert [row["seq"] for row in rows] == list(range(500))
    assert rows[7] == {
        "session": str(session.uid),
        "seq": 7,
        "type": "search",
        "at": "2026-03-02T09:00:00.123456+00:00",
        "happened_at": None,
        "active_ms": 7,
        "payload": payload,
    }
    assert len(pieces) < 10


def test_an_admin_credits_and_voids_with_a_reason(study, as_eve) -> None:
    session = Session.objects.get(annotator__user__username="ben")
    address = f"/sessions/{session.uid}/"
    as_eve.post(address + "void/", {"reason": ""})
    as_eve.post(address + "void/", {"reason": "it is over already"})
    assert Session.objects.get(pk=session.pk).state == "submitted"
    as_eve.post(address + "credit/", {"reason": "the network was down", "minutes": "10"})
    again = Session.objects.get(pk=session.pk)
    assert (again.state, again.limit_ms - session.limit_ms) == ("paused", 10 * MINUTE)
    as_eve.post(address + "void/", {"reason": "two people at one desk"})
    assert Session.objects.get(pk=session.pk).void_reason == "two people at one desk"


def test_the_command_writes_what_the_page_offers(study, as_ada, now: datetime, tmp_path: Path) -> None:
    judge_everything(now)
    output_of("export_sessions", study=study.name, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*files.files(study, None, now), "manifest.json"}
    for name in files.files(study, None, now):
        assert (tmp_path / name).read_bytes() == read(as_ada, f"/studies/{study.uid}/files/{name}")
    with pytest.raises(CommandError, match="no writing study"):
        call_command("export_sessions", study="nothing", out=tmp_path)
    with pytest.raises(CommandError, match=r"manifest.json cannot be made a folder: File exists."):
        call_command("export_sessions", study=study.name, out=tmp_path / "manifest.json")


@pytest.mark.parametrize(("minutes_after_start", "flagged"), [(-5, True), (10, True), (60, False)])
def test_a_writer_who_saw_insights_before_the_end_is_flagged(
    minutes_after_start: int, flagged: bool, study, as_ada, ben
) -> None:
    session = Session.objects.get(annotator=ben.annotator)
    at = session.started_at + timedelta(minutes=minutes_after_start)
    Exposure.objects.create(user=ben, haystack=session.assignment.subtopic.haystack, reason="page", first_at=at)
    flags = [row.flags for row in study_report(study=study, judge=None).sessions]
    assert flags == [("saw insights before the end",) if flagged else (), ()]
    shown = as_ada.get(f"/sessions/{session.uid}/").text
    assert ("saw reference insights of the haystack before" in shown) is flagged


def test_the_time_of_a_running_session_is_what_the_server_last_heard(study, as_ada, dot, now: datetime) -> None:
    task = make_assignment(annotator=dot, study=study)
    session = make_session(assignment=task, state=Session.State.RUNNING, now=timezone.now())
    Session.objects.filter(pk=session.pk).update(clock_hwm=session.run_started_at + timedelta(minutes=25))
    assert [row.minutes for row in study_report(study=study, judge=None).sessions] == [25.0, 15.0, 25.0]
    assert "25.0 / " in as_ada.get(f"/sessions/{session.uid}/").text


def test_taking_minutes_away_opens_no_session_that_is_over(study, as_eve, ben) -> None:
    session = Session.objects.get(annotator=ben.annotator)
    response = as_eve.post(f"/sessions/{session.uid}/credit/", {"minutes": "-5", "reason": "A slip"}, follow=True)
    assert "not deduct them" in response.text
    session.refresh_from_db()
    assert (session.state, session.credits.count()) == ("submitted", 0)


@pytest.mark.parametrize("used_no_model", [True, False])
def test_a_language_model_that_the_writer_tells_of_is_exported_and_flagged_and_leaves_nothing_out(
    used_no_model: bool, study, as_ada, ben, as_ben, now: datetime
) -> None:
    session = Session.objects.get(annotator=ben.annotator)
    Session.objects.filter(pk=session.pk).update(attested_before_at=now)
    answers = {"time_was_enough": "yes", "used_no_model": "yes" if used_no_model else "no", "comment": ""}
    assert as_ben.post(f"/work/sessions/{session.uid}/after/", answers).status_code == 302
    rows = csv_rows(read(as_ada, f"/studies/{study.uid}/files/sessions.csv"))
    assert [row["used_no_model"] for row in rows] == [str(used_no_model), ""]
    assert [row["attested_before_at"] for row in rows] == [now.isoformat(), ""]
    assert [bool(row["reported_at"]) for row in rows] == [True, False]
    for address in (f"/studies/{study.uid}/results/", f"/sessions/{session.uid}/"):
        assert ("used a language model" in read(as_ada, address).decode()) is not used_no_model
    assert study_report(study=study, judge=None).n_counted == 2


@pytest.mark.parametrize(("rate", "paid", "amount"), [(30, 25 * MINUTE, "12.50"), (0, 0, "0.00")])
def test_my_earnings_the_overview_and_the_export_tell_the_same_time_and_pay(
    rate: int, paid: int, amount: str, ada, as_ada, dot, login, now: datetime
) -> None:
    study = make_writing_study(researcher=ada, study_fields={"hourly_rate": rate})
    make_session(assignment=make_assignment(annotator=dot, study=study), state=Session.State.RUNNING, now=now)
    with time_machine.travel(now + timedelta(minutes=25), tick=False):
        [row] = csv_rows(read(as_ada, f"/studies/{study.uid}/files/sessions.csv"))
        overview = as_ada.get(reverse("annotation:study", args=[study.uid])).context
        own = login(dot).get(reverse("annotation:earnings")).context
    assert (row["active_ms"], row["paid_ms"]) == (str(25 * MINUTE), str(paid))
    assert (row["paid_amount"], row["currency"]) == (amount, "USD")
    total = overview["overview"].tables[0].people[0].total
    assert (str(total.amount), total.active_ms) == (amount, 25 * MINUTE)
    assert [str(card.value) for card in overview["overview"].cards[-2:]] == ["25 min", f"{amount} USD"]
    [earning] = own["earned"].sessions
    assert (str(earning.amount), earning.active_ms, earning.paid_ms) == (amount, 25 * MINUTE, paid)
