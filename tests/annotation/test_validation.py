"""People answer what a judge has answered, blind by default, and the judge is measured by them."""

import csv
import io
import json
import re
from collections import Counter
from html import unescape

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.labelling import recording
from annotation.labelling.handling import TaskRefused
from annotation.models import EntailmentLabel, LabelTask, Study, ValidationPlan
from annotation.studies import lifecycle
from annotation.studies.kind import work_of
from annotation.studies.lifecycle import Details
from annotation.validation import items
from annotation.validation.answers import PAIR, PairAnswer
from annotation.validation.items import NothingToValidate
from annotation.validation.results import as_json, results_of
from benchmarks.models import Judge, PointVerdict, Response, System
from tests.makers import NOW, annotator_of, flat, give_consent, label_url
from tests.makers_verification import make_questions
from tests.queries import cost_of
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
TEXT = "Pier one is old. 𝒜 crane <b>stands</b> on it, and boats land there."


def make_judged(
    *, n: int = 6, n_points: int = 4, systems: tuple[str, ...] = ("alpha", "beta"), name: str = "strict"
) -> Judge:
    """A judge that has answered on every key point of every response: yes, no, neutral, yes, no, neutral …"""
    judge = Judge.objects.create(name=name, kind="imported", config_sha256=name, created_at=NOW)
    answers = ("yes", "no", "neutral")
    at = 0
    for question in make_questions(n, n_points=n_points, dataset=f"set-{name}"):
        for key in systems:
            system, _ = System.objects.get_or_create(key=key, defaults={"summarizer": key})
            response = Response.objects.create(
                question=question, system=system, text=TEXT, text_sha256="x", n_words=12, created_at=NOW
            )
            for point in question.key_points.all():
                PointVerdict.objects.create(
                    judge=judge,
                    premise="response",
                    response=response,
                    key_point=point,
                    answer=answers[at % 3],
                    created_at=NOW,
                )
                at += 1
    return judge


def make(people, judge: Judge, *, n: int = 12, by=None, **plan) -> Study:
    study = items.create_study(
        details=Details(name=f"Validate {Study.objects.count()}"),
        plan=ValidationPlan(judge=judge, **plan),
        n=n,
        guidelines="Read.",
        annotators=[annotator_of(person) for person in people],
        by=by,
        now=NOW,
        seed=7,
    )
    for person in people:
        give_consent(annotator_of(person))
    return lifecycle.open_study(study=study, by=by, now=NOW)


def first(study: Study, person) -> LabelTask:
    return study.label_tasks.filter(annotator__user=person).order_by("position")[0]


def say(task: LabelTask, answer: str, *, op: str = "", **values):
    tasks = LabelTask.objects.filter(pk=task.pk)
    given = PairAnswer(answer, **values)
    return recording.record(kind=PAIR, tasks=tasks, answer=given, op_id=op or f"op-{answer}", now=NOW)


def test_a_sample_has_each_answer_in_its_share_and_goes_to_two_people_by_whole_responses(ben, cleo, dot) -> None:
    judge = make_judged()
    study = make([ben, cleo, dot], judge, n=24)
    drawn = Counter(
        PointVerdict.objects.get(judge=judge, response=item.response, key_point=item.key_point).answer
        for item in study.label_items.all()
    )
    assert drawn == {"yes": 8, "no": 8, "neutral": 8}
    assert set(Counter(study.label_tasks.values_list("item", flat=True)).values()) == {2}
    for person in (ben, cleo, dot):
        way = list(
            study.label_tasks.filter(annotator__user=person)
            .order_by("position")
            .values_list("item__response", flat=True)
        )
        blocks = [response for at, response in enumerate(way) if at == 0 or way[at - 1] != response]
        assert len(blocks) == len(set(blocks))
    assert work_of(study).gaps(study).n_short() == 0
    assert list(study.label_items.values_list("response", "key_point")) == list(
        make([ben], judge, n=24).label_items.values_list("response", "key_point")
    )


def test_more_verdicts_are_drawn_once_and_a_judge_without_any_makes_no_study(ben, cleo) -> None:
    study = make([ben, cleo], make_judged(n=2), n=10)
    assert items.add_pairs(study=study, n=100, by=None, now=NOW) == 6
    assert items.add_pairs(study=study, n=100, by=None, now=NOW) == 0
    work_of(study).deal(study=study, by=None, now=NOW)
    assert study.label_tasks.count() == 32
    nobody = Judge.objects.create(name="silent", kind="imported", config_sha256="s", created_at=NOW)
    with pytest.raises(NothingToValidate):
        make([ben], nobody)
    assert not Study.objects.filter(validation_plan__judge=nobody).exists()


