"""Linking pages: who sees what, blind work, forms without scripts, the way through a study, and researchers."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.linking.answers import bullets_of
from annotation.models import CoverageLabel, Exposure, LabelTask, Study
from tests.makers import (
    annotator_of,
    label_task,
    make_assignment,
    make_haystack,
    make_linking_study,
    make_summary,
    make_writing_study,
)
from tests.makers import label_url as url
from tests.queries import cost_of

JSON = {"Accept": "application/json"}


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    return make_linking_study(annotators=[ben, cleo], researcher=ada, people_per_item=2)


def choose(client: Client, task: LabelTask, coverage: str, line: int | None = None, at: int = 0, **more):
    insight = task.item.summary.subtopic.insights.order_by("number")[at]
    data = {"question": insight.uid, "coverage": coverage, **({} if line is None else {"line": line}), **more}
    return client.post(url("label-choice", task), data, headers=JSON)


def test_the_page_shows_insights_and_bullets_and_nothing_else(
    study: Study, ada, ben, as_ben, cleo, as_cleo
) -> None:
    task = label_task(study, ben)
    choose(as_cleo, label_task(study, cleo), "full", 3)
    html = as_ben.get(url("label-task", task)).text
    for insight in task.item.summary.subtopic.insights.all():
        assert insight.text in html
    assert "Boats leave at six." in html
    assert "Here is what the reports say:" in html
    assert 'data-key="c"' in html
    assert 'data-key="d"' not in html
    for clue in ("model-a", "model-b", "[1, 2]", "**", "Cleo", "cleo", 'value="full" checked'):
        assert clue not in html
    assert str(task.item.summary.uid) not in html


def test_opening_a_task_bars_from_writing_on_the_haystack(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    assert not Exposure.objects.filter(user=ben).exists()
    as_ben.get(url("label-task", task))
    seen = Exposure.objects.get(user=ben)
    assert (seen.reason, seen.haystack) == ("linking", task.item.summary.haystack)


def test_who_still_has_to_write_on_the_haystack_is_shown_nothing(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    writing = make_writing_study(haystack=task.item.summary.haystack, annotators=[ben])
    make_assignment(study=writing, annotator=ben)
    answer = as_ben.get(url("label-task", task))
    assert answer.status_code == 409
    assert task.item.summary.subtopic.insights.first().text not in answer.text
    assert not Exposure.objects.filter(user=ben).exists()


def test_tasks_of_a_study_that_is_not_open_are_not_there(study: Study, ben, as_ben) -> None:
    task, begun = label_task(study, ben), label_task(study, ben, position=2)
    choose(as_ben, begun, "none")
    Study.objects.update(state="closed")
    assert as_ben.get(url("label-task", task)).status_code == 404
    shown = as_ben.get(url("label-task", begun)).text
    assert "read only" in shown
    assert "<fieldset disabled>" in shown
    assert choose(as_ben, begun, "full", 3).status_code == 409
    own = as_ben.get(reverse("annotation:own-work")).text
    finished = reverse("annotation:label-finished", args=[study.uid])
    assert finished in own
    text = as_ben.get(finished).text
    assert "The study is closed" in text
    assert url("label-task", begun) in text
    assert url("label-task", task) not in text


def test_a_choice_answers_with_how_things_stand(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    told = choose(as_ben, task, "partial", 4, op_id="a", unsure="1", guideline="1").json()
    assert (told["coverage"], told["lines"], told["is_complete"], told["is_unsure"]) == (
        "partial",
        [4],
        True,
        True,
    )
    assert (told["state"], told["n_answered"]) == ("begun", 1)
    label = CoverageLabel.objects.get()
    assert (label.op_id, label.guideline and label.guideline.version) == ("a", 1)
    assert as_ben.post(url("label-undo", task), {"op_id": "b"}, headers=JSON).json()["coverage"] == ""
    assert as_ben.post(url("label-undo", task), {"op_id": "c"}, headers=JSON).json() == {"nothing": True}


@pytest.mark.parametrize("data", [{}, {"question": "x"}, {"line": "first"}, {"guideline": "new"}])
def test_what_the_page_never_sends_is_refused(study: Study, ben, as_ben, data: dict[str, str]) -> None:
    task = label_task(study, ben)
    insight = task.item.summary.subtopic.insights.first().uid
    answer = as_ben.post(
        url("label-choice", task),
        {"question": insight, "coverage": "none", **data} if data else {},
        headers=JSON,
    )
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_everything_works_as_plain_forms(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    insight = task.item.summary.subtopic.insights.order_by("number").first()
    answer = as_ben.post(url("label-choice", task), {"question": insight.uid, "coverage": "full", "line": "3"})
    assert answer.headers["Location"] == f"{url('label-task', task)}#q-{insight.uid}"
    as_ben.post(url("label-remark", task), {"flag": "1", "comment": "odd <b>"})
    page = as_ben.get(url("label-task", task)).text
    assert 'value="full" checked' in page
    assert "odd &lt;b&gt;" in page
    assert 'aria-pressed="true"' in page
    answer = as_ben.post(url("label-skip", task), {"reason": ""}, follow=True)
    assert "Give a reason for skipping" in answer.text
    answer = as_ben.post(url("label-skip", task), {"reason": "not English"})
    assert answer.headers["Location"] == url("label-task", label_task(study, ben, position=2))
    assert "Answer it to put it back" in as_ben.get(url("label-task", task)).text
    as_ben.post(url("label-skip", task), {"undo": "1"})
    as_ben.post(url("label-undo", task))
    task.refresh_from_db()
    assert (task.state, task.n_answered, task.is_flagged) == ("begun", 0, True)


def test_the_way_wraps_round_and_ends(study: Study, ben, as_ben) -> None:
    go = reverse("annotation:label-go", args=[study.uid])
    tasks = list(study.label_tasks.filter(annotator=annotator_of(ben)).order_by("position"))
    assert as_ben.get(go, {"n": "3"}).headers["Location"] == url("label-task", tasks[2])
    assert as_ben.get(go, {"n": "99"}).headers["Location"] == url("label-task", tasks[3])
    assert as_ben.get(go, {"n": "x"}).headers["Location"] == url("label-task", tasks[0])
    assert as_ben.get(go, {"after": "4"}).headers["Location"] == url("label-task", tasks[0])
    LabelTask.objects.exclude(pk=tasks[1].pk).update(state="skipped", skip_reason="no")
    assert as_ben.get(go, {"after": "2"}).headers["Location"] == url("label-task", tasks[1])
    LabelTask.objects.update(state="skipped", skip_reason="no")
    assert "Number 4" in as_ben.get(as_ben.get(go).headers["Location"]).text


def test_the_page_asks_no_more_with_more_tasks(ben, as_ben) -> None:
    haystack = make_haystack()
    summaries = [
        make_summary(subtopic=subtopic, system=f"model-{n}")
        for subtopic in haystack.subtopics.all()
        for n in range(20)
    ]
    study = make_linking_study(annotators=[ben], summaries=summaries)
    assert cost_of(as_ben, url("label-task", label_task(study, ben))) <= 19


def test_linking_stands_in_the_list_of_work_and_in_earnings(study: Study, ben, as_ben, dot, login) -> None:
    make_assignment(annotator=dot, is_practice=True)
    html = as_ben.get(reverse("annotation:work")).text
    assert "Ferry links" in html
    assert "Practise for five minutes" not in html
    assert "4 summaries left, about 16 min" in html
    assert html.count(reverse("annotation:label-go", args=[study.uid])) == 1
    LabelTask.objects.filter(annotator=annotator_of(ben)).update(active_ms=900_000)
    assert "25.00 USD" in as_ben.get(reverse("annotation:earnings")).text
    Study.objects.update(state="draft")
    assert "Ferry links" not in login(dot).get(reverse("annotation:work")).text


def test_letters_skip_the_keys_of_the_page_only_where_there_are_keys(ben, as_ben) -> None:
    text = "\n".join(f"- Ferry {n} leaves at {n}." for n in range(1, 8))
    summary = make_summary(subtopic=make_haystack().subtopics.get(number=1), text=text)
    shown = bullets_of(summary)
    assert "".join(bullet.key for bullet in shown) == "abcdegh"
    assert "".join(bullet.letter for bullet in shown) == "abcdefg"
    task = label_task(make_linking_study(annotators=[ben], summaries=[summary]), ben)
    page = as_ben.get(url("label-task", task)).text
    assert re.search(r'class="by-key">g</span><span\s+class="by-touch">f</span>', page)
    choose(as_ben, task, "full", line=6)
    undone = as_ben.post(url("label-undo", task), headers=JSON).json()
    assert "“Ferry 6 leaves at 6”" in undone["message"], "a letter would differ by device"
