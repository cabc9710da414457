"""Who sets up a study reads who can be given no task and why, and where there are fewer people than planned."""

from datetime import datetime
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Exposure, Study
from annotation.studies.kind import work_of
from annotation.studies.members import add_annotators
from tests.annotation.test_linking_study_pages import form_data as linking_form
from tests.annotation.writing_study import form_data as writing_form
from tests.makers import (
    annotator_of,
    flat,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_summary,
    make_writing_study,
)
from tests.makers_verification import make_questions, make_verification_study


def create(kind: str) -> str:
    return reverse("annotation:study-create", args=[kind])


def form_of(kind: str, haystack, *people) -> dict[str, Any]:
    plan = {} if kind == "linking" else {"with_reasons": "on", "n_sample": "1"}
    return linking_form(haystack, *people, **plan)


def make_texts(haystack) -> None:
    for subtopic in haystack.subtopics.all():
        make_summary(subtopic=subtopic)


@pytest.mark.parametrize("kind", ["linking", "rating"])
def test_where_everybody_still_has_to_write_the_study_says_so_and_leads_to_their_tasks(
    kind: str, ada, as_ada, ben
) -> None:
    haystack = make_haystack()
    make_texts(haystack)
    writing = make_writing_study(haystack=haystack, annotators=[ben], researcher=ada)
    make_assignment(study=writing, annotator=ben)
    page = as_ada.post(create(kind), form_of(kind, haystack, ben), follow=True)
    study = Study.objects.get(kind=kind)
    assert study.label_tasks.count() == 0
    assert "nobody could be given a task" in page.text
    assert "tasks are assigned" not in page.text
    why = f"Still has to write on “{haystack.title}”."
    address = reverse("annotation:study-assignments", args=[writing.uid])
    assert f"Ben: {why}" in flat(page.text)
    assert f'<a href="{address}">Tasks of “{writing.name}”</a>' in flat(page.text)
    opened = as_ada.post(reverse("annotation:study-state", args=[study.uid]), {"action": "open"}, follow=True)
    assert f"Ben: {why}" in [str(message) for message in opened.context["messages"]]
    assert address in as_ada.get(reverse("annotation:study-annotators", args=[study.uid])).text


def test_a_study_that_the_researcher_may_not_see_is_not_named(as_ada, ben) -> None:
    haystack = make_haystack()
    make_texts(haystack)
    hidden = make_writing_study(haystack=haystack, name="Hidden study", annotators=[ben])
    make_assignment(study=hidden, annotator=ben)
    page = as_ada.post(create("linking"), form_of("linking", haystack, ben), follow=True)
    assert "Ben: Still has to write on" in flat(page.text)
    assert "Hidden study" not in page.text
    assert str(hidden.uid) not in page.text


def test_tasks_and_people_are_counted_where_some_get_tasks_and_some_none(as_ada, ben, cleo) -> None:
    haystack = make_haystack()
    make_texts(haystack)
    make_assignment(study=make_writing_study(haystack=haystack, annotators=[ben]), annotator=ben)
    page = as_ada.post(create("linking"), form_of("linking", haystack, ben, cleo), follow=True)
    assert "The study is set up: 2 tasks are assigned, to 1 person. Check it, then open it." in page.text
    assert [row.annotator.user.username for row in page.context["blocked"]] == ["ben"]


def test_without_people_nothing_is_said_to_be_assigned(as_ada) -> None:
    haystack = make_haystack()
    make_texts(haystack)
    page = as_ada.post(create("linking"), form_of("linking", haystack), follow=True)
    assert "The study is set up. No tasks are assigned yet." in page.text


def test_a_writing_study_names_who_has_seen_the_insights(as_ada, ben, now: datetime) -> None:
    haystack = make_haystack()
    Exposure.objects.create(user=ben, haystack=haystack, reason="linking", first_at=now)
    data = writing_form(haystacks=[haystack.pk], annotators=[annotator_of(ben).pk], assign_now="on")
    page = as_ada.post(create("writing"), data, follow=True)
    assert "nobody could be given a task" in page.text
    assert "Ben: Has seen reference insights of this haystack" in flat(page.text)


