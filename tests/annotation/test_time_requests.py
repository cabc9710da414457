"""What becomes of a request for time: researchers see it, an admin answers it once, and the annotator is told."""

import csv
import io
from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from annotation.models import ClockCredit, CreditRequest, Session, Snapshot, Study
from annotation.writing import scoring, sessions, settling
from annotation.writing.curves import study_report
from benchmarks.engine import judging, versions
from benchmarks.models import AuditEvent
from tests.annotation.writer import Writer, after
from tests.makers import make_assignment, make_session, make_writing_study

MINUTE = 60_000
LIMIT = 120 * MINUTE
OVERTIME = LIMIT + 20_000


@pytest.fixture
def study(ada, ben) -> Study:
    return make_writing_study(researcher=ada, annotators=[ben])


@pytest.fixture
def writer(study: Study, ben) -> Writer:
    """Ben, whose two hours ended by themselves."""
    task = make_assignment(annotator=ben, study=study)
    writer = Writer(sessions.start(assignment=task, attested=True, now=after(0)))
    writer.save(100 * MINUTE, "- First [1]")
    writer.settle(OVERTIME)
    return writer


@pytest.fixture
def request_(writer: Writer, as_ben) -> CreditRequest:
    """Ben's request, made on the page."""
    with time_machine.travel(after(OVERTIME + MINUTE), tick=False):
        own = reverse("annotation:session-own", args=[writer.session.uid])
        assert as_ben.post(own, {"reason": "A power cut", "minutes": "12"}).status_code == 302
    return CreditRequest.objects.get()


def answer(client, request: CreditRequest, *, at: int = OVERTIME + 2 * MINUTE, **fields) -> str:
    """Send the answer on the session's page; gives the page that follows."""
    url = reverse("annotation:session-time-request", args=[request.session.uid])
    with time_machine.travel(after(at), tick=False):
        return str(client.post(url, {"request": request.pk, **fields}, follow=True).text)


def page(client, name: str, *args, at: int = OVERTIME + 3 * MINUTE) -> str:
    with time_machine.travel(after(at), tick=False):
        response = client.get(reverse(name, args=args), follow=True)
        assert response.status_code == 200
        return str(response.text)


def test_a_researcher_sees_who_asks_on_the_overview_the_session_and_the_home_page(
    request_: CreditRequest, study: Study, ada, as_ada, eve, as_eve, login
) -> None:
    session = reverse("annotation:session-results", args=[request_.session.uid])
    for user in (ada, eve):
        client = login(user)
        for shown in (page(client, "annotation:study", study.uid), page(client, "home")):
            assert session in shown
            assert "waits for an answer" in shown or "Waiting for you" in shown
        assert "requests 12 minutes" in page(client, "annotation:session-results", request_.session.uid)
    assert "An admin decides" in page(as_ada, "annotation:session-results", request_.session.uid)
    assert "Credit time" in page(as_eve, "annotation:session-results", request_.session.uid)


def test_an_admin_answers_only_of_the_session_asked_about(
    request_: CreditRequest, as_eve, cleo, study: Study
) -> None:
    fields = {"action": "grant", "minutes": "12", "answer": "Fine"}
    other = make_session(assignment=make_assignment(annotator=cleo, study=study), state="submitted")
    elsewhere = reverse("annotation:session-time-request", args=[other.uid])
    as_eve.post(elsewhere, {"request": request_.pk, **fields})
    assert not ClockCredit.objects.exists()