@pytest.mark.parametrize(
    ("answer", "snippet"),
    [("perhaps", None), ("yes", (5, 5)), ("yes", (9, 4)), ("yes", (0, len(TEXT) + 1)), ("yes", (-1, 3))],
)
def test_what_is_no_answer_is_refused(ben, answer: str, snippet) -> None:
    task = first(make([ben], make_judged()), ben)
    with pytest.raises(TaskRefused):
        say(task, answer, snippet=snippet)
    assert not EntailmentLabel.objects.exists()


def test_the_database_takes_one_current_answer_and_ordered_passages(ben) -> None:
    say(first(make([ben], make_judged()), ben), "yes")
    row = EntailmentLabel.objects.get()
    for changes in ({"op_id": "other"}, {"is_current": False, "op_id": "b", "snippet_start": 4, "snippet_end": 4}):
        copy = EntailmentLabel.objects.get()
        copy.pk = None
        for name, value in changes.items():
            setattr(copy, name, value)
        with pytest.raises(IntegrityError), transaction.atomic():
            copy.save(force_insert=True)
    assert row.is_current


def test_the_page_is_blind_unless_the_study_shows_the_verdict(ben, as_ben, cleo) -> None:
    judge = make_judged(name="Judge Dread")
    study = make([ben, cleo], judge)
    for task in study.label_tasks.filter(annotator__user=ben):
        html = as_ben.get(label_url("label-task", task)).text
        assert "&lt;b&gt;stands&lt;/b&gt;" in html
        assert not [word for word in ("Dread", "alpha", "beta", "The judge answered") if word in html]
        answer = as_ben.post(
            label_url("label-choice", task),
            {"answer": "no"},
            headers={"Accept": "application/json"},
        )
        assert set(answer.json()) == {
            "answer",
            "snippet",
            "is_unsure",
            "why_not",
            "is_complete",
            "state",
            "n_answered",
            "n_questions",
            "revision",
        }
    shown = make([ben], judge, shows_verdict=True)
    task = first(shown, ben)
    html = as_ben.get(label_url("label-task", task)).text
    assert "The judge answered" in html
    say(task, "yes")
    assert EntailmentLabel.objects.get(task=task).verdict_shown
    assert results_of(shown).is_shown


def test_a_response_is_shown_as_the_markdown_it_is_and_keeps_its_places(ben, as_ben) -> None:
    task = first(make([ben], make_judged()), ben)
    text = "## Cranes\n- A **tall <b> crane** and 2 ** 3\n**open"
    Response.objects.filter(pk=task.item.response_id).update(text=text)
    start = text.index("crane**")
    as_ben.post(
        label_url("label-choice", task), {"answer": "yes", "start": start, "end": start + len("crane** and")}
    )
    page = as_ben.get(label_url("label-task", task)).text
    box = page.partition('<div class="response"')[2].partition(">")[2].partition("</div>")[0]
    assert unescape(strip_tags(box)) == text
    assert re.search(r"<strong\s*>Cranes</strong>", box)
    marked = "".join(re.findall(r"<mark\s+data-snippet>(.*?)</mark", box, re.DOTALL))
    assert strip_tags(marked) == "crane** and", "the passage goes on over the signs"
    assert "2 ** 3\n**open" in box


def test_choices_come_by_script_and_by_plain_form(ben, as_ben, as_cleo) -> None:
    task = first(make([ben], make_judged()), ben)
    url = label_url("label-choice", task)
    plain = as_ben.post(url, {"answer": "neutral", "start": "", "end": "", "unsure": "1"})
    assert plain.url == label_url("label-task", task)
    json_answer = {"Accept": "application/json"}
    told = as_ben.post(
        url, {"answer": "yes", "start": "17", "end": "24", "op_id": "a"}, headers=json_answer
    ).json()
    assert (told["snippet"], told["state"]) == ([17, 24], "done")
    page = flat(as_ben.get(label_url("label-task", task)).text)
    assert "<mark data-snippet>𝒜 crane</mark>" in page
    assert as_ben.post(url, {"answer": "yes", "start": "1"}, headers=json_answer).status_code == 400
    assert as_ben.post(url, {"answer": "yes", "start": "x", "end": "3"}, headers=json_answer).status_code == 400
    undone = as_ben.post(label_url("label-undo", task), headers=json_answer).json()
    assert (undone["answer"], undone["is_unsure"]) == ("neutral", True)
    cleared = as_ben.post(url, {"answer": "", "start": "0", "end": "3"}, headers=json_answer).json()
    assert (cleared["answer"], cleared["snippet"], cleared["state"]) == ("", None, "begun")
    assert as_cleo.get(label_url("label-task", task)).status_code == 404
    assert as_cleo.post(url, {"answer": "no"}, headers=json_answer).status_code == 404


