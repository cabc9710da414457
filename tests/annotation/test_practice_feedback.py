"""Practice writing ends with feedback: insights found or missed, citations right, wrong or missing."""

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Session
from annotation.writing import assigning
from benchmarks.models import Summary, Verdict
from tests import makers
from tests.annotation.points import make_points_study
from tests.makers import annotator_of


def page_of(client: Client, session: Session, name: str):
    return client.get(reverse(f"annotation:{name}", args=[session.uid]))


def test_practice_ends_with_its_insights_found_or_missed_and_each_citation_right_wrong_or_missing(
    ben, as_ben, as_cleo
) -> None:
    task = makers.make_assignment(annotator=ben, is_practice=True)
    facts = list(task.subtopic.insights.order_by("number").values_list("text", flat=True))
    text = f"- {facts[0]} [1, 4]\n- Gulls are noisy. [5, 99]\n- Terns are not."
    session = makers.make_session(assignment=task, state="submitted", revisions=[(60_000, text)])
    page = makers.flat(page_of(as_ben, session, "session-practised").text)
    assert "You found 1 of 3 insights." in page
    first, second, _third = re.findall(r'<li class="is-(?:full|partial|none)">.*?</ul></li>', page)
    assert re.search(r"(Found|Probably found) ?<", first)
    assert "correctly cited: 1</li>" in first
    assert "it is not in there: 4</li>" in first
    assert "it is also in: 2, 3</li>" in first
    assert re.search(r"(Missed|Probably missed) ?<", second)
    assert "it is in: 2, 3, 4</li>" in second
    others = page[page.index("Your other bullets") :]
    assert facts[0] not in others
    _words, gulls, terns = others.split("<li>")
    assert "Gulls are noisy." in gulls
    assert "it cites: 5, 99" in gulls
    assert "not among the documents: 99" in gulls
    assert "Terns are not." in terns
    assert "cites" not in terns
    assert page_of(as_cleo, session, "session-practised").status_code == 404
    assert not Verdict.objects.exists()
    assert not Summary.objects.exists()


def test_without_a_worker_practice_ends_with_the_insights_and_without_a_verdict(ben, as_ben, settings) -> None:
    settings.RESULTS_AT_ONCE = False
    task = makers.make_assignment(annotator=ben, is_practice=True)
    session = makers.make_session(assignment=task, state="submitted", revisions=[(60_000, "- Gulls. [5]")])
    page = page_of(as_ben, session, "session-practised").text
    assert "Meanwhile, these are the insights" in page
    assert task.subtopic.insights.first().text in page
    assert 'hx-trigger="load delay:1s"' in page


def test_what_tells_insights_is_for_practice_that_is_over(ben, as_ben) -> None:
    session = makers.make_session(annotator=ben, state="submitted", revisions=[(60_000, "- Mine [1]")])
    after = reverse("annotation:session-after", args=[session.uid])
    assert page_of(as_ben, session, "session-practised").headers["Location"] == after


@pytest.mark.parametrize("is_by_its_page", [True, False])
def test_practice_leads_back_to_the_writing_that_it_was_for(
    is_by_its_page: bool, ben, as_ben, now: datetime
) -> None:
    """Not to what is due first."""
    makers.make_haystack(key="practice", title="Practice", is_practice=True)
    make_points_study(annotators=[ben], due_at=now + timedelta(hours=1))
    study = makers.make_writing_study(
        haystack=makers.make_haystack(), annotators=[ben], allow_second_on_haystack=True
    )
    first, second = [
        makers.make_assignment(study=study, annotator=ben, subtopic=each)
        for each in study.writing_plan.subtopics.all()
    ]
    makers.give_consent(ben)
    if is_by_its_page:
        page = as_ben.get(reverse("annotation:session-start", args=[second.uid])).text
        form = page[page.index(reverse("annotation:practice")) :]
        led_here = {"for": re.search(r'name="for" value="(.*?)"', form)[1]}
    else:
        led_here = {}
    as_ben.post(reverse("annotation:practice"), led_here)
    practice = annotator_of(ben).assignments.get(is_practice=True)
    session = makers.make_session(assignment=practice, state="submitted", revisions=[(60_000, "- Gulls. [5]")])
    Assignment.objects.filter(pk=practice.pk).update(state="done")
    shown = makers.flat(page_of(as_ben, session, "session-practised").text)
    task = second if is_by_its_page else first
    assert f'href="{reverse("annotation:session-start", args=[task.uid])}">Go on to your task' in shown


def test_who_practises_again_gets_another_subtopic(ben, login, now: datetime) -> None:
    makers.make_haystack(key="practice", title="Practice", is_practice=True)
    first = assigning.practice_assignment(annotator=makers.annotator_of(ben), now=now)
    Assignment.objects.update(state="done")
    second = assigning.practice_assignment(annotator=makers.annotator_of(ben), now=now)
    assert first.subtopic != second.subtopic