def test_a_grant_opens_an_ended_session_and_the_annotator_reads_why(
    request_: CreditRequest, writer: Writer, study: Study, as_ben, eve, as_eve
) -> None:
    shown = answer(as_eve, request_, action="grant", minutes="12", answer="The fuse blew, so here it is.")
    assert "open and paused" in shown
    assert "12.0 min credited" in shown
    row = writer.row()
    assert (row.state, row.limit_ms, row.acc_ms) == ("paused", LIMIT + 12 * MINUTE, LIMIT)
    request_.refresh_from_db()
    assert request_.credit == ClockCredit.objects.get(session=row)
    event = AuditEvent.objects.get(action="session.credit")
    assert (event.actor, event.detail["request"], event.detail["delta_ms"]) == (eve, "A power cut", 12 * MINUTE)
    for name, args in (("annotation:work", ()), ("annotation:session", (row.uid,))):
        told = page(as_ben, name, *args)
        assert "12 min credited" in told
        assert "The fuse blew, so here it is." in told
    assert "waits for an answer" not in page(as_eve, "annotation:study", study.uid)
    writer.resume(OVERTIME + 5 * MINUTE)
    writer.save(OVERTIME + 6 * MINUTE, "- First [1]\n- Second [2]")
    writer.submit(OVERTIME + 7 * MINUTE)
    assert "The fuse blew, so here it is." in page(
        as_ben, "annotation:session-own", row.uid, at=OVERTIME + 8 * MINUTE
    )


def test_another_amount_than_asked_can_be_given(request_: CreditRequest, writer: Writer, as_eve) -> None:
    answer(as_eve, request_, action="grant", minutes="5", answer="It took five.")
    assert writer.row().limit_ms == LIMIT + 5 * MINUTE
    assert ClockCredit.objects.get().delta_ms == 5 * MINUTE


def test_a_declined_request_changes_no_clock_and_the_annotator_reads_why(
    request_: CreditRequest, writer: Writer, study: Study, as_ben, eve, as_eve
) -> None:
    before = writer.row()
    answer(as_eve, request_, action="decline", answer="Please pause next time.")
    row = writer.row()
    assert (row.state, row.limit_ms) == (before.state, before.limit_ms)
    assert not ClockCredit.objects.exists()
    for name, args in (("annotation:work", ()), ("annotation:session-own", (row.uid,))):
        told = page(as_ben, name, *args)
        assert "declined" in told
        assert "Please pause next time." in told
    event = AuditEvent.objects.get(action="session.credit_declined")
    assert (event.actor, event.object_uid, event.detail["answer"]) == (
        eve,
        str(row.uid),
        "Please pause next time.",
    )
    assert "waits for an answer" not in page(as_eve, "annotation:study", study.uid)
    assert "Waiting for you" not in page(as_eve, "home")


def test_an_answer_leaves_the_page_of_tasks_after_a_while_and_stays_with_its_session(
    request_: CreditRequest, as_ben, as_eve
) -> None:
    answer(as_eve, request_, action="decline", answer="Please pause next time.")
    later = int(timedelta(days=15) / timedelta(milliseconds=1))
    assert "Please pause next time." not in page(as_ben, "annotation:work", at=later)
    own = page(as_ben, "annotation:session-own", request_.session.uid, at=later)
    assert "Please pause next time." in own


