"""An open study is archived only after a question; while it is archived nothing is assigned in it."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from tests.makers import annotator_of, flat, make_linking_study, make_writing_study


def test_an_open_study_is_archived_after_a_question_and_comes_back_closed(ada: Any, ben: Any, login: Any) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben])
    client = login(ada)
    state = reverse("annotation:study-state", args=[study.uid])
    asked = client.post(state, {"action": "archive"}, follow=True)
    assert "annotators can no longer work on the 4 tasks that are not done" in flat(asked.text)
    assert "Restored from the archive it is closed" in flat(asked.text)
    study.refresh_from_db()
    assert study.state == "open"
    client.post(state, {"action": "archive", "sure": "1"})
    study.refresh_from_db()
    assert study.state == "archived"
    page = client.get(reverse("annotation:study", args=[study.uid]))
    assert "It is closed then; you can open it again." in page.text
    client.post(state, {"action": "restore"})
    study.refresh_from_db()
    assert study.state == "closed"
    client.post(state, {"action": "archive"})  # nobody can work in it, so nothing is asked
    study.refresh_from_db()
    assert study.state == "archived"


def test_nothing_is_assigned_in_an_archived_study(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben], people_per_item=2, state="archived")
    client = login(ada)
    for name in ("study", "study-annotators"):
        page = client.get(reverse(f"annotation:{name}", args=[study.uid]))
        assert "Assign what is missing" not in page.text
        assert "Add and assign" not in page.text
    people = reverse("annotation:study-annotators", args=[study.uid])
    for data in ({"action": "deal"}, {"action": "people", "annotators": [annotator_of(cleo).pk]}):
        page = client.post(people, data, follow=True)
        assert "The study is archived; restore it first." in page.text
    assert study.memberships.count() == 1
    assert study.label_tasks.count() == 4


def test_no_session_is_assigned_in_an_archived_study(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben], state="archived")
    client = login(ada)
    page = client.get(reverse("annotation:study-assignments", args=[study.uid]))
    assert "Assign one task by hand" not in page.text
    assert "Assign open slots" not in page.text
    subtopic = study.writing_plan.subtopics.first()
    one = {"annotator": annotator_of(ben).pk, "subtopic": subtopic.pk}
    for name, data in (("study-assign", {}), ("study-assign-one", one)):
        answer = client.post(reverse(f"annotation:{name}", args=[study.uid]), data, follow=True)
        assert "The study is archived; restore it first." in answer.text
    assert not study.assignments.exists()
