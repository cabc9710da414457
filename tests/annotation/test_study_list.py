"""The list of studies counts people and tasks in few queries; its work grows with their rows, not the product."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from annotation.models import Annotator, Assignment, Membership, Study
from tests.makers import make_haystack, make_linking_study, make_writing_study
from tests.queries import cost_of

ADDRESS = reverse("annotation:studies")


def fill(study: Study, *, n: int, now: datetime) -> None:
    """Let n more people take part in a writing study, each with 5 tasks of which 1 is done and 1 withdrawn."""
    subtopics = list(study.writing_plan.subtopics.order_by("number"))
    first = study.memberships.count() + 1
    people = [Annotator.objects.create(label=f"P{first + place}", created_at=now) for place in range(n)]
    Membership.objects.bulk_create(
        Membership(study=study, annotator=person, number=number, joined_at=now)
        for number, person in enumerate(people, first)
    )
    Assignment.objects.bulk_create(
        Assignment(
            study=study,
            annotator=person,
            subtopic=subtopic,
            state={0: "done", 1: "withdrawn"}.get(place, "assigned"),
            document_numbers=[1],
            n_words=60,
            n_insights_present=1,
            withdrawn_at=now if place == 1 else None,
            created_at=now,
        )
        for person in people
        for place, subtopic in enumerate(subtopics)
    )


def make_study(ada, name: str, now: datetime) -> Study:
    haystack = make_haystack(key=name, golds=[[[1]]] * 5)
    return make_writing_study(name=name, haystack=haystack, researcher=ada, now=now)


def steps(get: Callable[[], Any]) -> int:
    """How many thousands of instructions SQLite carries out."""
    n = 0

    def count() -> int:
        nonlocal n
        n += 1
        return 0

    connection.connection.set_progress_handler(count, 1000)
    try:
        get()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return n


def test_people_and_tasks_count_once_whatever_else_a_study_has(ada, eve, ben, login, now: datetime) -> None:
    study = make_study(ada, "Ferry", now)
    study.researchers.add(eve)
    fill(study, n=3, now=now)
    study.memberships.filter(number=3).update(left_at=now)
    make_linking_study(annotators=[ben], researcher=ada, haystack=make_haystack(key="links"))
    for somebody in (ada, eve):
        rows = {row.name: row for row in login(somebody).get(ADDRESS).context["table"].data}
        assert [
            (row.n_annotators, row.n_tasks, row.n_done) for row in map(rows.get, ("Ferry", "Ferry links"))
        ] == [
            (2, 12, 3),
            (1, 4, 0),
        ]


def test_the_queries_stay_the_same_with_more_studies_people_and_tasks(ada, as_ada, now: datetime) -> None:
    make_study(ada, "Ferry", now)
    few = cost_of(as_ada, ADDRESS)
    for name in ("Boats", "Piers", "Buoys"):
        fill(make_study(ada, name, now), n=20, now=now)
    assert cost_of(as_ada, ADDRESS, {"sort": "done"}) <= few <= 20


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the instructions of SQLite")
def test_the_work_of_the_list_grows_with_its_rows_and_not_with_people_times_tasks(
    ada, as_ada, now: datetime
) -> None:
    study = make_study(ada, "Ferry", now)

    def work() -> int:
        return steps(lambda: as_ada.get(ADDRESS))

    fill(study, n=20, now=now)
    small = work()
    fill(study, n=60, now=now)
    assert work() < 6 * small
