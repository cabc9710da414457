"""Pages of a linking study: how researchers set one up, add to it, and read what came of it."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.linking.kind import KIND
from annotation.models import CoverageLabel, Exposure, LabelTask, Study
from benchmarks.models import Summary
from tests.annotation.test_linking_pages import JSON, choose
from tests.makers import (
    annotator_of,
    give_consent,
    label_task,
    make_haystack,
    make_linking_study,
    make_summary,
)
from tests.makers import label_url as url


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    return make_linking_study(annotators=[ben, cleo], researcher=ada, people_per_item=2)


def form_data(haystack, *people, **more) -> dict[str, Any]:
    return {
        "name": "Links",
        "hourly_rate": "25",
        "currency": "USD",
        "haystacks": [haystack.pk],
        "with_systems": "on",
        "way": "all",
        "people_per_item": "1",
        "overlap": "50",
        "overlap_unit": "percent",
        "guidelines": KIND.guidelines,
        "annotators": [annotator_of(person).pk for person in people],
        **more,
    }


def test_a_researcher_sets_a_study_up_and_opens_it(as_ada, ben, cleo) -> None:
    haystack = make_haystack()
    for subtopic in haystack.subtopics.all():
        for letter in "ab":
            make_summary(subtopic=subtopic, system=letter)
    create = reverse("annotation:study-create", args=["linking"])
    assert "Worked examples" in as_ada.get(create).text
    answer = as_ada.post(create, form_data(haystack, ben, cleo))
    study = Study.objects.get(name="Links")
    assert answer.headers["Location"] == reverse("annotation:study", args=[study.uid])
    assert (study.label_items.count(), study.label_items.filter(is_overlap=True).count()) == (4, 2)
    assert study.label_tasks.count() == 6
    as_ada.post(reverse("annotation:study-state", args=[study.uid]), {"action": "open"})
    study.refresh_from_db()
    assert study.state == "open"
    former = f"/studies/{study.uid}/linking/"
    assert as_ada.get(former).headers["Location"] == answer.headers["Location"]
    assert as_ada.get(f"{former}more/").headers["Location"] == reverse(
        "annotation:study-annotators", args=[study.uid]
    )
    assert as_ada.get(f"/studies/{study.uid}/verification/").status_code == 404
    assert "0 / 6" in as_ada.get(reverse("annotation:studies")).text
    for name in ("study-guidelines-edit", "study-delete", "study-settings", "study-annotators"):
        assert as_ada.get(reverse(f"annotation:{name}", args=[study.uid])).status_code == 200


def test_a_list_and_a_sample_can_be_taken(as_ada, ben) -> None:
    haystack = make_haystack()
    rows = [make_summary(subtopic=haystack.subtopics.get(number=1), system=letter) for letter in "abcd"]
    create = reverse("annotation:study-create", args=["linking"])
    upload = SimpleUploadedFile("list.csv", f"summary\n{rows[2].uid}\n".encode())
    as_ada.post(create, form_data(haystack, ben, way="list", list_file=upload))
    assert [item.summary for item in Study.objects.get().label_items.all()] == [rows[2]]
    as_ada.post(create, form_data(haystack, ben, way="sample", n_sample="3", seed="5", name="Sample"))
    assert Study.objects.get(name="Sample").label_items.count() == 3
    bad = SimpleUploadedFile("list.csv", b"summary\nhello\n")
    answer = as_ada.post(create, form_data(haystack, ben, way="list", list_file=bad, name="Bad"))
    assert answer.status_code == 422
    assert "Row 2" in answer.text
    assert as_ada.post(create, form_data(haystack, ben, haystacks=["9" * 400], name="Bad")).status_code == 422
    assert not Study.objects.filter(name="Bad").exists()


def test_summaries_are_narrowed_by_what_the_haystack_has_and_counted_before(as_ada, ben) -> None:
    haystack, other = make_haystack(), make_haystack(key="mole", title="The mole")
    first, second = haystack.subtopics.order_by("number")
    rows = [make_summary(subtopic=topic, system=name) for topic in (first, second) for name in ("ant", "bee")]
    make_summary(subtopic=other.subtopics.get(number=1), system="cat")
    url_ = reverse("annotation:study-takes", args=["linking"])

    def asked(**chosen):
        return as_ada.post(url_, form_data(haystack, ben, **chosen), headers={"HX-Request": "true"})

    found = asked()
    assert found.context["count"].n == 4
    names = {
        field.name: [label for _value, label in field.field.choices] for field in found.context["form"].narrowing
    }
    assert names == {"subtopics": [first.name, second.name], "systems": ["ant", "bee"]}
    assert asked(systems=["bee"]).context["count"].systems == [("bee · full", 2)]
    assert asked(subtopics=[second.pk], systems=["bee"]).context["count"].n == 1
    drawn = asked(way="sample", n_sample="3").context["count"]
    assert (drawn.n, drawn.n_matching) == (3, 4)
    assert asked(way="list", list_text=f"{rows[0].uid}\n{rows[1].uid}").context["count"].n == 2
    assert asked(way="sample").context.get("count") is None
    gone = as_ada.post(
        url_, form_data(other, ben, systems=["bee"], subtopics=[first.pk]), headers={"HX-Request": "true"}
    )
    assert gone.context["count"].systems == [("cat · full", 1)], "what another haystack had no longer narrows"
    whole = as_ada.post(url_, form_data(haystack, ben, systems=["ant"]))
    assert "<html" in whole.text
    assert whole.context["count"].n == 2
    create = reverse("annotation:study-create", args=["linking"])
    as_ada.post(create, form_data(haystack, ben, systems=["bee"], subtopics=[second.pk]))
    assert [item.summary for item in Study.objects.get().label_items.all()] == [rows[3]]
    pasted = as_ada.post(create, form_data(haystack, ben, way="list", list_text="hello\nworld", name="Bad"))
    assert "Row 2: “world” is not a summary id." in pasted.text


def test_training_and_gold_stand_on_agreed_answers_of_another_study(
    study: Study, as_ada, ben, cleo, dot, login
) -> None:
    for person in (ben, cleo):
        for position in (1, 2, 3, 4):
            task = label_task(study, person, position=position)
            for at in range(task.n_questions):
                choose(login(person), task, "full", 4, at=at)
    create = reverse("annotation:study-create", args=["linking"])
    data = form_data(study.label_items.first().summary.haystack, dot, n_training="1", n_gold="1", pass_mark="75")
    assert as_ada.post(create, data).status_code == 422
    too_many = as_ada.post(create, data | {"checks_source": study.pk, "n_gold": "9"})
    assert "all insights of 4 are agreed on or decided" in too_many.text
    as_ada.post(create, data | {"checks_source": study.pk})
    made = Study.objects.get(name="Links")
    Study.objects.filter(pk=made.pk).update(state="open")
    give_consent(dot)
    worker, training = login(dot), label_task(made, dot)
    assert "Agreed answer" not in worker.get(url("label-task", training)).text
    assert (
        choose(worker, training, "none").json()["feedback"]
        == "Agreed answer: full, in bullet “The pier opens in 2031”."
    )
    assert (
        "Agreed answer: full, in bullet “The pier opens in 2031”." in worker.get(url("label-task", training)).text
    )
    gold = made.label_tasks.get(item__role="gold")
    assert "feedback" not in choose(worker, gold, "none").json()
    html = worker.get(url("label-task", gold)).text
    assert "Agreed" not in html
    assert "gold" not in html
    assert "below the mark" in as_ada.get(reverse("annotation:study", args=[made.uid])).text


def test_people_and_summaries_are_added_later(study: Study, as_ada, ben, dot) -> None:
    more = reverse("annotation:study-annotators", args=[study.uid])
    late = make_summary(subtopic=Summary.objects.first().subtopic, system="late")
    upload = SimpleUploadedFile("list.txt", str(late.uid).encode())
    as_ada.post(more, {"action": "items", "way": "list", "list_file": upload})
    assert study.label_tasks.filter(item__summary=late).count() == 2
    as_ada.post(more, {"action": "people", "annotators": [annotator_of(dot).pk], "rebalance": "on"})
    assert study.label_tasks.filter(annotator=annotator_of(dot)).exists()
    remove = reverse("annotation:annotator-remove", args=[study.uid, annotator_of(ben).uid])
    assert as_ada.get(remove).status_code == 200
    as_ada.post(remove, {"reason": "moved"})
    assert not study.label_tasks.filter(annotator=annotator_of(ben)).exists()
    assert "fewer people than planned" in as_ada.get(more).text
    as_ada.post(more, {"action": "deal"})
    assert "fewer people than planned" not in as_ada.get(more).text
    assert as_ada.post(more, {"action": "steal"}).status_code == 404


def test_the_overview_counts_people_answers_time_and_cost(
    study: Study, as_ada, ben, as_ben, django_assert_max_num_queries
) -> None:
    task = label_task(study, ben)
    choose(as_ben, task, "full", 3)
    choose(as_ben, task, "partial", at=1)
    as_ben.post(url("label-remark", task), {"flag": "1", "comment": "see line 3"}, headers=JSON)
    LabelTask.objects.filter(pk=task.pk).update(active_ms=3_600_000)
    as_ada.get(reverse("annotation:study", args=[study.uid]))
    with django_assert_max_num_queries(20):
        html = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    for text in ("see line 3", "25.00 USD", "1 h 00 min", "100"):
        assert text in html


def test_labels_download_as_rows_that_can_be_analysed(study: Study, ada, as_ada, ben, as_ben) -> None:
    task = label_task(study, ben)
    choose(as_ben, task, "full", 3)
    choose(as_ben, task, "partial", 4)
    address = reverse("annotation:study-labels", args=[study.uid, "csv"])
    rows = list(csv.DictReader(io.StringIO(b"".join(as_ada.get(address)).decode())))
    assert [(row["annotator"], row["label"], row["lines"]) for row in rows] == [("annotator1", "partial", "4")]
    label = CoverageLabel.objects.select_related("insight", "summary").get(is_current=True)
    assert rows[0]["insight_text"] == label.insight.text
    assert rows[0]["bullet_text"] == label.summary.lines[3]
    assert Exposure.objects.filter(user=ada, haystack=label.summary.haystack).exists()
    history = b"".join(as_ada.get(address, {"history": "1"})).decode()
    assert len(history.splitlines()) == 3
    assert "Ben" not in history
    lines = b"".join(as_ada.get(reverse("annotation:study-labels", args=[study.uid, "jsonl"])))
    assert json.loads(lines)["lines"] == [4]