@pytest.mark.parametrize("first", ["grant", "decline"])
@pytest.mark.parametrize("second", ["grant", "decline"])
def test_a_request_is_decided_once_and_whoever_is_second_is_told(
    first: str, second: str, request_: CreditRequest, writer: Writer, as_eve
) -> None:
    answer(as_eve, request_, action=first, minutes="12", answer="The first answer")
    limit = writer.row().limit_ms
    told = answer(as_eve, request_, at=OVERTIME + 4 * MINUTE, action=second, minutes="30", answer="The second")
    assert "already" in told
    request_.refresh_from_db()
    assert (request_.answer, writer.row().limit_ms) == ("The first answer", limit)
    assert ClockCredit.objects.count() == (first == "grant")
    assert AuditEvent.objects.filter(action__startswith="session.credit").count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "grant", "minutes": "", "answer": "Words"},
        {"action": "grant", "minutes": "-5", "answer": "Words"},
        {"action": "grant", "minutes": "12", "answer": " "},
        {"action": "decline", "answer": ""},
        {"action": "both", "minutes": "12", "answer": "Words"},
        {},
    ],
)
def test_an_answer_without_words_or_amount_decides_nothing(
    fields: dict[str, str], request_: CreditRequest, as_eve
) -> None:
    assert "message" in answer(as_eve, request_, **fields)
    request_.refresh_from_db()
    assert request_.answered_at is None
    assert not ClockCredit.objects.exists()


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_grant_moves_the_limit_of_a_session_that_goes_on_and_no_period(
    state: str, request_: CreditRequest, writer: Writer, eve, as_eve
) -> None:
    """A session is reopened for one request while another still waits."""
    settling.reopen(session=writer.session, by=eve, delta_ms=10 * MINUTE, reason="?", now=after(OVERTIME + MINUTE))
    writer.resume(OVERTIME + 2 * MINUTE)
    if state == "paused":
        writer.pause(OVERTIME + 4 * MINUTE)
    before = writer.row()
    periods = list(before.periods.order_by("seq").values("started_at", "ended_at", "acc_before_ms"))
    answer(as_eve, request_, at=OVERTIME + 5 * MINUTE, action="grant", minutes="12", answer="Fine")
    row = writer.row()
    assert (row.state, row.limit_ms) == (state, LIMIT + 22 * MINUTE)
    assert row.acc_ms == before.acc_ms
    assert list(row.periods.order_by("seq").values("started_at", "ended_at", "acc_before_ms")) == periods


def test_a_session_that_ended_unseen_since_is_opened_again_not_refused(
    request_: CreditRequest, writer: Writer, eve, as_eve
) -> None:
    settling.reopen(session=writer.session, by=eve, delta_ms=10 * MINUTE, reason="?", now=after(OVERTIME + MINUTE))
    writer.resume(OVERTIME + 2 * MINUTE)
    answer(as_eve, request_, at=OVERTIME + 60 * MINUTE, action="grant", minutes="12", answer="Fine")
    row = writer.row()
    assert (row.state, row.acc_ms, row.limit_ms) == ("paused", LIMIT + 10 * MINUTE, LIMIT + 22 * MINUTE)


def test_a_voided_session_gets_no_time_but_its_annotator_an_answer(
    request_: CreditRequest, writer: Writer, as_ben, eve, as_eve
) -> None:
    settling.reopen(session=writer.session, by=eve, delta_ms=10 * MINUTE, reason="?", now=after(OVERTIME + MINUTE))
    settling.void(session=writer.session, by=eve, reason="Two people", now=after(OVERTIME + MINUTE))
    assert "Credit time" not in page(as_eve, "annotation:session-results", writer.session.uid)
    assert "The session is over" in answer(as_eve, request_, action="grant", minutes="12", answer="Fine")
    request_.refresh_from_db()
    assert (request_.answered_at, writer.row().state) == (None, "voided")
    answer(as_eve, request_, action="decline", answer="It was voided.")
    assert "It was voided." in page(as_ben, "annotation:session-own", writer.session.uid)


def test_a_remark_without_minutes_is_answered_too(writer: Writer, as_ben, as_eve) -> None:
    own = reverse("annotation:session-own", args=[writer.session.uid])
    as_ben.post(own, {"reason": "The page was slow"})
    remark = CreditRequest.objects.get()
    assert "comments on the measured time" in page(as_eve, "annotation:session-results", writer.session.uid)
    answer(as_eve, remark, action="decline", answer="Thank you, it was.")
    told = page(as_ben, "annotation:work")
    assert "Thank you, it was." in told
    assert "declined" not in told


def test_practice_takes_no_requests_since_nobody_would_answer(ben, as_ben) -> None:
    task = make_assignment(annotator=ben, is_practice=True)
    session = make_session(assignment=task, state="submitted", revisions=[(MINUTE, "- Mine [1]")])
    url = reverse("annotation:session-own", args=[session.uid])
    assert '<form method="post" class="card"' not in as_ben.get(url).text
    as_ben.post(url, {"reason": "A power cut", "minutes": "12"})
    assert not CreditRequest.objects.exists()


