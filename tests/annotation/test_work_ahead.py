"""What a browser holds of the items to come, and what the server makes of answers that come late."""

import json
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client

from annotation.labelling.task_page import AHEAD
from annotation.models import Exposure, LabelTask, Study
from tests.annotation.points import make_points_question, make_points_study
from tests.annotation.rated import make_rating_study
from tests.annotation.test_linking_pages import JSON
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.makers import NOW, annotator_of, label_task, label_url, make_haystack, make_linking_study, make_summary

pytestmark = pytest.mark.django_db
N_ITEMS = 24
QUERIES = {"linking": 19, "verification": 20, "validation": 16, "rating": 21}
"""At most these, for a page; ten are held, and then one more is fetched for each item."""
ANSWERS = {
    "verification": {"grounded": "no"},
    "validation": {"answer": "no"},
    "rating": {"overall": "4", "informativeness": "4", "quality": "4", "coherence": "4", "attributability": "4"},
}


def summaries() -> list[Any]:
    return [
        make_summary(subtopic=subtopic, system=f"model-{n}")
        for subtopic in make_haystack().subtopics.order_by("number")
        for n in range(N_ITEMS // 2)
    ]


MAKERS: dict[str, Callable[[Any], Study]] = {
    "linking": lambda person: make_linking_study(annotators=[person], summaries=summaries()),
    "verification": lambda person: make_points_study(
        annotators=[person], questions=[make_points_question(key=f"q{n}") for n in range(N_ITEMS // 3)]
    ),
    "validation": lambda person: make_validation([person], make_judged(), n=N_ITEMS, people_per_item=1),
    "rating": lambda person: make_rating_study(annotators=[person], summaries=summaries(), people_per_item=1),
}


def config_of(client: Client, task: LabelTask) -> dict[str, Any]:
    """What the scripts of a page get."""
    html = client.get(label_url("label-task", task)).text
    return json.loads(unescape(html.partition('data-config="')[2].partition('"')[0]))


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_page_names_the_next_ten_open_items_each_in_few_queries_and_begins_none_of_them(
    kind: str, ben, as_ben, django_assert_max_num_queries
) -> None:
    study = MAKERS[kind](ben)
    tasks = list(study.label_tasks.filter(annotator=annotator_of(ben)).order_by("position"))
    study.label_tasks.filter(pk=tasks[16].pk).update(state="skipped", skip_reason="odd")
    ahead = config_of(as_ben, tasks[14])["onward"]
    expected = [*tasks[15:16], *tasks[17:], *tasks[:2]]
    assert [each["task"] for each in ahead] == [str(task.uid) for task in expected]
    assert len(ahead) == AHEAD
    as_ben.get(ahead[0]["url"])  # what is kept of texts is made at the first look
    for each in ahead:
        with django_assert_max_num_queries(QUERIES[kind]):
            assert as_ben.get(each["url"]).status_code == 200
    untouched = study.label_tasks.filter(state="todo", active_ms=0, last_seen_at=None, begun_at=None, revision=0)
    assert untouched.count() == N_ITEMS - 1
    if kind in {"linking", "rating"}:
        assert Exposure.objects.filter(user=ben).count() == 1, "what was delivered counts as seen"


def send(client: Client, task: LabelTask, **fields):
    kind = task.study.kind
    return client.post(label_url("label-choice", task), {**ANSWERS[kind], **fields}, headers=JSON)


@pytest.mark.parametrize("kind", sorted(ANSWERS))
def test_time_without_a_connection_counts_for_the_item_it_was_spent_on(kind: str, ben, as_ben) -> None:
    study = MAKERS[kind](ben)
    one, two, three = (label_task(study, ben, position=n) for n in (1, 2, 3))
    with time_machine.travel(NOW, tick=False) as clock:
        as_ben.post(label_url("label-seen", one), headers=JSON)
        clock.shift(timedelta(minutes=10))  # answered after 5 minutes, 6 and 9, and sent now
        minute = 60_000
        send(as_ben, one, ago=5 * minute, worked=4 * minute)
        send(as_ben, two, ago=4 * minute, worked=1 * minute)
        send(as_ben, three, ago=1 * minute, worked=99 * minute)
    spent = [label_task(study, ben, position=n).active_ms for n in (1, 2, 3)]
    assert spent == [4 * minute, 1 * minute, 3 * minute], "never more than has passed"
    assert label_task(study, ben, position=3).last_seen_at == NOW + timedelta(minutes=9)


def test_an_answer_of_before_the_last_contact_adds_no_time(ben, as_ben) -> None:
    task = label_task(MAKERS["validation"](ben), ben)
    with time_machine.travel(NOW, tick=False):
        as_ben.post(label_url("label-seen", task), headers=JSON)
        assert send(as_ben, task, ago=3_600_000, worked=3_600_000).status_code == 200
        assert send(as_ben, task, ago="soon").status_code == 400
    task.refresh_from_db()
    assert (task.active_ms, task.last_seen_at) == (0, NOW)


def test_a_page_can_ask_whether_it_is_out_of_date(ben, as_ben, dot, login) -> None:
    task = label_task(MAKERS["validation"](ben), ben, position=2)

    def near() -> dict[str, Any]:
        return as_ben.get(label_url("label-near", task), headers=JSON).json()

    def revision() -> int:
        [mine] = [each for each in near()["tasks"] if each["task"] == str(task.uid)]
        assert config_of(as_ben, task)["revision"] == mine["revision"]
        return int(mine["revision"])

    assert (revision(), near()["is_open"]) == (0, True)
    assert send(as_ben, task).json()["revision"] == revision() == 1
    assert send(as_ben, task, op_id="again").json()["revision"] == revision() == 1, (
        "the same answer changes nothing"
    )
    assert as_ben.post(label_url("label-undo", task), headers=JSON).json()["revision"] == revision() == 2
    as_ben.post(label_url("label-remark", task), {"comment": "odd"}, headers=JSON)
    as_ben.post(label_url("label-skip", task), {"reason": "odd"}, headers=JSON)
    assert revision() == 4
    assert [each["state"] for each in near()["tasks"]][:2] == ["todo", "skipped"]
    assert login(dot).get(label_url("label-near", task), headers=JSON).status_code == 404
