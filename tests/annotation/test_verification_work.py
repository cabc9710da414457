"""The page of a key point: who sees what, blind work, forms without scripts, marks, texts as text, its budget."""

import gzip
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import LabelItem, LabelTask, PointLabel, Study
from benchmarks.models import KeyPoint, Question
from tests.annotation.points import POINTS, add_span, make_points_question, make_points_study
from tests.makers import annotator_of, flat, label_task
from tests.makers import label_url as url

JSON = {"Accept": "application/json"}
MARK = re.compile(r"<mark[^>]*>(.*?)</mark\s*>", re.DOTALL)


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    return make_points_study(annotators=[ben, cleo], researcher=ada)


def choose(client: Client, task: LabelTask, **data: str):
    return client.post(url("label-choice", task), data, headers=JSON)


def shown(client: Client, task: LabelTask) -> str:
    return client.get(url("label-task", task)).text


def test_the_page_shows_question_documents_point_and_nothing_else(
    study: Study, ben, as_ben, cleo, as_cleo
) -> None:
    choose(as_cleo, label_task(study, cleo), grounded="yes", keyness="neutral")
    task = label_task(study, ben)
    html = shown(as_ben, task)
    assert "When does the ferry leave" in html
    assert POINTS[0] in html
    assert POINTS[1] not in html
    assert "factual" in html
    assert "Tickets cost four euros." in html
    assert "The new pier opens in the spring of 2031." in html
    assert MARK.findall(html) == ["Boats leave at six in the morning"]
    assert "can be wrong" in html
    assert "mailto:study@example.org" in html
    point = task.item.key_point
    for clue in ("0.375", "autods", "Cleo", "cleo", "checked> yes", str(point.uid), f'"{point.key}"', "q1-k1"):
        assert clue not in html
    assert not re.search(r'name="(grounded|keyness)"[^>]*checked', html)


def test_only_the_persons_own_tasks_open(study: Study, as_ada, ben, as_ben, dot, login) -> None:
    task, client = label_task(study, ben), Client()
    page = url("label-task", task)
    assert login(dot).get(page).status_code == 404
    assert as_ada.get(page).status_code == 403
    assert client.get(page).status_code == 302
    for name in ("label-choice", "label-undo"):
        assert login(dot).post(url(name, task), {"grounded": "no"}, headers=JSON).status_code == 404
        assert client.post(url(name, task), headers=JSON).status_code == 401
        assert as_ben.get(url(name, task)).status_code == 405
    assert not PointLabel.objects.exists()