# Together with other features


def exported(client, study: Study, *, at: int) -> dict[str, str]:
    with time_machine.travel(after(at), tick=False):
        response = client.get(reverse("annotation:study-file", args=[study.uid, "sessions.csv"]))
        [row] = csv.DictReader(io.StringIO(response.getvalue().decode()))
        return row


def test_minutes_given_back_are_paid_once_they_are_worked(
    request_: CreditRequest, writer: Writer, study: Study, as_ben, as_eve
) -> None:
    answer(as_eve, request_, action="grant", minutes="12", answer="Fine")
    row = exported(as_eve, study, at=OVERTIME + 3 * MINUTE)
    assert (row["credited_ms"], row["n_credits"]) == (str(12 * MINUTE), "1")
    assert (row["paid_ms"], row["paid_amount"]) == (str(LIMIT), "50.00")
    writer.resume(OVERTIME + 5 * MINUTE)
    writer.submit(OVERTIME + 11 * MINUTE)
    row = exported(as_eve, study, at=OVERTIME + 20 * MINUTE)
    assert (row["paid_ms"], row["paid_amount"]) == (str(LIMIT + 6 * MINUTE), "52.50")
    assert "52.50 USD" in page(as_ben, "annotation:earnings", at=OVERTIME + 20 * MINUTE)
    assert "52.50 USD" in page(as_eve, "annotation:study", study.uid, at=OVERTIME + 20 * MINUTE)


def test_a_scored_session_that_is_reopened_leaves_the_curve_and_comes_back_with_its_new_end(
    request_: CreditRequest, writer: Writer, study: Study, as_eve
) -> None:
    def finals() -> list[tuple[int, bool]]:
        for run in scoring.score_snapshots(now=timezone.now()):
            judging.run_pending(run=run, clock=timezone.now)
        results = study_report(study=study, judge=versions.default_judge(now=timezone.now()))
        found = Snapshot.objects.filter(kind="final").values_list("mark_ms", flat=True)
        return [(mark, results.n_counted == 1) for mark in found]

    assert finals() == [(LIMIT, True)]
    answer(as_eve, request_, action="grant", minutes="12", answer="Fine")
    assert finals() == []
    assert study_report(study=study, judge=None).n_counted == 0
    writer.resume(OVERTIME + 5 * MINUTE)
    writer.save(OVERTIME + 6 * MINUTE, "- First [1]\n- Second [2]")
    writer.submit(OVERTIME + 11 * MINUTE)
    assert finals() == [(LIMIT + 6 * MINUTE, True)]
    assert Snapshot.objects.get(kind="final").summary.text == "- First [1]\n- Second [2]"
    mark = Snapshot.objects.get(mark_ms=LIMIT)
    assert (mark.kind, mark.text) == ("mark", "- First [1]")


def test_an_excluded_session_that_is_given_time_stays_out_of_figures_and_is_paid(
    request_: CreditRequest, writer: Writer, study: Study, ada, as_eve
) -> None:
    settling.exclude(session=writer.session, by=ada, reason="Was ill", now=after(OVERTIME))
    answer(as_eve, request_, action="grant", minutes="12", answer="Fine")
    writer.resume(OVERTIME + 5 * MINUTE)
    writer.submit(OVERTIME + 11 * MINUTE)
    report = study_report(study=study, judge=None)
    assert (report.n_counted, report.sessions[0].is_excluded) == (0, True)
    row = exported(as_eve, study, at=OVERTIME + 20 * MINUTE)
    assert (row["exclusion_reason"], row["paid_amount"]) == ("Was ill", "52.50")
    settling.lift_exclusion(session=Session.objects.get(), by=ada, now=after(OVERTIME + 20 * MINUTE))
    assert study_report(study=study, judge=None).n_counted == 1
