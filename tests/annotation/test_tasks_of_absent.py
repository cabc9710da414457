"""Tasks of people who cannot do them are named and taken back; of somebody who is erased they are free at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Assignment, LabelTask, Study
from annotation.studies.kind import gaps_of, held_in
from benchmarks.models import AuditEvent
from summhay_site.accounts import accounts
from summhay_site.operations.erasing import erase, make_nameless
from tests.makers import (
    NOW,
    annotator_of,
    flat,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_summary,
    make_writing_study,
)


@pytest.fixture
def linking(ada: Any, ben: Any, cleo: Any, dot: Any) -> Study:
    """Everybody labels everything, so that no task can go to somebody else."""
    return make_linking_study(researcher=ada, annotators=[ben, cleo], overlap_number=4)


def n_tasks(study: Study) -> dict[str, int]:
    rows = study.label_tasks.values_list("annotator__label", flat=True)
    return {label: list(rows).count(label) for label in rows}


def test_who_is_deactivated_is_named_with_their_tasks_which_can_be_taken_back(
    linking: Study, ada: Any, ben: Any, cleo: Any, eve: Any, login: Any
) -> None:
    task = label_task(linking, cleo)
    task.begun_at, task.state = NOW, LabelTask.State.BEGUN
    task.save()
    accounts.deactivate(actor=eve, user=cleo, now=NOW)
    client = login(ada)
    for name in ("study", "study-annotators"):
        page = flat(client.get(reverse(f"annotation:{name}", args=[linking.uid])).text)
        assert "1 person has tasks and cannot do them:" in page
        assert "Cleo: 3 tasks not begun. The account is not active." in page
    address = reverse("annotation:study-annotators", args=[linking.uid])
    page = client.post(address, {"action": "release"}, follow=True)
    assert [str(message) for message in page.context["messages"]] == ["3 tasks were taken back."]
    assert n_tasks(linking) == {"Ben": 4, "Cleo": 1}  # what was begun stays
    assert held_in(linking, gaps_of(linking)) == []
    assert AuditEvent.objects.filter(action="study.take_back", detail={"n_tasks": 3}).count() == 1


def test_a_session_of_somebody_deactivated_is_named_on_the_page_of_tasks(
    ada: Any, ben: Any, eve: Any, login: Any
) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    make_assignment(study=study, annotator=ben)
    accounts.deactivate(actor=eve, user=ben, now=NOW)
    client = login(ada)
    page = flat(client.get(reverse("annotation:study-assignments", args=[study.uid])).text)
    assert "Ben: 1 task not begun. The account is not active." in page
    client.post(reverse("annotation:study-annotators", args=[study.uid]), {"action": "release"})
    assert study.assignments.get().state == Assignment.State.WITHDRAWN


@pytest.mark.parametrize("how", ["erased", "nameless"])
def test_tasks_of_somebody_who_is_erased_are_free_at_once(
    how: str, linking: Study, ben: Any, cleo: Any, eve: Any
) -> None:
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
def test_the_clock_of_who_can_no_longer_open_the_page_stops(act: Callable[..., Any], ben: Any, eve: Any) -> None:
    session = make_session(annotator=ben, state="running", limit_ms=3_600_000)
    act(actor=eve, user=ben, now=NOW + timedelta(minutes=5))
    session.refresh_from_db()
    assert (session.state, session.acc_ms, session.run_started_at) == ("paused", 300_000, None)


def test_deactivating_asks_first_and_says_what_waits(linking: Study, cleo: Any, eve: Any, login: Any) -> None:
    client = login(eve)
    address = reverse("person-active", args=[cleo.uid])
    assert f'href="{address}"' in client.get(reverse("person", args=[cleo.uid])).text
    asked = flat(client.get(address).text)
    assert f"Deactivate {cleo.display_name}?" in asked
    assert "logged out at once" in asked
    assert f"{linking.name}</a> 4 tasks that are not begun stay with the person" in asked
    cleo.refresh_from_db()
    assert cleo.is_active
    client.post(address, {"active": "0"})
    cleo.refresh_from_db()
    assert not cleo.is_active


def test_asking_before_somebody_is_deactivated_takes_no_more_queries_with_more_studies(
    ada: Any, ben: Any, cleo: Any, eve: Any, login: Any, django_assert_max_num_queries: Any
) -> None:
    client, address = login(eve), reverse("person-active", args=[cleo.uid])
    haystack = make_haystack()
    for at in range(4):
        texts = [make_summary(subtopic=haystack.subtopics.first(), system=f"s{at}{n}") for n in range(2)]
        make_linking_study(researcher=ada, annotators=[ben, cleo], summaries=texts, name=f"Study {at}")
    client.get(address)
    with django_assert_max_num_queries(10):
        assert [n for _study, n in client.get(address).context["waiting"]] == [1, 1, 1, 1]
