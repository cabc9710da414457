"""Tasks that go to others: who loses some is told, and those of people who are absent or erased are taken back."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Assignment, LabelTask, Study
from annotation.studies.kind import gaps_of, held_in
from annotation.studies.members import remove_annotator
from annotation.writing import assigning
from benchmarks.models import AuditEvent
from summhay_site.accounts import accounts
from summhay_site.operations.erasing import erase, make_nameless
from tests.makers import (
    NOW,
    annotator_of,
    flat,
    give_consent,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_verification import make_questions, make_verification_study

WORK = reverse("annotation:work")


def join(client, study: Study, *people, shares: bool = True) -> None:
    """Let people join on the page of a study, where what nobody opened is shared with them or not."""
    give_consent(*people)
    data = {"action": "people", "annotators": [annotator_of(person).pk for person in people]}
    address = reverse("annotation:study-annotators", args=[study.uid])
    assert client.post(address, data | ({"rebalance": "on"} if shares else {})).status_code == 302


def make_points(ada, *people, **fields) -> Study:
    return make_verification_study(questions=make_questions(6), annotators=people, researcher=ada, **fields)


def make_links(ada, *people, **fields) -> Study:
    return make_linking_study(annotators=people, researcher=ada, **fields)


@pytest.mark.parametrize("make", [make_points, make_links])
def test_tasks_that_went_to_who_joined_later_are_told_until_they_are_read(
    make, ada, as_ada, ben, as_ben, cleo, as_cleo, dot, login
) -> None:
    study = make(ada, ben)
    before = study.label_tasks.filter(annotator__user=ben).count()
    join(as_ada, study, cleo, dot)
    n = study.label_tasks.filter(annotator__user=ben).count()
    assert 0 < n < before
    page = flat(as_ben.get(WORK).text)
    assert f"You have fewer tasks in “{study.name}” than before: {n} instead of {before}." in page
    assert "More people take part now" in page
    assert "The pay for what is left is about" in page
    for other in (cleo, dot):
        assert "fewer tasks" not in login(other).get(WORK).text
    read = reverse("annotation:fewer-read", args=[study.uid])
    assert as_cleo.post(read).status_code == 302
    assert "fewer tasks" in as_ben.get(WORK).text
    assert as_ben.post(read, follow=True).status_code == 200
    assert "fewer tasks" not in as_ben.get(WORK).text


def test_the_pay_that_is_lost_is_that_of_the_page_of_work(ada, as_ada, ben, as_ben, cleo) -> None:
    study = make_links(ada, ben)  # 4 summaries of 4 minutes each at 25 USD an hour
    assert "about 6.67 USD" in as_ben.get(WORK).text
    join(as_ada, study, cleo)
    [row] = as_ben.get(WORK).context["board"].fewer
    assert (row.n, row.n_before, row.less) == (2, 4, Decimal("3.33"))
    Study.objects.update(hourly_rate=0)
    [row] = as_ben.get(WORK).context["board"].fewer
    assert row.less is None


def test_it_is_said_in_german_too(ada, as_ada, ben, as_ben, cleo) -> None:
    study = make_links(ada, ben)
    join(as_ada, study, cleo)
    page = flat(as_ben.get(WORK, headers={"accept-language": "de"}).text)
    assert f"Sie haben in „{study.name}“ weniger Aufgaben als zuvor: 2 statt 4." in page


def test_drops_add_up_and_whoever_has_as_many_again_reads_nothing(
    ada, ben, cleo, dot, login, now: datetime
) -> None:
    study, researcher, client = make_links(ada, ben), login(ada), login(ben)
    join(researcher, study, cleo)
    join(researcher, study, dot)
    [row] = client.get(WORK).context["board"].fewer
    assert (row.n, row.n_before) == (study.label_tasks.filter(annotator__user=ben).count(), 4)
    for person in (cleo, dot):
        remove_annotator(study=study, annotator=annotator_of(person), reason="", by=ada, now=now)
    researcher.post(reverse("annotation:study-annotators", args=[study.uid]), {"action": "deal"})
    assert study.label_tasks.filter(annotator__user=ben).count() == 4
    assert client.get(WORK).context["board"].fewer == ()


def test_what_nobody_could_see_or_lost_is_not_told(ada, as_ada, ben, as_ben, cleo, dot) -> None:
    draft = make_links(ada, ben, state=Study.State.DRAFT)
    join(as_ada, draft, cleo)
    Study.objects.update(state=Study.State.OPEN)
    assert label_task(draft, cleo)
    join(as_ada, make_points(ada, ben), dot, shares=False)
    assert "fewer tasks" not in as_ben.get(WORK).text


def test_a_writing_task_that_is_withdrawn_or_passed_on_is_told_to_who_stays(
    ada, ben, as_ben, cleo, as_cleo, now: datetime
) -> None:
    study = make_writing_study(
        haystack=make_haystack(), annotators=[ben, cleo], researcher=ada, limit_ms=7_200_000
    )
    task = make_assignment(study=study, annotator=ben)
    make_assignment(study=study, annotator=cleo, subtopic=study.writing_plan.subtopics.last())
    assigning.withdraw(assignment=task, reason="A private remark", by=ada, now=now)
    page = flat(as_ben.get(WORK).text)
    assert f"You have fewer tasks in “{study.name}” than before: 0 instead of 1." in page
    assert "Writing that you had not begun was withdrawn or given to somebody else." in page
    assert "The pay for what is left is up to 50.00 USD lower." in page
    assert "A private remark" not in page
    remove_annotator(study=study, annotator=annotator_of(cleo), reason="", by=ada, now=now)
    assert "fewer tasks" not in as_cleo.get(WORK).text
    Study.objects.update(state=Study.State.CLOSED)
    assert "fewer tasks" not in as_ben.get(WORK).text


def test_the_notice_is_taken_away_only_by_posting(ben, as_ben) -> None:
    study = make_session(annotator=ben).assignment.study
    assert as_ben.get(reverse("annotation:fewer-read", args=[study.uid])).status_code == 405


@pytest.fixture
def linking(ada, ben, cleo, dot) -> Study:
    """Everybody labels everything, so that no task can go to somebody else."""
    return make_linking_study(researcher=ada, annotators=[ben, cleo], overlap_number=4)


def n_tasks(study: Study) -> dict[str, int]:
    rows = study.label_tasks.values_list("annotator__label", flat=True)
    return {label: list(rows).count(label) for label in rows}


def test_who_is_deactivated_is_named_with_their_tasks_which_can_be_taken_back(
    linking: Study, as_ada, ben, cleo, eve
) -> None:
    task = label_task(linking, cleo)
    task.begun_at, task.state = NOW, LabelTask.State.BEGUN
    task.save()
    accounts.deactivate(actor=eve, user=cleo, now=NOW)
    for name in ("study", "study-annotators"):
        page = flat(as_ada.get(reverse(f"annotation:{name}", args=[linking.uid])).text)
        assert "1 person has tasks and cannot do them:" in page
        assert "Cleo: 3 tasks not begun. The account is not active." in page
    address = reverse("annotation:study-annotators", args=[linking.uid])
    page = as_ada.post(address, {"action": "release"}, follow=True)
    assert [str(message) for message in page.context["messages"]] == ["3 tasks were taken back."]
    assert n_tasks(linking) == {"Ben": 4, "Cleo": 1}  # what was begun stays
    assert held_in(linking, gaps_of(linking)) == []
    assert AuditEvent.objects.filter(action="study.take_back", detail={"n_tasks": 3}).count() == 1


def test_a_session_of_somebody_deactivated_is_named_on_the_page_of_tasks(ada, as_ada, ben, eve) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    make_assignment(study=study, annotator=ben)
    accounts.deactivate(actor=eve, user=ben, now=NOW)
    page = flat(as_ada.get(reverse("annotation:study-assignments", args=[study.uid])).text)
    assert "Ben: 1 task not begun. The account is not active." in page
    as_ada.post(reverse("annotation:study-annotators", args=[study.uid]), {"action": "release"})
    assert study.assignments.get().state == Assignment.State.WITHDRAWN


@pytest.mark.parametrize("how", ["erased", "nameless"])
def test_tasks_of_somebody_who_is_erased_are_free_at_once(how: str, linking: Study, ben, cleo, eve) -> None:
    other = make_writing_study(annotators=[cleo], haystack=make_haystack(key="other"), state="closed")
    make_assignment(study=other, annotator=cleo)
    person = annotator_of(cleo)
    if how == "erased":
        erase(actor=eve, user=cleo, now=NOW)
    else:
        make_nameless(user=cleo, now=NOW)
    assert n_tasks(linking) == {"Ben": 4}
    assert linking.memberships.get(annotator=person).left_at == NOW
    assert other.assignments.get().state == Assignment.State.WITHDRAWN
    assert other.memberships.get().left_at is None  # the study was over
    assert [held_in(study, gaps_of(study)) for study in (linking, other)] == [[], []]


@pytest.mark.parametrize("act", [accounts.deactivate, erase])
def test_the_clock_of_who_can_no_longer_open_the_page_stops(act: Callable[..., Any], ben, eve) -> None:
    session = make_session(annotator=ben, state="running", limit_ms=3_600_000)
    act(actor=eve, user=ben, now=NOW + timedelta(minutes=5))
    session.refresh_from_db()
    assert (session.state, session.acc_ms, session.run_started_at) == ("paused", 300_000, None)


def test_deactivating_asks_first_and_says_what_waits(linking: Study, cleo, as_eve) -> None:
    address = reverse("person-active", args=[cleo.uid])
    assert f'href="{address}"' in as_eve.get(reverse("person", args=[cleo.uid])).text
    asked = flat(as_eve.get(address).text)
    assert f"Deactivate {cleo.display_name}?" in asked
    assert "logged out at once" in asked
    assert f"{linking.name}</a> 4 tasks that are not begun stay with the person" in asked
    cleo.refresh_from_db()
    assert cleo.is_active
    as_eve.post(address, {"active": "0"})
    cleo.refresh_from_db()
    assert not cleo.is_active


def test_asking_before_somebody_is_deactivated_takes_no_more_queries_with_more_studies(
    ada, ben, cleo, as_eve, django_assert_max_num_queries
) -> None:
    address = reverse("person-active", args=[cleo.uid])
    haystack = make_haystack()
    for at in range(4):
        texts = [make_summary(subtopic=haystack.subtopics.first(), system=f"s{at}{n}") for n in range(2)]
        make_linking_study(researcher=ada, annotators=[ben, cleo], summaries=texts, name=f"Study {at}")
    as_eve.get(address)
    with django_assert_max_num_queries(10):
        assert [n for _study, n in as_eve.get(address).context["waiting"]] == [1, 1, 1, 1]
