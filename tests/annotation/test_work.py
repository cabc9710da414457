"""What an annotator sees: own tasks, texts and earnings, and nothing else."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Session, Study
from annotation.people.earnings import earned_by
from annotation.work import tasklist
from annotation.writing import results
from tests.makers import (
    NOW,
    annotator_of,
    flat,
    give_consent,
    label_task,
    label_url,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)

WORK = "annotation:work"


def page_of(client, name: str = WORK, *args) -> str:
    response = client.get(reverse(name, args=args))
    assert response.status_code == 200
    return response.text


def test_a_task_shows_time_pay_and_deadline_but_no_insight_score_or_ceiling(ben, as_ben) -> None:
    study = make_writing_study(annotators=[ben])
    make_assignment(
        study=study,
        annotator=ben,
        n_words=12_000,
        due_at=datetime(2126, 3, 9, 18, 0, tzinfo=NOW.tzinfo),
        ceiling={"recall": 0.8421, "f1": 0.9},
    )
    page = page_of(as_ben)
    assert "up to 2 h 00 min" in page
    assert "about 1 h 00 min to read" in page
    assert "up to 50.00 USD (25.00 USD an hour)" in page
    assert "due 2126-03-09 18:00" in page
    assert "study@example.org" in page
    for secret in ("Insight 1.1", "the ferry leaves", "0.8421", "84 %", "eiling"):
        assert secret not in page


def test_tasks_of_others_and_of_studies_that_are_not_open_are_not_shown(ben, as_ben, cleo) -> None:
    study = make_writing_study(annotators=[ben, cleo])
    make_assignment(study=study, annotator=cleo)
    give_consent(ben)
    assert "No task is waiting for you" in page_of(as_ben)
    make_assignment(study=study, annotator=ben)
    assert "say about part 1?" in page_of(as_ben)
    Study.objects.update(state="draft")
    assert "say about part 1?" not in page_of(as_ben)


def test_a_begun_task_stays_on_the_list_when_its_study_closes(ben, as_ben) -> None:
    session = make_session(
        assignment=make_assignment(annotator=ben, state="started"), state="paused", acc_ms=600_000
    )
    Study.objects.update(state="closed")
    page = page_of(as_ben)
    assert reverse("annotation:session", args=[session.uid]) in page
    assert "10 min used" in page


def test_practice_comes_before_the_first_timed_task(ben, as_ben, now: datetime) -> None:
    task = make_assignment(annotator=ben)
    make_haystack(key="tryout", is_practice=True)
    start = reverse("annotation:session-start", args=[task.uid])
    page = page_of(as_ben)
    assert "Practise for five minutes" in page
    assert start not in page
    response = as_ben.post(reverse("annotation:practice"))
    practice = Assignment.objects.get(is_practice=True)
    assert response.headers["Location"] == reverse("annotation:session-start", args=[practice.uid])
    Assignment.objects.filter(pk=practice.pk).update(state="done")
    page = page_of(as_ben)
    assert start in page
    assert "Practise again" in page


def test_practice_under_way_is_shown_with_its_clock_and_the_way_back(ben, as_ben) -> None:
    make_assignment(annotator=ben)
    done = make_assignment(annotator=ben, is_practice=True, state="done")
    resume = "Resume practice"
    assert resume not in page_of(as_ben)
    again = make_assignment(annotator=ben, subtopic=done.subtopic, is_practice=True)
    session = make_session(assignment=again, state="running", now=timezone.now())
    page = page_of(as_ben)
    assert "The clock of your practice is running." in page
    assert resume in page
    assert "Practise again" not in page
    Session.objects.filter(pk=session.pk).update(state="paused", run_started_at=None)
    assert "Your practice is paused." in page_of(as_ben)


def test_practice_waits_for_consent(as_ben) -> None:
    give_consent()
    make_haystack(key="tryout", is_practice=True)
    assert as_ben.post(reverse("annotation:practice")).headers["Location"] == reverse("annotation:consent")
    assert not Assignment.objects.exists()


def test_without_a_practice_corpus_practice_leads_back(ben, as_ben) -> None:
    give_consent(ben)
    assert as_ben.post(reverse("annotation:practice")).headers["Location"] == reverse(WORK)


def test_begun_work_comes_first_then_what_is_due_soonest(ben, now: datetime) -> None:
    haystack = make_haystack(golds=[[[1]], [[2]], [[3]], [[4]]])
    study = make_writing_study(haystack=haystack, annotators=[ben], allow_second_on_haystack=True)
    late, soon, open_end, begun = study.writing_plan.subtopics.order_by("number")
    for subtopic, due in ((late, now + timedelta(days=9)), (soon, now + timedelta(days=1)), (open_end, None)):
        make_assignment(study=study, annotator=ben, subtopic=subtopic, due_at=due)
    make_session(
        assignment=make_assignment(study=study, annotator=ben, subtopic=begun, state="started"), state="paused"
    )
    rows = tasklist.board(annotator_of(ben), now).rows
    assert [row.assignment.subtopic for row in rows if row.assignment] == [begun, soon, late, open_end]


def test_the_list_asks_no_more_with_more_tasks(ben, as_ben, django_assert_max_num_queries) -> None:
    study = make_writing_study(
        haystack=make_haystack(golds=[[[number]] for number in (1, 2, 3, 4, 5, 6)]), annotators=[ben]
    )
    for subtopic in study.writing_plan.subtopics.all():
        make_assignment(study=study, annotator=ben, subtopic=subtopic)
    with django_assert_max_num_queries(27):
        page_of(as_ben)


def test_what_was_handed_in_is_listed_newest_first_and_only_ones_own(ben, as_ben, cleo) -> None:
    haystack = make_haystack()
    for person, name in ((ben, "mine"), (cleo, "hers")):
        study = make_writing_study(haystack=haystack, name=name, annotators=[person])
        make_session(assignment=make_assignment(study=study, annotator=person, state="done"), state="submitted")
    page = page_of(as_ben, "annotation:own-work")
    assert "mine" in page
    assert "hers" not in page
    assert reverse("annotation:session-own", args=[annotator_of(ben).sessions.get().uid]) in page


def test_a_session_under_way_is_not_yet_handed_in(ben, as_ben) -> None:
    make_session(annotator=ben, state="running")
    assert "Nothing yet" in page_of(as_ben, "annotation:own-work")


def test_earnings_count_every_active_millisecond_once(ben, cleo, now: datetime) -> None:
    haystack = make_haystack()
    study = make_writing_study(haystack=haystack, annotators=[ben, cleo], study_fields={"hourly_rate": 30})
    first, second = study.writing_plan.subtopics.order_by("number")
    make_session(
        assignment=make_assignment(study=study, annotator=ben, subtopic=first), state="submitted", acc_ms=3_000_000
    )
    make_session(assignment=make_assignment(study=study, annotator=ben, subtopic=second), state="running")
    make_session(assignment=make_assignment(study=study, annotator=cleo), state="submitted", acc_ms=1_000)
    total = results.total_of(earned_by(annotator_of(ben), now + timedelta(minutes=10)).sessions)
    assert (total.n_sessions, total.active_ms) == (2, 3_600_000)
    assert total.amount == Decimal("30.00")


def test_a_running_clock_earns_no_more_than_its_limit(ben, now: datetime) -> None:
    session = make_session(annotator=ben, state="running")
    assert session.active_ms_at(now + timedelta(days=3)) == session.limit_ms


def test_practice_is_not_paid(ben, now: datetime) -> None:
    make_session(assignment=make_assignment(annotator=ben, is_practice=True), state="submitted", acc_ms=180_000)
    assert earned_by(annotator_of(ben), now).sessions == ()


@pytest.mark.parametrize(
    ("milliseconds", "amount"),
    [(0, "0.00"), (3_600_000, "25.00"), (720, "0.01"), (719, "0.00"), (7_200_000, "50.00")],
)
def test_pay_is_rounded_once_to_cents(milliseconds: int, amount: str) -> None:
    assert results.pay(milliseconds, Decimal(25)) == Decimal(amount)


@pytest.mark.parametrize("name", [WORK, "annotation:own-work", "annotation:earnings", "annotation:consent"])
def test_every_page_of_work_names_somebody_to_write_to(ben, as_ben, dot, login, name: str) -> None:
    make_assignment(annotator=ben)
    assert "mailto:study@example.org" in page_of(as_ben, name)
    assert "Questions or trouble?" in page_of(login(dot), name)


def test_guidelines_are_read_by_members_also_after_leaving_and_by_nobody_else(
    ben, as_ben, as_cleo, as_ada, now: datetime
) -> None:
    study = make_writing_study(annotators=[ben])
    url = reverse("annotation:study-guidelines", args=[study.uid])
    assert "Report what repeats." in as_ben.get(url).text
    study.memberships.update(left_at=now)
    assert as_ben.get(url).status_code == 200
    assert as_cleo.get(url).status_code == 404
    assert as_ada.get(url).status_code == 403


def test_leaving_a_study_gives_waiting_tasks_back_and_keeps_earnings(ben, as_ben) -> None:
    study = make_writing_study(annotators=[ben])
    first, second = study.writing_plan.subtopics.order_by("number")
    make_session(
        assignment=make_assignment(study=study, annotator=ben, subtopic=first, state="done"),
        state="submitted",
        acc_ms=3_600_000,
    )
    waiting = make_assignment(study=study, annotator=ben, subtopic=second)
    url = reverse("annotation:study-leave", args=[study.uid])
    assert "Your 1 unstarted task will be reassigned." in flat(as_ben.get(url).text)
    left = as_ben.post(url, {"reason": ""}, follow=True)
    assert left.request["PATH_INFO"] == reverse(WORK)
    assert "You keep what you have earned." in left.text
    waiting.refresh_from_db()
    assert waiting.state == "withdrawn"
    assert "25.00 USD" in page_of(as_ben, "annotation:earnings")
    assert as_ben.get(url).headers["Location"] == reverse(WORK), "who comes back by the browser has left already"


def test_who_leaves_an_unpaid_study_is_not_told_to_keep_anything(ben, as_ben) -> None:
    study = make_writing_study(annotators=[ben], study_fields={"hourly_rate": 0})
    left = as_ben.post(reverse("annotation:study-leave", args=[study.uid]), {"reason": ""}, follow=True)
    page = left.text
    assert "You have left" in page
    assert "keep what you have earned" not in page


def test_who_earns_nothing_reads_how_long_they_worked(ben, as_ben) -> None:
    make_assignment(study=make_writing_study(annotators=[ben], study_fields={"hourly_rate": 0}), annotator=ben)
    page = page_of(as_ben, WORK)
    assert "Worked so far" in page
    assert "Earned so far" not in page


def test_a_deactivated_annotator_has_no_pages_of_work(ben, as_ben) -> None:
    person = annotator_of(ben)
    person.is_active = False
    person.save()
    assert as_ben.get(reverse(WORK)).status_code == 404


def test_pages_of_work_are_not_kept_by_caches(ben, as_ben) -> None:
    make_assignment(annotator=ben, due_at=timezone.now())
    assert "no-store" in as_ben.get(reverse(WORK)).headers["Cache-Control"]


def test_the_help_explains_the_words_and_is_linked_from_home_and_the_task_page(ben, as_ben) -> None:
    url = reverse("annotation:help")
    page = page_of(as_ben, "annotation:help")
    for word in ("Subtopic", "Key point", "pair", "Active time", "offline judge", "Verifying key points"):
        assert word in page
    assert url in page_of(as_ben)
    task = label_task(make_linking_study(annotators=[ben]), ben)
    assert url in as_ben.get(label_url("label-task", task)).text


def test_who_is_through_with_label_work_is_not_asked_to_practise_writing(ben, as_ben, now: datetime) -> None:
    study = make_linking_study(annotators=[ben])
    make_haystack(key="tryout", is_practice=True)
    study.label_tasks.update(
        state="done", begun_at=now, done_at=now, n_answered=F("n_questions"), active_ms=60_000
    )
    page = page_of(as_ben)
    assert "No task is waiting for you" in page
    assert "Practise for five minutes" not in page
