"""Each outcome of somebody who came by a link has a code of its own, is stored, and is there for researchers."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Annotator,
    Assignment,
    LabelItem,
    LabelTask,
    Recruitment,
    RecruitmentLink,
    Session,
    Study,
)
from annotation.people.recruitment import pages
from annotation.studies import consent
from summhay_site.models import User
from summhay_site.operations import erasing
from tests.annotation.people.test_recruitment import CODE, PID, address, make_link
from tests.makers import annotator_of, make_session, make_writing_study
from tests.makers_verification import make_questions, make_verification_study
from tests.running import csv_rows

DONE = "COMPLETED-1"
CODES = {
    "completion_code": DONE,
    "failed_checks_code": "FAILED-2",
    "screened_out_code": "SCREENED-3",
    "no_consent_code": "DECLINED-4",
    "min_checks_percent": 60,
    "return_url": f"https://app.prolific.com/submissions/complete?cc={DONE}",
}


@pytest.fixture
def link(study: Study, ada, now: datetime) -> RecruitmentLink:
    return make_link(study, by=ada, now=now, max_tasks=4, **CODES)


def join(link: RecruitmentLink, pid: str = PID, **more: str) -> Client:
    """A browser in which somebody joined and agreed, if there is something to agree to."""
    client = Client()
    assert client.post(address(link, pid, **more)).headers["Location"].startswith("/work/")
    return client


def agree(pid: str = PID) -> None:
    person = Annotator.objects.get(participant__panel_id=pid)
    text = consent.ensure_default_consent(now=person.created_at)
    consent.give(annotator=person, version=text.version, now=person.created_at)


def finish(pid: str = PID, *, skipping: int = 0) -> None:
    """All tasks of a participant are done, but for some that are skipped."""
    tasks = list(LabelTask.objects.filter(annotator__participant__panel_id=pid).order_by("position"))
    for at, task in enumerate(tasks):
        is_skipped = at >= len(tasks) - skipping
        task.state = LabelTask.State.SKIPPED if is_skipped else LabelTask.State.DONE
        task.n_answered = 0 if is_skipped else task.n_questions
        task.skip_reason = "unclear" if is_skipped else ""
        task.active_ms = 60_000
        task.save()


def do_one(pid: str = PID) -> LabelTask:
    """The first task of a participant is done, in a minute."""
    task = LabelTask.objects.filter(annotator__participant__panel_id=pid).order_by("position")[0]
    task.state, task.n_answered, task.active_ms = LabelTask.State.DONE, task.n_questions, 60_000
    task.begun_at = task.done_at = task.created_at
    task.save()
    return task


def begin_text(link: RecruitmentLink) -> Session:
    """The clock of the one text of a link runs."""
    task = Assignment.objects.get(study=link.study)
    return make_session(assignment=task, state="running", now=timezone.now())


def leave(client: Client, link: RecruitmentLink) -> None:
    client.post(reverse("annotation:study-leave", args=[link.study.uid]), {"reason": ""})


def at(link: RecruitmentLink, name: str = "", *more: int) -> str:
    """The page of all links of a study, or one about this link."""
    if not name:
        return reverse("annotation:recruitment", args=[link.study.uid])
    return reverse(f"annotation:recruitment-{name}", args=[link.study.uid, link.uid, *more])


def words(response) -> str:
    return " ".join(response.content.decode().split())


def shown(response) -> tuple[str, str]:
    """The outcome on a page, and the code that it gives."""
    text = response.content.decode()
    outcome = text.partition('data-outcome="')[2].partition('"')[0]
    return outcome, text.partition("data-completion-code>")[2].partition("<")[0]


def outcome_of(pid: str = PID) -> str:
    return str(Recruitment.objects.get(participant__panel_id=pid).outcome)


def paid(link: RecruitmentLink, client: Client) -> list[dict[str, str]]:
    return csv_rows(client.get(at(link, "file")).getvalue())


def test_who_skips_tasks_gets_no_completion_code_until_they_are_done(link: RecruitmentLink, as_ada) -> None:
    client = join(link)
    agree()
    finish(skipping=3)
    page = client.get("/work/")
    assert DONE not in page.content.decode()
    assert shown(page) == ("skipped", "")
    assert "3 more tasks must be done" in words(page)
    listed = client.get(reverse("annotation:label-go", args=[link.study.uid]), follow=True)
    assert "You can still answer these" in words(listed)
    [row] = paid(link, as_ada)
    assert (row["outcome"], row["tasks_done"], row["tasks_skipped"], row["is_complete"]) == (
        "skipped", "1", "3", "False",
    )  # fmt: skip
    finish()
    assert shown(client.get("/work/")) == ("completed", DONE)
    end = client.get(reverse("annotation:label-finished", args=[link.study.uid]))
    assert end.text.count("button primary") == 1
    assert shown(end) == ("completed", DONE)
    assert "data-copy " in end.content.decode()


@pytest.mark.parametrize(("skipping", "outcome"), [(1, "completed"), (2, "skipped")])
def test_a_link_says_what_share_must_be_done(skipping: int, outcome: str, link: RecruitmentLink) -> None:
    RecruitmentLink.objects.update(min_done_percent=60)  # 3 of 4
    assert "at least 60 % of them" in words(Client().get(address(link)))
    client = join(link)
    finish(skipping=skipping)
    assert shown(client.get("/work/"))[0] == outcome


def test_leaving_after_one_task_is_not_completing(link: RecruitmentLink) -> None:
    client = join(link)
    do_one()
    leave(client, link)
    assert shown(client.get("/work/")) == ("left", "")
    assert outcome_of() == "left"


@pytest.mark.parametrize("is_done", [True, False])
def test_a_link_promises_no_tasks_to_who_is_through_or_has_left(is_done: bool, link: RecruitmentLink) -> None:
    client, promise = join(link), "Then you see your tasks"
    assert promise in words(client.get(address(link)))
    if is_done:
        finish()
    else:
        leave(client, link)
    page = words(client.get(address(link)))
    assert promise not in page
    assert "no task of it waits for you" in page
    assert client.post(address(link)).headers["Location"] == "/work/"


def test_what_was_completed_stays_so_whatever_comes_after(link: RecruitmentLink) -> None:
    client = join(link)
    finish()
    leave(client, link)
    assert shown(client.get("/work/")) == ("completed", DONE)
    client.get("/work/")
    LabelTask.objects.update(state=LabelTask.State.SKIPPED, n_answered=0, skip_reason="unclear")
    assert shown(client.get("/work/")) == ("completed", DONE)
    agree()
    client.post("/work/consent/withdraw/")
    assert shown(client.get("/work/")) == ("completed", DONE)


def test_who_does_not_agree_gets_the_code_for_that_and_frees_the_place(link: RecruitmentLink, as_ada) -> None:
    RecruitmentLink.objects.update(max_places=1)
    client = join(link, SESSION_ID="t1")
    assert "I do not agree" in words(client.get("/work/consent/"))
    page = client.post("/work/consent/decline/", follow=True)
    assert shown(page) == ("no_consent", "DECLINED-4")
    assert "complete?cc=DECLINED-4" in page.content.decode()
    assert "You did not agree" in words(page)
    assert outcome_of() == "no_consent"
    assert not LabelTask.objects.exists(), "the tasks are there for others"
    [row] = paid(link, as_ada)
    assert (row["outcome"], row["submission_id"]) == ("no_consent", "t1")
    assert shown(join(link, "another").get("/work/")) == ("", "")
    assert client.post(address(link, PID)).headers["Location"] == "/work/", "to the page with their code"
    assert shown(client.get("/work/")) == ("no_consent", "DECLINED-4")


def test_who_changes_their_mind_joins_again_while_there_is_a_place(link: RecruitmentLink) -> None:
    client = join(link)
    client.post("/work/consent/decline/")
    assert client.post(address(link, PID)).headers["Location"] == "/work/consent/"
    assert outcome_of() == "working"
    assert LabelTask.objects.filter(annotator__participant__panel_id=PID).count() == 4


def test_who_agrees_again_reads_that_the_link_gives_another_place(link: RecruitmentLink) -> None:
    client = join(link)
    agree()
    assert shown(client.post("/work/consent/withdraw/", follow=True))[0] == "no_consent"
    agree()
    for path in ("/work/", "/work/consent/"):
        page = client.get(path)
        assert shown(page) == ("agreed_again", "DECLINED-4")
        assert "You take no further part" not in words(page)
        assert "Open the study from the panel again" in words(page)
    assert outcome_of() == "no_consent", "researchers see how it ended"
    assert "First you are asked" not in words(client.get(address(link))), "they have just agreed"
    assert client.post(address(link)).headers["Location"] == "/work/"
    assert shown(client.get("/work/")) == ("", "")


def test_who_withdraws_in_the_middle_keeps_what_was_done_and_gets_the_code_of_no_consent(
    link: RecruitmentLink,
) -> None:
    client = join(link)
    agree()
    task = do_one()
    page = client.post("/work/consent/withdraw/", follow=True)
    assert shown(page) == ("no_consent", "DECLINED-4")
    assert "You did not agree" not in words(page)
    assert [row.pk for row in LabelTask.objects.all()] == [task.pk]


def test_annotators_of_their_own_are_not_asked_to_decline(as_ben, now: datetime) -> None:
    consent.ensure_default_consent(now=now)
    assert "I do not agree" not in words(as_ben.get("/work/consent/"))
    assert as_ben.post("/work/consent/decline/").status_code == 302


@pytest.mark.every_database
@pytest.mark.parametrize(("n_right", "outcome"), [(1, "failed_checks"), (2, "completed")])
def test_who_fails_the_checks_gets_the_code_for_that(
    n_right: int, outcome: str, ada, as_ada, now: datetime
) -> None:
    study = make_verification_study(questions=make_questions(2), n_control=0, researcher=ada)
    last = study.label_items.order_by("pk").last()
    study.label_items.exclude(pk=last.pk).update(role=LabelItem.Role.GOLD, is_overlap=True)
    link = make_link(study, by=ada, now=now, max_tasks=4, **CODES)
    client = join(link, SESSION_ID="t1")
    agree()
    checks = 0
    for task in LabelTask.objects.filter(annotator__participant__panel_id=PID).order_by("position"):
        checks += (is_check := task.item.role == LabelItem.Role.GOLD)
        answer = {"grounded": "no"} if is_check and checks <= n_right else {"grounded": "yes", "keyness": "agree"}
        sent = client.post(
            reverse("annotation:label-choice", args=["verification", task.uid]),
            {**answer, "op_id": f"op{task.pk}"},
        )
        assert sent.status_code in {200, 302}
    assert checks == 3
    code = {"failed_checks": "FAILED-2", "completed": DONE}[outcome]
    assert shown(client.get("/work/")) == (outcome, code)
    [row] = paid(link, as_ada)
    assert (row["outcome"], row["checks"], row["checks_right"]) == (outcome, "3", str(n_right))


def test_researchers_see_how_it_ended_and_get_the_submissions_to_approve(
    link: RecruitmentLink, as_ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    RecruitmentLink.objects.update(max_tasks=1)
    monkeypatch.setattr(pages, "IN_A_BATCH", 2)
    for number in range(3):
        pid = f"{number:024x}"
        join(link, pid, STUDY_ID="s", **({} if number == 1 else {"SESSION_ID": f"t{number}"}))
        finish(pid)
    page = words(as_ada.get(at(link, "people")))
    assert page.count('<span class="badge good">completed</span>') == 3
    assert "2 submissions to approve" in page
    assert "1 person completed, and the panel gave no submission id" in page
    assert "completed: 3" in words(as_ada.get(at(link)))
    assert as_ada.get(at(link, "approval", 1)).getvalue() == b"t0\nt2\n"
    assert as_ada.get(at(link, "approval", 2)).status_code == 404


def test_a_place_of_somebody_who_did_nothing_is_freed(link: RecruitmentLink, as_ada) -> None:
    RecruitmentLink.objects.update(max_places=1)
    gone = join(link)
    assert Client().get(address(link, "b" * 24)).status_code == 410
    as_ada.post(at(link, "people"), {"place": PID})
    assert outcome_of() == "freed"
    join(link, "b" * 24)
    assert shown(gone.get("/work/")) == ("freed", "")
    assert LabelTask.objects.filter(annotator__participant__panel_id=PID).count() == 0
    assert "1 of 1 taken" in words(as_ada.get(at(link)))


def test_what_was_done_in_a_freed_place_stays(link: RecruitmentLink, as_ada) -> None:
    join(link)
    do_one()
    as_ada.post(at(link, "people"), {"place": PID})
    [row] = paid(link, as_ada)
    assert (row["outcome"], row["tasks_done"], row["minutes"]) == ("freed", "1", "1.0")


def test_who_lost_the_place_after_one_task_and_finds_none_to_do_has_not_completed(
    link: RecruitmentLink, as_ada
) -> None:
    first = join(link)
    agree()
    RecruitmentLink.objects.update(max_tasks=LabelTask.objects.count())
    do_one()
    as_ada.post(at(link, "people"), {"place": PID})
    for letter in "bc":  # every summary is read by two
        Client().post(address(link, letter * 24))
    page = words(first.get(address(link)))
    assert "there is no other place for you in it now" in page
    assert "no task of it waits" not in page
    assert first.post(address(link)).headers["Location"] == "/work/"
    assert shown(first.get("/work/")) == ("freed", "")
    assert outcome_of() == "freed"


def test_freeing_a_place_pauses_the_clock_and_the_link_leads_back_to_the_begun_text(
    ada, as_ada, now: datetime
) -> None:
    link = make_link(make_writing_study(researcher=ada), by=ada, now=now, max_tasks=1)
    client = join(link)
    agree()
    session = begin_text(link)
    Assignment.objects.update(state="started")
    as_ada.post(at(link, "people"), {"place": PID})
    session.refresh_from_db()
    assert (session.state, session.run_started_at) == ("paused", None)
    assert shown(client.get("/work/"))[0] == "freed"
    page = words(client.get(address(link)))
    assert "there is no other place" not in page
    assert "Begin" in page
    assert client.post(address(link)).headers["Location"] == "/work/"
    assert shown(client.get("/work/")) == ("", "")
    assert outcome_of() == "working"


def test_the_place_of_somebody_who_completed_is_not_freed(link: RecruitmentLink, as_ada) -> None:
    join(link)
    finish()
    as_ada.post(at(link, "people"), {"place": PID})
    assert outcome_of() == "completed"


def test_places_where_nothing_was_done_for_a_day_are_freed_together(link: RecruitmentLink, as_ada) -> None:
    RecruitmentLink.objects.update(max_tasks=1)
    with time_machine.travel(datetime.now().astimezone() - timedelta(days=2)):
        join(link, "a" * 24)
        join(link, "b" * 24)
        finish("b" * 24)
    join(link, "c" * 24)
    LabelTask.objects.filter(annotator__participant__panel_id="b" * 24).update(state="begun")
    page = at(link, "people")
    assert "Free 1 place where nothing was done for a day" in words(as_ada.get(page))
    as_ada.post(page, {"idle": "1"})
    assert [outcome_of(letter * 24) for letter in "abc"] == ["freed", "working", "working"]


def test_the_ids_of_an_erased_person_go_from_every_list(link: RecruitmentLink, eve, now: datetime) -> None:
    join(link)
    link.allowed_ids.create(panel_key=PID)
    link.turned_away.create(panel_id=PID, panel_key=PID, at=now)
    erasing.erase(actor=eve, user=annotator_of(User.objects.get(is_recruited=True)).user, now=now)
    assert not link.allowed_ids.exists()
    assert not link.turned_away.exists()


@pytest.mark.parametrize("is_answered", [False, True])
def test_who_submits_the_last_summary_reads_the_code_on_the_page_that_follows(
    ada, now: datetime, *, is_answered: bool
) -> None:
    link = make_link(make_writing_study(researcher=ada), by=ada, now=now, max_tasks=1)
    client = join(link)
    after = reverse("annotation:session-after", args=[begin_text(link).uid])
    assert CODE not in words(client.get(after, follow=True))
    Session.objects.update(state="submitted", run_started_at=None, acc_ms=60_000, ended_at=timezone.now())
    Assignment.objects.update(state="done")
    if is_answered:
        Session.objects.update(questions_declined_at=now)
    page = client.get(after, follow=True)
    assert CODE in words(page)
    assert "All your tasks are done" not in words(page)
    assert "site-copy" in page.content.decode()


def test_withdrawing_pauses_a_clock_that_runs_and_the_contact_stays(ada, now: datetime) -> None:
    link = make_link(make_writing_study(researcher=ada), by=ada, now=now, max_tasks=1)
    client = join(link)
    session = begin_text(link)
    agree()
    client.post(reverse("annotation:consent-withdraw"))
    session.refresh_from_db()
    assert (session.state, session.run_started_at) == ("paused", None)
    for name in ("annotation:consent", "annotation:work", "privacy"):
        contact = client.get(reverse(name)).content.decode().partition("Questions or trouble?")[2]
        assert link.study.contact in contact, name


def test_a_study_that_pays_nothing_says_so_and_promises_no_pay(ada, now: datetime) -> None:
    link = make_link(
        make_writing_study(researcher=ada, study_fields={"hourly_rate": 0}), by=ada, now=now, max_tasks=1
    )
    assert "not paid" in words(Client().get(address(link)))
    client = join(link)
    start = reverse("annotation:session-start", args=[Assignment.objects.get(study=link.study).uid])
    leave = reverse("annotation:study-leave", args=[link.study.uid])
    for page in map(client.get, ("/work/", start, leave)):
        assert "0.00 USD" not in words(page)
        assert "keep what you have earned" not in words(page)
    assert "not paid" in words(client.get(start))