def test_the_task_page_takes_the_same_queries_whatever_the_size(ben, as_ben) -> None:
    small, large = make([ben], make_judged(n=1)), make([ben], make_judged(n=12, name="wide"), n=90)
    few, many = (cost_of(as_ben, label_url("label-task", first(study, ben))) for study in (small, large))
    assert few == many <= 16


def test_figures_compare_the_judge_with_each_person_and_people_with_each_other(ada, ben, cleo) -> None:
    judge = make_judged()
    study = make([ben, cleo], judge, n=12, by=ada)
    for item in study.label_items.all():
        verdict = PointVerdict.objects.get(judge=judge, response=item.response, key_point=item.key_point).answer
        for task in item.tasks.all():
            say(task, "yes" if task.annotator.user == cleo and verdict == "no" else verdict)
    found = results_of(study)
    people = {one.name: one for one in found.evaluation.people}
    assert people[annotator_of(ben).label].stats["accuracy"].value == 1
    assert people[annotator_of(cleo).label].stats["accuracy"].value == pytest.approx(8 / 12)
    assert found.evaluation.mean["accuracy"].value == pytest.approx(10 / 12)
    assert found.evaluation.weighted.value == pytest.approx(10 / 12)  # the judge says each answer as often
    assert found.evaluation.ceiling["percent"].value == pytest.approx(8 / 12)
    assert found.evaluation.by_answer["no"].value == pytest.approx(1 / 2)
    assert len(found.disputed) == 4
    assert found.verdicts == {"yes": 16, "neutral": 16, "no": 16}
    told = json_of("report", "validation", "--study", study.name)
    assert told == json.loads(json.dumps(as_json(results_of(study, public=True))))
    assert [row["annotator"] for row in told["people"]] == ["annotator1", "annotator2"]
    assert told["mean"]["intervals"]["accuracy"]["clusters"] == len(
        set(study.label_items.values_list("response", flat=True))
    )
    assert "12 of 12 sampled verdicts answered" in output_of("report", "validation", "--study", study.name)


def test_researchers_set_up_follow_and_download(ada, as_ada, ben, cleo) -> None:
    new = reverse("annotation:study-create", args=["validation"])
    assert b"No judge has verdicts on responses yet" in as_ada.get(new).content
    judge = make_judged()
    form = as_ada.get(new).context["form"]
    assert form["judge"].value() == judge.pk, "there is no other to choose"
    data = {name: value for name, value in form.initial.items() if value is not None} | {
        "name": "Trust?",
        "hourly_rate": "25",
        "currency": "USD",
        "judge": judge.pk,
        "dataset": "set-strict",
        "n_sample": "8",
        "people_per_item": "2",
        "annotators": [annotator_of(ben).pk, annotator_of(cleo).pk],
    }
    assert as_ada.post(new, data | {"n_sample": "0"}).status_code == 422
    made = as_ada.post(new, data)
    study = Study.objects.get(name="Trust?")
    assert made.url == reverse("annotation:study", args=[study.uid])
    lifecycle.open_study(study=study, by=ada, now=NOW)
    results = reverse("annotation:study-figures", args=[study.uid])
    assert b"There are no answers yet" in as_ada.get(results).content
    say(first(study, ben), "yes", snippet=(0, 16))
    assert b"Accuracy of the judge" in as_ada.get(results).content
    assert as_ada.get(made.url).status_code == 200
    more = reverse("annotation:study-annotators", args=[study.uid])
    assert as_ada.get(more).status_code == 200
    assert as_ada.post(more, {"action": "items", "n_sample": "3", "dataset": ""}).status_code == 302
    assert study.label_items.count() == 11
    rows = b"".join(as_ada.get(reverse("annotation:study-labels", args=[study.uid, "csv"])).streaming_content)
    [row] = csv.DictReader(io.StringIO(rows.decode().lstrip("\ufeff")))
    assert (row["annotator"], row["label"], row["snippet"]) == ("annotator1", "yes", "Pier one is old.")
    for name in ("figures.json", "figures.csv"):
        assert as_ada.get(reverse("annotation:study-figures-file", args=[study.uid, name])).status_code == 200
    assert as_ada.get(reverse("annotation:study-labels", args=[study.uid, "jsonl"])).status_code == 200
    assert as_ada.get(reverse("annotation:study-figures-file", args=[study.uid, "x"])).status_code == 404
    assert as_ada.get(reverse("annotation:study-delete", args=[study.uid])).status_code == 200
