"""What all kinds of label work share at their endpoints: undo across items, what was stored, the last answers."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.labelling.task_page import page_of
from annotation.models import CoverageLabel, EntailmentLabel, LabelTask, PointLabel, RatingLabel, Study
from annotation.work.views import SHOWN, last_answers
from tests.annotation.points import POINTS, make_points_question, make_points_study
from tests.annotation.tried import KINDS, MAKERS
from tests.makers import annotator_of, label_task, label_url

JSON = {"Accept": "application/json"}
MODELS: dict[str, Any] = {
    "linking": CoverageLabel,
    "verification": PointLabel,
    "validation": EntailmentLabel,
    "rating": RatingLabel,
}


class Desk:
    """One person at the tasks of one study, with two answers of each kind."""

    def __init__(self, kind: str, study: Study, person, client: Client) -> None:
        self.kind, self.study, self.person, self.client = kind, study, person, client

    def task(self, position: int) -> LabelTask:
        return label_task(self.study, self.person, position=position)

    def url(self, name: str, position: int) -> str:
        return label_url(f"label-{name}", self.task(position))

    def fields(self, position: int, word: str) -> dict[str, str]:
        if self.kind == "verification":
            return {"grounded": word}
        if self.kind == "validation":
            return {"answer": word}
        if self.kind == "rating":
            return {"overall": {"yes": "4", "no": "2"}.get(word, "")}
        insight = self.task(position).item.summary.subtopic.insights.order_by("number")[0]
        return {"question": str(insight.uid), "coverage": {"yes": "partial", "no": "none"}.get(word, "")}

    def answer(self, position: int, word: str, **more: str):
        return self.client.post(self.url("choice", position), self.fields(position, word) | more, headers=JSON)

    def undo(self, position: int, op_id: str = "", **more: str) -> dict[str, Any]:
        told = self.client.post(self.url("undo", position), {"op_id": op_id, **more}, headers=JSON)
        assert told.status_code == 200
        return told.json()

    def skip(self, position: int, reason: str = "I cannot judge it") -> None:
        assert self.client.post(self.url("skip", position), {"reason": reason}, headers=JSON).status_code == 200

    def current(self, position: int) -> str:
        """What holds, in words: what was stored last, empty for a cleared answer or none."""
        row = MODELS[self.kind].objects.filter(task=self.task(position), is_current=True).first()
        if self.kind == "rating":
            return f"overall {row.ratings['overall']}" if row and row.ratings["overall"] else ""
        names = {"linking": "coverage", "verification": "grounded", "validation": "answer"}
        return getattr(row, names[self.kind]) if row else ""


@pytest.fixture
def desk(ben, as_ben) -> Callable[[str], Desk]:
    return lambda kind: Desk(kind, MAKERS[kind](ben), ben, as_ben)


@pytest.mark.parametrize("kind", KINDS)
def test_undo_walks_back_through_the_answers_of_all_items_in_order_of_time(
    kind: str, desk: Callable[[str], Desk]
) -> None:
    at = desk(kind)
    at.answer(2, "no", op_id="a")
    at.answer(1, "no", op_id="b")
    at.answer(2, "yes", op_id="c")
    words = {position: at.current(position) for position in (1, 2)}
    first = at.undo(3, "u1")
    assert (first["task"], first["next"].split("#")[0]) == (str(at.task(2).uid), at.url("task", 2))
    assert first["message"].startswith("Undone: ")
    where = ", insight 1" if kind == "linking" else ""
    assert f"on item 2{where}; it is now {words[1]}" in first["message"]
    assert (at.current(1), at.current(2)) == (words[1], words[1])
    second = at.undo(2, "u2")
    assert (second["task"], second["message"]) == (str(at.task(1).uid), f"Undone: {words[1]} on item 1{where}.")
    assert at.current(1) == ""
    assert at.task(1).state == LabelTask.State.BEGUN
    assert at.undo(1, "u3")["task"] == str(at.task(2).uid)
    assert (at.current(1), at.current(2)) == ("", "")
    assert at.undo(1, "u4") == {"nothing": True}
    # Nothing was edited: three answers, and a row for each undo
    rows = MODELS[kind].objects.order_by("pk")
    assert [row.op_id for row in rows] == ["a", "b", "c", "u1", "u2", "u3"]
    assert [row.undoes.op_id if row.undoes else "" for row in rows] == ["", "", "", "c", "b", "a"]
    # An undo that is delivered twice or after a reload takes back one answer
    at.answer(1, "no")
    at.answer(2, "no")
    assert at.undo(3, "same")["message"] == at.undo(3, "same")["message"]
    assert at.current(1) != "" == at.current(2)
    at.answer(1, "no")
    assert at.undo(2, "late", here="1") == {"nothing": True}
    assert at.undo(1, "later", here="1")["task"] == str(at.task(1).uid)


def test_undo_leaves_other_people_and_other_studies_alone(ben, cleo, as_cleo, login) -> None:
    study = make_points_study(annotators=[ben, cleo])
    another = make_points_study(annotators=[ben], name="Another", questions=[make_points_question(key="q2")])
    own, hers, later = (
        Desk("verification", study, ben, login(ben)),
        Desk("verification", study, cleo, as_cleo),
        Desk("verification", another, ben, login(ben)),
    )
    for desk in (own, hers, later):
        desk.answer(1, "no")
    assert own.undo(2, "u")["task"] == str(own.task(1).uid)
    assert own.undo(2, "v") == {"nothing": True}
    assert (hers.current(1), later.current(1)) == ("no", "no")


def test_undo_without_scripts_goes_to_the_item_and_says_what_it_did(desk: Callable[[str], Desk]) -> None:
    at = desk("verification")
    at.answer(1, "no")
    response = at.client.post(at.url("undo", 2), follow=True)
    assert response.redirect_chain[-1][0] == at.url("task", 1)
    assert "Undone: no on item 1." in response.text
    response = at.client.post(at.url("undo", 2), follow=True)
    assert "Nothing to undo." in response.text
    at.skip(1)
    response = at.client.post(at.url("undo", 2), follow=True)
    assert response.redirect_chain[-1][0] == at.url("task", 1)
    assert "Undone: skip on item 1." in response.text


@pytest.mark.parametrize("kind", KINDS)
def test_undo_takes_back_a_skip_where_that_is_the_last_act(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    at.answer(1, "no")
    at.skip(2)
    at.answer(3, "yes")
    words = at.current(1)
    at.undo(3, "u1")
    told = at.undo(3, "u2")
    assert (told["message"], told["task"]) == ("Undone: skip on item 2.", str(at.task(2).uid))
    assert (told["next"], told["state"], told["is_skip"]) == (at.url("task", 2), "begun", True)
    assert (at.task(2).state, at.task(2).skip_reason, at.current(1)) == ("begun", "", words)
    assert at.undo(2, "u3")["task"] == str(at.task(1).uid)
    assert at.undo(1, "u4") == {"nothing": True}


def test_the_undo_of_a_skip_keeps_what_was_answered_there(desk: Callable[[str], Desk]) -> None:
    at = desk("linking")
    at.answer(1, "no")
    at.skip(1)
    assert at.undo(1)["message"] == "Undone: skip on item 1."
    assert (at.task(1).state, at.task(1).n_answered, at.current(1)) == ("begun", 1, "none")
    assert at.undo(1)["message"] == "Undone: none on item 1, insight 1."


@pytest.mark.parametrize("here", [{}, {"here": "1"}])
def test_the_undo_of_a_skip_that_is_delivered_twice_takes_back_nothing_else(
    desk: Callable[[str], Desk], here: dict[str, str]
) -> None:
    at = desk("verification")
    at.answer(3, "no")
    at.skip(1)
    at.skip(2)
    assert at.undo(3, "same")["message"] == at.undo(3, "same", **here)["message"] == "Undone: skip on item 2."
    assert (at.task(1).state, at.current(3)) == ("skipped", "no")


@pytest.mark.every_database
def test_the_undo_of_an_answer_that_is_delivered_twice_or_after_a_reload_takes_back_no_skip(
    desk: Callable[[str], Desk],
) -> None:
    at = desk("verification")
    at.skip(2)
    at.answer(1, "no")
    assert at.undo(3, "same")["message"] == at.undo(3, "same")["message"] == "Undone: no on item 1."
    assert at.task(2).state == "skipped"
    assert at.undo(1, "late", here="1") == {"nothing": True}
    assert at.undo(2, "later", here="1")["message"] == "Undone: skip on item 2."
    at.skip(2)
    at.answer(2, "no")
    assert at.undo(1)["message"] == "Undone: no on item 2."
    assert at.undo(1) == {"nothing": True}
    assert at.task(2).state == "begun"


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_says_whether_it_changed_anything(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    assert "unchanged" not in at.answer(1, "no").json()
    assert at.answer(1, "no").json()["unchanged"] is True
    assert MODELS[kind].objects.count() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_answer_to_this_task_is_refused_with_words(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    told = at.answer(1, "", unsure="1")
    assert (told.status_code, told.json()["code"]) == (409, "answer_first")
    assert "Answer first" in told.json()["message"]
    assert not MODELS[kind].objects.exists()
    page = at.client.get(at.url("task", 1)).text
    assert f'name="task" value="{at.task(1).uid}"' in page
    told = at.answer(1, "no", task=str(at.task(2).uid))
    assert (told.status_code, told.json()["code"]) == (409, "other_task")
    assert not MODELS[kind].objects.exists()
    assert at.answer(1, "no", task=str(at.task(1).uid)).status_code == 200


def test_a_skip_names_a_reason_and_a_flag_leaves_the_comment_of_another_tab_alone(
    desk: Callable[[str], Desk],
) -> None:
    at = desk("verification")
    skip = reverse("annotation:label-skip", args=[at.task(1).uid])
    at.client.post(skip, {"reason": "I cannot judge it", "other": ""})
    assert at.task(1).skip_reason == "I cannot judge it"
    at.client.post(skip, {"reason": "", "other": "torn page"})
    assert at.task(1).skip_reason == "torn page"
    remark = at.url("remark", 1)
    at.client.post(remark, {"comment": " odd "}, headers=JSON)
    assert at.client.post(remark, {"flag": "1"}, headers=JSON).json()["is_flagged"] is True
    assert (at.task(1).is_flagged, at.task(1).comment) == (True, "odd")
    at.client.post(remark, {"comment": ""}, headers=JSON)
    assert (at.task(1).is_flagged, at.task(1).comment) == (True, "")
    at.client.post(remark, {"flag": "0", "comment": "both"}, headers=JSON)
    assert (at.task(1).is_flagged, at.task(1).comment) == (False, "both")


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
    page = at.client.get(reverse("annotation:last-answers")).text
    [listed] = last_answers(annotator_of(at.person), back="answers")
    assert listed.url in page
    assert "Open or change" in page


def test_the_newest_come_first_and_no_more_than_twenty(ben, as_ben) -> None:
    questions = [make_points_question(key=f"q{n}") for n in range(8)]
    study = make_points_study(annotators=[ben], questions=questions)
    at = Desk("verification", study, ben, as_ben)
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


def test_answers_of_a_closed_study_are_there_to_read(desk: Callable[[str], Desk], cleo, as_cleo) -> None:
    at = desk("verification")
    at.answer(1, "no")
    Study.objects.update(state="closed")
    [answer] = last_answers(annotator_of(at.person))
    assert not answer.can_be_changed
    assert at.client.get(answer.url).status_code == 200
    assert last_answers(annotator_of(cleo)) == []
    assert "Nothing yet" in as_cleo.get(reverse("annotation:last-answers")).text


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_answer_leads_back_to_where_one_was(kind: str, desk: Callable[[str], Desk]) -> None:
    at = desk(kind)
    at.answer(1, "no")
    listing, here = reverse("annotation:last-answers"), at.task(2)
    left = page_of(kind, here.uid)
    assert f"{listing}?from={here.uid}" in at.client.get(left).text
    for start, back in ((f"{listing}?from={here.uid}", left), (listing, listing), (f"{listing}?from=x", listing)):
        shown = at.client.get(start).text
        assert (f'class="button" href="{left}"' in shown) is (back == left)
        [item] = re.findall(f'href="({page_of(kind, at.task(1).uid)}[^"]*)"', shown)
        context = at.client.get(item).context
        config = json.loads(context["config_json"])
        assert (context["onward_url"], config["urls"]["end"], config["onward"]) == (back, back, [])


def test_an_item_leads_back_to_no_task_of_others_and_to_no_other_site(
    cleo, login, desk: Callable[[str], Desk]
) -> None:
    at = desk("verification")
    theirs = make_points_study(annotators=[cleo], name="Theirs", questions=[make_points_question(key="theirs")])
    for name in (str(label_task(theirs, cleo).uid), "https://example.org/", "//example.org", ""):
        assert at.client.get(page_of("verification", at.task(1).uid, back=name)).context["back_url"] == ""
