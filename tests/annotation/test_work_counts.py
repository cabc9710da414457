"""Tasks are counted alike on the home page and on My work; what cannot be opened is named and not counted."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.studies.exposures import record_exposure
from tests.annotation.points import make_points_question, make_points_study
from tests.makers import (
    label_task,
    label_url,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_session,
    make_writing_study,
)


def shown(client: Client, name: str) -> str:
    return client.get(reverse(name)).content.decode()


def test_home_and_my_work_count_the_same_tasks_without_practice(ben: Any, login: Any) -> None:
    client = login(ben)
    make_points_study(annotators=[ben])  # three key points, one task
    writing = make_writing_study(annotators=[ben], haystack=make_haystack(key="one"))
    make_assignment(annotator=ben, study=writing)
    make_session(assignment=make_assignment(annotator=ben, is_practice=True, state="done"), state="submitted")
    home, work = shown(client, "home"), shown(client, "annotation:work")
    counts = dict(re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", home))
    assert counts == {"To do": "2", "Begun of these": "0", "Done": "0"}
    assert 'To do <span class="muted">(2)</span>' in work
    assert work.count('<li class="card task') == 2
    assert not re.search(r"What I have handed in</a> <span", work)


def test_a_barred_task_is_neither_counted_nor_offered_nor_priced(ben: Any, login: Any, now: datetime) -> None:
    client, task = login(ben), make_assignment(annotator=ben)
    record_exposure(user=ben, haystack=task.haystack, reason="linking", now=now)
    work = shown(client, "annotation:work")
    assert "No longer open to you" in work
    assert 'To do <span class="muted">(0)</span>' in work
    assert "at most 50.00" not in work
    assert "USD" not in work
    assert ">Open<" not in work
    assert "<dt>To do</dt><dd>0</dd>" in shown(client, "home")


def test_work_handed_in_stands_under_the_name_of_its_kind(ben: Any, login: Any) -> None:
    client = login(ben)
    points = make_points_study(annotators=[ben])
    links = make_linking_study(annotators=[ben])
    point, link = label_task(points, ben), label_task(links, ben)
    client.post(label_url("label-choice", point), {"grounded": "no"})
    done = shown(client, "annotation:own-work")
    assert "Key points verified" in done
    assert "Insights found in summaries" not in done
    insight = link.item.summary.subtopic.insights.first().uid
    client.post(label_url("label-choice", link), {"question": insight, "coverage": "none"})
    done = shown(client, "annotation:own-work")
    assert (
        done.index("Insights found in summaries") < done.index("Ferry links") < done.index("Key points verified")
    )


def test_a_begun_task_offers_no_form_to_withdraw_it(ben: Any, ada: Any, login: Any) -> None:
    study = make_writing_study(annotators=[ben], researcher=ada)
    waiting = make_assignment(annotator=ben, study=study)
    url = reverse("annotation:assignment-withdraw", args=[waiting.uid])
    assert 'class="danger"' in login(ada).get(url).content.decode()
    type(waiting).objects.update(state="started")
    page = login(ada).get(url).content.decode()
    assert "can&#x27;t be withdrawn" in page or "can't be withdrawn" in page
    assert 'class="danger"' not in page


def test_the_list_of_numbers_says_that_there_are_more(ben: Any, login: Any) -> None:
    question = make_points_question(points=[f"Point {k}" for k in range(40)], quotes=["none of it"] * 40)
    study = make_points_study(annotators=[ben], questions=[question])

    def numbers(position: int) -> str:
        url = label_url("label-task", label_task(study, ben, position=position))
        listed = re.search(r'<ol class="task-numbers">(.*?)</ol>', login(ben).get(url).content.decode(), re.DOTALL)
        assert listed
        return " ".join(re.findall(r">(\d+|…)<", listed[1]))

    assert numbers(18) == " ".join(["1", "…", *map(str, range(3, 34)), "…", "40"])
    assert numbers(2) == " ".join([*map(str, range(1, 18)), "…", "40"])
    assert numbers(40) == " ".join(["1", "…", *map(str, range(25, 41))])