def test_tasks_of_other_kinds_of_work_do_not_open_on_each_others_pages(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    assert as_ben.get(url("label-task", task, kind="linking")).status_code == 404
    insight = {"question": "5eed0000-0000-4000-8000-000000000000", "coverage": "none"}
    assert as_ben.post(url("label-choice", task, kind="linking"), insight, headers=JSON).status_code == 409


def test_consent_comes_before_the_first_task(study: Study, ben, as_ben) -> None:
    annotator_of(ben).consents.all().delete()
    answer = as_ben.get(url("label-task", label_task(study, ben)))
    assert answer.headers["Location"] == reverse("annotation:consent")


def test_a_choice_answers_with_how_things_stand(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    told = choose(as_ben, task, grounded="yes", unsure="1", op_id="a", guideline="1").json()
    assert told == {
        "grounded": "yes",
        "keyness": "",
        "is_unsure": True,
        "is_complete": False,
        "state": "begun",
        "n_answered": 0,
        "n_questions": 1,
        "revision": 1,
    }
    told = choose(as_ben, task, grounded="yes", keyness="disagree", op_id="b").json()
    assert (told["keyness"], told["state"]) == ("disagree", "done")
    undone = as_ben.post(url("label-undo", task), {"op_id": "c"}, headers=JSON).json()
    assert (undone["keyness"], undone["is_unsure"], undone["state"]) == ("", True, "begun")
    as_ben.post(url("label-undo", task), {"op_id": "d"}, headers=JSON)
    assert as_ben.post(url("label-undo", task), {"op_id": "e"}, headers=JSON).json() == {"nothing": True}


def test_plain_forms_work_without_scripts(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    assert " disabled data-second" in shown(as_ben, task)
    answer = as_ben.post(url("label-choice", task), {"grounded": "yes", "guideline": "1"})
    assert answer.headers["Location"] == url("label-task", task)
    html = shown(as_ben, task)
    assert 'value="yes" checked' in html
    assert " disabled data-second" not in html
    as_ben.post(url("label-choice", task), {"grounded": "yes", "keyness": "agree"})
    assert PointLabel.objects.get(task=task, is_current=True).is_complete
    assert 'href="' + url("label-task", label_task(study, ben, position=2)) in html
    as_ben.post(url("label-undo", task))
    assert PointLabel.objects.get(task=task, is_current=True).keyness == ""
    skipped = as_ben.post(url("label-skip", task), {"reason": "no sense in it"})
    assert skipped.headers["Location"] == url("label-task", label_task(study, ben, position=2))


def test_one_comes_back_to_where_one_was(study: Study, ben, as_ben) -> None:
    go = reverse("annotation:label-go", args=[study.uid])
    assert as_ben.get(go).headers["Location"] == url("label-task", label_task(study, ben))
    second = label_task(study, ben, position=2)
    choose(as_ben, second, grounded="yes")
    assert as_ben.get(go).headers["Location"] == url("label-task", second)
    assert 'value="yes" checked' in shown(as_ben, second)
    choose(as_ben, second, grounded="yes", keyness="agree")
    assert as_ben.get(go).headers["Location"] == url("label-task", label_task(study, ben, position=3))


def test_the_last_open_one_leads_to_the_end(study: Study, ben, as_ben) -> None:
    for position in (1, 3):
        choose(as_ben, label_task(study, ben, position=position), grounded="no")
    last = label_task(study, ben, position=2)
    assert '?after=2" data-onward' in shown(as_ben, last)
    choose(as_ben, last, grounded="no")
    onward = as_ben.get(reverse("annotation:label-go", args=[study.uid]), {"after": 2})
    assert onward.headers["Location"] == reverse("annotation:label-finished", args=[study.uid])
    assert url("label-task", last) in as_ben.get(onward.headers["Location"]).text


def test_a_passage_that_was_not_found_is_told_with_its_quote(study: Study, ben, as_ben) -> None:
    html = shown(as_ben, label_task(study, ben, position=3))
    assert "no such words" in html
    assert "so it is not highlighted" in html
    assert not MARK.findall(html)


def test_without_a_highlight_nothing_is_marked_nor_quoted(study: Study, ben, as_ben) -> None:
    LabelItem.objects.update(highlight_of=None)
    html = shown(as_ben, label_task(study, ben))
    assert "Nothing is highlighted" in html
    assert not MARK.findall(html)
    assert "tab-spans" not in html


def test_several_passages_in_several_documents_are_marked_and_counted(study: Study, ben, as_ben) -> None:
    question = Question.objects.get()
    point, documents = KeyPoint.objects.get(number=1), list(question.documents.order_by("number"))
    add_span(point, "at six in the morning, every day", documents, number=2)
    add_span(point, "spring of 2031", documents, number=3)
    add_span(point, "Boats leave", documents, number=4)
    html = shown(as_ben, label_task(study, ben))
    assert MARK.findall(html) == [
        "Boats leave",
        " ",
        "at six in the morning",
        ", every day",
        "spring of 2031",
    ]
    for number in range(1, 5):
        assert html.count(f'id="span-{number}"') == 1
        assert html.count(f'href="#span-{number}"') == 1
    assert re.findall(r'class="tab-spans"[^>]*>(\d)', html) == ["3", "1"]


def test_an_attention_check_looks_like_any_other_item(study: Study, ben, as_ben) -> None:
    elsewhere = make_points_question(key="q2", points=["Bees dance."], quotes=["not here"], texts=["Of bees."])
    item = LabelItem.objects.get(key_point__number=2)
    task = label_task(study, ben, position=2)

    def plain(text: str) -> str:
        text = re.sub(r'csrfmiddlewaretoken" value="\w+"|"x-csrftoken": "\w+"', "", text)
        return re.sub(r"\s+", " ", text)

    before = plain(shown(as_ben, task))
    LabelItem.objects.filter(pk=item.pk).update(
        role=LabelItem.Role.GOLD, is_overlap=True, key_point=elsewhere.key_points.get()
    )
    assert plain(shown(as_ben, task)) == before.replace(POINTS[1], "Bees dance.")
    assert "check" not in str(choose(as_ben, task, grounded="no").json()).replace("is_check", "")
    assert PointLabel.objects.get().is_check


def test_texts_are_text_and_never_markup(ben, as_ben) -> None:
    evil = "<script>alert(1)</script><!--pane-->&amp;\"'{{ x }}"
    question = make_points_question(
        key="evil", text=evil, texts=[f"{evil} and more", evil], points=[evil], quotes=[evil[:20]]
    )
    question.documents.update(title=evil)
    add_span(question.key_points.get(), evil + "!", [], number=2)
    html = shown(as_ben, label_task(make_points_study(annotators=[ben], questions=[question]), ben))
    assert "<script>alert" not in html
    assert html.count("&lt;!--pane--&gt;") >= 4
    assert MARK.findall(html) == ["&lt;script&gt;alert(1)&lt;/sc"]
    assert html.count('<div class="reading"') == 2


@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("ar", "rtl"), ("xx-unknown", "auto")])
def test_language_and_direction_are_told(ben, as_ben, language: str, direction: str) -> None:
    question = make_points_question(language=language)
    html = shown(as_ben, label_task(make_points_study(annotators=[ben], questions=[question]), ben))
    told = [
        f'<{part} translate="no" lang="{language}" dir="{direction}"'
        for part in ("h1", 'p class="point"', 'div class="reading"')
    ]
    assert [flat(html).count(opening) for opening in told] == [1, 1, 2]


def test_a_kept_document_is_the_same_as_a_new_one(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    first = re.findall(r"<article.*?</article>", shown(as_ben, task), re.DOTALL)
    assert re.findall(r"<article.*?</article>", shown(as_ben, task), re.DOTALL) == first
    packed = as_ben.get(url("label-task", task), headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert re.findall(r"<article.*?</article>", gzip.decompress(packed.content).decode(), re.DOTALL) == first


def test_the_page_takes_as_many_queries_however_much_there_is(ben, cleo, login) -> None:
    few = make_points_study(annotators=[ben], questions=[make_points_question()])
    many = make_points_study(
        annotators=[cleo],
        name="Many",
        questions=[
            make_points_question(
                key=f"m{n}",
                texts=["A text."] * 5,
                points=[f"Point {k}" for k in range(12)],
                quotes=["A text"] * 12,
            )
            for n in range(9)
        ],
    )

    def queries(user, study: Study, position: int) -> int:
        client, task = login(user), label_task(study, user, position=position)
        choose(client, task, grounded="yes")
        client.get(url("label-task", task))
        with CaptureQueriesContext(connection) as caught:
            assert client.get(url("label-task", task)).status_code == 200
        return len(caught)

    assert queries(cleo, many, 50) == queries(ben, few, 2) <= 19


def test_the_task_list_tells_what_is_left_and_how_long_it_takes(study: Study, ben, as_ben) -> None:
    html = as_ben.get(reverse("annotation:work")).text
    assert "Verify key points in documents" in html
    assert "3 key points left, about 3 min" in html
    choose(as_ben, label_task(study, ben), grounded="no")
    assert "2 key points left, about 2 min" in as_ben.get(reverse("annotation:work")).text
    LabelTask.objects.filter(state="done").update(active_ms=60_000)
    assert "1 key point done" in as_ben.get(reverse("annotation:earnings")).text


def test_ones_own_pace_counts_once_it_is_known(ben, as_ben) -> None:
    question = make_points_question(points=[f"Point {k}" for k in range(8)], quotes=["none of it"] * 8)
    study = make_points_study(annotators=[ben], questions=[question])
    for position in range(1, 6):
        choose(as_ben, label_task(study, ben, position=position), grounded="no")
    LabelTask.objects.filter(state="done").update(active_ms=180_000)
    assert "3 key points left, about 9 min" in as_ben.get(reverse("annotation:work")).text
