"""Who loses tasks that nobody had opened is told how many, why and what it means for the pay, until it is read."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.studies.members import remove_annotator
from annotation.writing import assigning
from tests.makers import (
    annotator_of,
    flat,
    give_consent,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)
from tests.makers_verification import make_questions, make_verification_study

WORK = reverse("annotation:work")


def join(client: Any, study: Study, *people: Any, shares: bool = True) -> None:
    """Let people join on the page of a study, where what nobody opened is shared with them or not."""
    give_consent(*people)
    data = {"action": "people", "annotators": [annotator_of(person).pk for person in people]}
    address = reverse("annotation:study-annotators", args=[study.uid])
    assert client.post(address, data | ({"rebalance": "on"} if shares else {})).status_code == 302


def make_points(ada: Any, *people: Any, **fields: Any) -> Study:
    return make_verification_study(questions=make_questions(6), annotators=people, researcher=ada, **fields)


def make_links(ada: Any, *people: Any, **fields: Any) -> Study:
    return make_linking_study(annotators=people, researcher=ada, **fields)


@pytest.mark.parametrize("make", [make_points, make_links])
def test_tasks_that_went_to_who_joined_later_are_told_until_they_are_read(
    make: Any, ada: Any, ben: Any, cleo: Any, dot: Any, login: Any
) -> None:
    study = make(ada, ben)
    before = study.label_tasks.filter(annotator__user=ben).count()
    join(login(ada), study, cleo, dot)
    n = study.label_tasks.filter(annotator__user=ben).count()
    assert 0 < n < before
    client = login(ben)
    page = flat(client.get(WORK).text)
    assert f"You have fewer tasks in “{study.name}” than before: {n} instead of {before}." in page
    assert "More people take part now" in page
    assert "The pay for what is left is about" in page
    for other in (cleo, dot):
        assert "fewer tasks" not in login(other).get(WORK).text
    read = reverse("annotation:fewer-read", args=[study.uid])
    assert login(cleo).post(read).status_code == 302
    assert "fewer tasks" in client.get(WORK).text
    assert client.post(read, follow=True).status_code == 200
    assert "fewer tasks" not in client.get(WORK).text


def test_the_pay_that_is_lost_is_that_of_the_page_of_work(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_links(ada, ben)  # 4 summaries of 4 minutes each at 25 USD an hour
    client = login(ben)
    assert "about 6.67 USD" in client.get(WORK).text
    join(login(ada), study, cleo)
    [row] = client.get(WORK).context["board"].fewer
    assert (row.n, row.n_before, row.less) == (2, 4, Decimal("3.33"))
    Study.objects.update(hourly_rate=0)
    [row] = client.get(WORK).context["board"].fewer
    assert row.less is None


def test_it_is_said_in_german_too(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_links(ada, ben)
    join(login(ada), study, cleo)
    page = flat(login(ben).get(WORK, headers={"accept-language": "de"}).text)
    assert f"Sie haben in „{study.name}“ weniger Aufgaben als zuvor: 2 statt 4." in page


def test_drops_add_up_and_whoever_has_as_many_again_reads_nothing(
    ada: Any, ben: Any, cleo: Any, dot: Any, login: Any, now: datetime
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


def test_what_nobody_could_see_or_lost_is_not_told(ada: Any, ben: Any, cleo: Any, dot: Any, login: Any) -> None:
    draft = make_links(ada, ben, state=Study.State.DRAFT)
    join(login(ada), draft, cleo)
    Study.objects.update(state=Study.State.OPEN)
    assert label_task(draft, cleo)
    kept = make_points(ada, ben)
    join(login(ada), kept, dot, shares=False)
    assert "fewer tasks" not in login(ben).get(WORK).text


def test_a_writing_task_that_is_withdrawn_or_passed_on_is_told_to_who_stays(
    ada: Any, ben: Any, cleo: Any, login: Any, now: datetime
) -> None:
    study = make_writing_study(
        haystack=make_haystack(), annotators=[ben, cleo], researcher=ada, limit_ms=7_200_000
    )
    task = make_assignment(study=study, annotator=ben)
    make_assignment(study=study, annotator=cleo, subtopic=study.writing_plan.subtopics.last())
    assigning.withdraw(assignment=task, reason="A private remark", by=ada, now=now)
    page = flat(login(ben).get(WORK).text)
    assert f"You have fewer tasks in “{study.name}” than before: 0 instead of 1." in page
    assert "Writing that you had not begun was withdrawn or given to somebody else." in page
    assert "The pay for what is left is up to 50.00 USD lower." in page
    assert "A private remark" not in page
    remove_annotator(study=study, annotator=annotator_of(cleo), reason="", by=ada, now=now)
    assert "fewer tasks" not in login(cleo).get(WORK).text
    Study.objects.update(state=Study.State.CLOSED)
    assert "fewer tasks" not in login(ben).get(WORK).text


def test_the_notice_is_taken_away_only_by_posting(ben: Any, login: Any) -> None:
    study = make_session(annotator=ben).assignment.study
    assert study is not None
    assert login(ben).get(reverse("annotation:fewer-read", args=[study.uid])).status_code == 405