def test_who_cannot_work_is_named_with_the_reason_in_every_kind(
    ada, as_ada, ben, cleo, dot, now: datetime
) -> None:
    study = make_verification_study(questions=make_questions(2), annotators=[ben], researcher=ada)
    cleo.is_active = False
    cleo.save()
    consent = annotator_of(dot).consents.model
    consent.objects.create(
        annotator=annotator_of(dot),
        text=annotator_of(ben).consents.get().text,
        given_at=now,
        withdrawn_at=now,
    )
    add_annotators(study=study, annotators=[annotator_of(cleo), annotator_of(dot)], by=ada, now=now)
    address = reverse("annotation:study", args=[study.uid])
    text = flat(as_ada.get(address).text)
    assert "2 people can be given no task:" in text
    assert "Cleo: The account is not active." in text
    assert "Dot: Withdrew consent." in text
    Study.objects.update(state="closed")
    assert "can be given no task" not in as_ada.get(address).text


def test_who_comes_when_all_is_shared_out_reads_why_there_is_nothing(
    ada, as_ada, ben, cleo, now: datetime
) -> None:
    study = make_linking_study(annotators=[ben], researcher=ada)
    page = as_ada.post(
        reverse("annotation:study-annotators", args=[study.uid]),
        {"action": "people", "annotators": [annotator_of(cleo).pk]},
        follow=True,
    )
    assert [(str(message), message.level_tag) for message in page.context["messages"]] == [
        ("0 tasks were assigned.", "warning")
    ]
    assert "Cleo: All else has as many people as planned." in flat(page.text)


@pytest.fixture
def writing(as_ada, ben) -> Study:
    """One writer, who may write on one of two subtopics of a haystack."""
    haystack = make_haystack()
    data = writing_form(
        haystacks=[haystack.pk],
        annotators=[annotator_of(ben).pk],
        assign_now="on",
        allow_second_on_haystack="",
        sessions_per_subtopic="2",
    )
    page = as_ada.post(reverse("annotation:study-create", args=["writing"]), data, follow=True)
    said = [str(message) for message in page.context["messages"]]
    assert said == [
        "The study is set up: 1 task is assigned, to 1 person. Check it, then open it. "
        "3 planned sessions have no writer."
    ]
    return Study.objects.get()


def test_a_writing_study_says_which_sessions_have_no_writer_before_it_is_opened_and_after(
    writing: Study, as_ada
) -> None:
    where = reverse("annotation:study-assign", args=[writing.uid])
    for name in ("study", "study-annotators", "study-assignments"):
        page = flat(as_ada.get(reverse(f"annotation:{name}", args=[writing.uid])).text)
        assert "3 planned sessions have no writer." in page
        assert where in page
        assert "Tasks are assigned." not in page
    opened = as_ada.post(reverse("annotation:study-state", args=[writing.uid]), {"action": "open"}, follow=True)
    said = [str(message) for message in opened.context["messages"]]
    assert said == ["The study is now open.", "3 planned sessions have no writer."]


def test_a_writing_study_where_every_session_has_a_writer_says_nothing(ada, as_ada, ben) -> None:
    study = make_writing_study(
        researcher=ada, annotators=[ben], sessions_per_subtopic=1, allow_second_on_haystack=True, state="draft"
    )
    assert work_of(study).short_of(study) == "2 planned sessions have no writer."
    as_ada.post(reverse("annotation:study-assign", args=[study.uid]))
    assert work_of(study).short_of(study) == ""
    page = as_ada.get(reverse("annotation:study-assignments", args=[study.uid]))
    assert "Tasks are assigned." in page.text


def test_a_study_that_is_set_up_and_opened_at_once_says_it_too(as_ada, ben) -> None:
    data = writing_form(haystacks=[make_haystack().pk], annotators=[annotator_of(ben).pk], assign_now="on")
    data |= {"then": "open", "sessions_per_subtopic": "1"}
    page = as_ada.post(reverse("annotation:study-create", args=["writing"]), data, follow=True)
    assert "1 planned session has no writer." in [str(message) for message in page.context["messages"]]


def test_what_everybody_gets_has_fewer_people_than_planned_while_nobody_takes_part(ben) -> None:
    study = make_linking_study(people_per_item=2, overlap_number=2)
    assert work_of(study).short_of(study) == "4 summaries have fewer people than planned."
    alone = make_linking_study(
        people_per_item=1, overlap_number=2, annotators=[ben], name="Alone", haystack=make_haystack(key="alone")
    )
    assert work_of(alone).short_of(alone) == ""
