"""A study with fewer people than planned says so wherever it is set up, looked at and opened."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Study
from annotation.studies.kind import work_of
from tests.annotation.writing_study import form_data as writing_form
from tests.makers import annotator_of, flat, make_haystack, make_linking_study, make_writing_study


@pytest.fixture
def writing(ada: Any, ben: Any, login: Any) -> Study:
    """One writer, who may write on one of two subtopics of a haystack."""
    haystack = make_haystack()
    data = writing_form(
        haystacks=[haystack.pk],
        annotators=[annotator_of(ben).pk],
        assign_now="on",
        allow_second_on_haystack="",
        sessions_per_subtopic="2",
    )
    page = login(ada).post(reverse("annotation:study-create", args=["writing"]), data, follow=True)
    said = [str(message) for message in page.context["messages"]]
    assert said == [
        "The study is set up: 1 task is assigned, to 1 person. Check it, then open it. "
        "3 planned sessions have no writer."
    ]
    return Study.objects.get()


def test_a_writing_study_says_which_sessions_have_no_writer_before_it_is_opened_and_after(
    writing: Study, ada: Any, login: Any
) -> None:
    client = login(ada)
    where = reverse("annotation:study-assign", args=[writing.uid])
    for name in ("study", "study-annotators", "study-assignments"):
        page = flat(client.get(reverse(f"annotation:{name}", args=[writing.uid])).text)
        assert "3 planned sessions have no writer." in page
        assert where in page
        assert "Tasks are assigned." not in page
    opened = client.post(reverse("annotation:study-state", args=[writing.uid]), {"action": "open"}, follow=True)
    said = [str(message) for message in opened.context["messages"]]
    assert said == ["The study is now open.", "3 planned sessions have no writer."]


def test_a_writing_study_where_every_session_has_a_writer_says_nothing(ada: Any, ben: Any, login: Any) -> None:
    study = make_writing_study(
        researcher=ada, annotators=[ben], sessions_per_subtopic=1, allow_second_on_haystack=True, state="draft"
    )
    assert work_of(study).short_of(study) == "2 planned sessions have no writer."
    client = login(ada)
    client.post(reverse("annotation:study-assign", args=[study.uid]))
    assert work_of(study).short_of(study) == ""
    page = client.get(reverse("annotation:study-assignments", args=[study.uid]))
    assert "Tasks are assigned." in page.text


def test_a_study_that_is_set_up_and_opened_at_once_says_it_too(ada: Any, ben: Any, login: Any) -> None:
    data = writing_form(haystacks=[make_haystack().pk], annotators=[annotator_of(ben).pk], assign_now="on")
    data |= {"then": "open", "sessions_per_subtopic": "1"}
    page = login(ada).post(reverse("annotation:study-create", args=["writing"]), data, follow=True)
    assert "1 planned session has no writer." in [str(message) for message in page.context["messages"]]


def test_what_everybody_gets_has_fewer_people_than_planned_while_nobody_takes_part(ben: Any) -> None:
    study = make_linking_study(people_per_item=2, overlap_number=2)
    assert work_of(study).short_of(study) == "4 summaries have fewer people than planned."
    alone = make_linking_study(
        people_per_item=1, overlap_number=2, annotators=[ben], name="Alone", haystack=make_haystack(key="alone")
    )
    assert work_of(alone).short_of(alone) == ""
