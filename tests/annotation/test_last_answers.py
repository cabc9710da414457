"""One's last twenty answers, of every kind of label work: what was asked and answered, and where to change it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from annotation.labelling.position import page_of
from annotation.models import Study
from annotation.work.last_answers import SHOWN, last_answers
from tests.annotation.points import POINTS, make_points_question, make_points_study
from tests.annotation.test_label_acts import KINDS, Desk, desk
from tests.makers import annotator_of, label_task

__all__ = ["desk"]
WORDS = {"linking": "none", "verification": "no", "validation": "no", "rating": "overall 2"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_of_every_kind_is_listed_with_what_was_asked_and_leads_to_its_item(
    kind: str, desk: Callable[[str], Desk]
) -> None:
    at = desk(kind)
    at.answer(1, "no")
    [answer] = last_answers(annotator_of(at.person))
    assert (answer.study, answer.answer, answer.can_be_changed) == (at.study, WORDS[kind], True)
    assert answer.question.text
    assert answer.url.startswith(page_of(kind, at.task(1).uid))
    page = at.client.get(reverse("annotation:last-answers")).content.decode()
    [listed] = last_answers(annotator_of(at.person), back="answers")
    assert listed.url in page
    assert "Open or change" in page


def test_the_newest_come_first_and_no_more_than_twenty(ben: Any, login: Any) -> None:
    questions = [make_points_question(key=f"q{n}") for n in range(8)]
    study, client = make_points_study(annotators=[ben], questions=questions), login(ben)
    at = Desk("verification", study, ben, client)
    for position in range(1, 23):
        at.answer(position, "no")
    shown = last_answers(annotator_of(ben))
    assert len(shown) == SHOWN
    assert shown[0].url == page_of("verification", label_task(study, ben, position=22).uid)
    assert shown[0].question.text in POINTS


def test_what_was_taken_back_is_not_listed_and_a_change_counts_once(desk: Callable[[str], Desk]) -> None:
    at = desk("validation")
    at.answer(1, "no")
    at.answer(1, "yes")
    at.answer(2, "no")
    at.undo(2)
    assert [each.answer for each in last_answers(annotator_of(at.person))] == ["yes"]


def test_answers_of_a_closed_study_are_there_to_read(desk: Callable[[str], Desk]) -> None:
    at = desk("verification")
    at.answer(1, "no")
    Study.objects.update(state="closed")
    [answer] = last_answers(annotator_of(at.person))
    assert not answer.can_be_changed
    assert at.client.get(answer.url).status_code == 200


def test_nobody_reads_somebody_elses_answers(cleo: Any, login: Any, desk: Callable[[str], Desk]) -> None:
    desk("verification").answer(1, "no")
    assert last_answers(annotator_of(cleo)) == []
    assert "Nothing yet" in login(cleo).get(reverse("annotation:last-answers")).content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_answer_leads_back_to_where_one_was(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    at.answer(1, "no")
    listing, here = reverse("annotation:last-answers"), at.task(2)
    left = page_of(kind, here.uid)
    page = at.client.get(left).content.decode()
    assert f"{listing}?from={here.uid}" in page
    for start, back in ((f"{listing}?from={here.uid}", left), (listing, listing), (f"{listing}?from=x", listing)):
        shown = at.client.get(start).content.decode()
        assert (f'class="button" href="{left}"' in shown) is (back == left)
        [item] = re.findall(f'href="({page_of(kind, at.task(1).uid)}[^"]*)"', shown)
        context = at.client.get(item).context
        config = json.loads(context["config_json"])
        assert (context["onward_url"], config["urls"]["end"], config["onward"]) == (back, back, [])


def test_an_item_leads_back_to_no_task_of_others_and_to_no_other_site(
    cleo: Any, login: Any, desk: Callable[[str], Desk]
) -> None:
    at = desk("verification")
    theirs = make_points_study(annotators=[cleo], name="Theirs", questions=[make_points_question(key="theirs")])
    for name in (str(label_task(theirs, cleo).uid), "https://example.org/", "//example.org", ""):
        page = at.client.get(page_of("verification", at.task(1).uid, back=name))
        assert page.context["back_url"] == ""
