"""Researchers' pages of verification studies: set up, follow, add people and questions, change, open, delete."""

import re
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Annotator, Membership, PointLabel, Study
from annotation.studies import overview
from annotation.verification.kind import KIND, overview_of
from benchmarks.models import Question
from tests.conftest import make_user
from tests.makers import annotator_of
from tests.makers_verification import make_questions, make_verification_study, say


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    return make_verification_study(
        questions=make_questions(4), annotators=[ben, cleo], researcher=ada, n_control=1
    )


def url(name: str, study: Study) -> str:
    return reverse(f"annotation:{name}", args=[study.uid])


def filled(**changes) -> dict[str, Any]:
    """What a browser sends from the form of a new study."""
    return {
        "name": "Harbour points",
        "hourly_rate": "25",
        "currency": "USD",
        "dataset": "harbours",
        "way": "all",
        "control_percent": "10",
        "people_per_question": "1",
        "n_attention_checks": "0",
        "plain_percent": "0",
        "guidelines": "Look.\r\nThen judge.",
        **changes,
    }


def test_a_study_is_set_up_dealt_and_opened(as_ada, ben, cleo) -> None:
    make_questions(20)
    address = reverse("annotation:study-create", args=["verification"])
    shown = as_ada.get(address).text
    assert "harbours" in shown
    assert KIND.guidelines.splitlines()[0] in shown
    people = [annotator_of(ben).pk, annotator_of(cleo).pk]
    answer = as_ada.post(address, filled(annotators=people, n_attention_checks=1, plain_percent=50))
    study = Study.objects.get()
    assert answer.headers["Location"] == url("study", study)
    assert study.guidelines.get().body == "Look.\nThen judge.\n"
    assert (study.label_items.count(), study.label_items.filter(highlight_of=None).count()) == (41, 20)
    assert study.label_tasks.count() == 40 + 1 + 5
    as_ada.post(url("study-state", study), {"action": "open"})
    study.refresh_from_db()
    assert study.state == "open"
    assert as_ada.get(f"/studies/{study.uid}/verification/").headers["Location"] == url("study", study)


def test_categories_domains_and_a_sample_narrow_the_questions(as_ada, ben) -> None:
    questions = make_questions(24)
    address = reverse("annotation:study-create", args=["verification"])
    as_ada.post(address, filled(category=[questions[0].category]))
    first = Study.objects.get()
    assert set(first.label_items.values_list("question__category", flat=True)) == {questions[0].category}
    as_ada.post(address, filled(name="Sample", way="sample", n_sample=6, seed=3, domain=[questions[0].domain]))
    second = Study.objects.exclude(pk=first.pk).get()
    assert second.seed == 3
    assert set(second.label_items.values_list("question__domain", flat=True)) == {questions[0].domain}
    assert second.label_items.values("question").distinct().count() == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Fill this in."),
        ({"dataset": "elsewhere"}, "Choose from the list; “elsewhere” is not in it."),
        ({"way": "sample"}, "How many questions?"),
        (
            {"control_percent": "0", "n_attention_checks": "2"},
            "Attention checks need questions that everyone gets.",
        ),
        ({"control_percent": "101"}, "100 or less."),
        ({"guidelines": ""}, "Fill this in."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_made(as_ada, changes, words: str) -> None:
    make_questions(3)
    answer = as_ada.post(reverse("annotation:study-create", args=["verification"]), filled(**changes))
    assert answer.status_code == 422
    assert words in answer.text
    assert not Study.objects.exists()


def test_attention_checks_need_two_questions(as_ada) -> None:
    make_questions(1)
    answer = as_ada.post(reverse("annotation:study-create", args=["verification"]), filled(n_attention_checks="1"))
    assert answer.status_code == 422
    assert "two or more" in answer.text
    assert not Study.objects.exists()


def test_only_what_the_chosen_set_has_is_offered_and_the_questions_are_counted(as_ada) -> None:
    make_questions(3)
    make_questions(2, dataset="lakes")
    Question.objects.filter(dataset="lakes").update(category="deep", domain="water")
    Question.objects.filter(dataset="lakes", key="q1").update(category="shallow")
    new_study = reverse("annotation:study-create", args=["verification"])
    assert "deep" not in as_ada.get(new_study).text  # the first set, harbours, is chosen
    assert "deep" in as_ada.get(f"{new_study}?dataset=lakes").text
    address, asked = reverse("annotation:study-takes", args=["verification"]), {"HX-Request": "true"}
    part = as_ada.post(address, {"dataset": "lakes", "way": "all", "category": ["FACTUAL"]}, headers=asked).text
    assert {"deep", "shallow"} <= set(re.findall(r'value="(\w+)"', part))
    assert "All 2 questions of lakes" in part
    part = as_ada.post(address, {"dataset": "lakes", "way": "sample", "n_sample": "1"}, headers=asked).text
    assert "1 of 2 questions of lakes" in part
    assert "How many questions?" in as_ada.post(address, {"dataset": "lakes", "way": "sample"}, headers=asked).text
    refused = as_ada.post(
        reverse("annotation:study-create", args=["verification"]), filled(dataset="lakes", category=["FACTUAL"])
    )
    assert refused.status_code == 422


def test_archived_questions_are_not_offered(as_ada, now) -> None:
    for question in make_questions(2):
        question.archived_at = now
        question.save()
    shown = as_ada.get(reverse("annotation:study-create", args=["verification"])).text
    assert "harbours" not in shown
    assert "There is no question set yet" in shown


def test_the_overview_counts_both_judgments_time_and_checks(study: Study, ada, ben, cleo) -> None:
    control, own = study.label_items.filter(is_overlap=True), study.label_tasks.filter(annotator__user=ben)
    points = [task.item.key_point for task in own.order_by("position")]
    for point, answer, seconds in zip(points, "AADx", (1, 2, 30, 40), strict=False):
        say(study, ben, point, answer, seconds=seconds)
    say(study, cleo, control[0].key_point, "N")
    first, second = overview_of(study).people
    assert first.answers == {"yes": 3, "no": 1}
    assert first.keyness == {"agree": 2, "neutral": 0, "disagree": 1}
    assert (first.keep_share, first.n_done, first.n_tasks) == (0.5, 4, 4)
    assert (first.speed.median_ms, first.speed.per_hour) == (16_000, pytest.approx(4 / 73 * 3600))
    assert first.speed.fast.value == 0.5
    assert first.speed.fast.low < 0.5 < first.speed.fast.high
    assert first.speed.is_notable
    assert second.speed.fast.value == 0
    assert not second.speed.is_notable
    assert overview_of(study).n_labels == 5


def test_attention_checks_are_told_apart(study: Study, as_ada, ben) -> None:
    item = study.label_items.filter(is_overlap=True)[0]
    say(study, ben, item.key_point, "x", is_check=True)
    item.role = "gold"
    item.save()
    row = overview_of(study).people[0]
    assert (row.n_checks, row.n_checks_right, row.n_labels, row.speed) == (1, 1, 0, None)
    shown = as_ada.get(url("study", study)).text
    assert "1 of 1" in shown
    assert "1 attention check" in shown
    assert "Copy the study…" in shown


def test_questions_are_added(study: Study, as_ada) -> None:
    make_questions(3, dataset="piers")
    more = url("study-annotators", study)
    assert as_ada.post(more, {"action": "items", "dataset": "piers", "way": "sample"}).status_code == 422
    as_ada.post(more, {"action": "items", "dataset": "piers", "way": "all"})
    assert study.label_items.values("question").distinct().count() == 7


def test_the_rate_freezes_with_the_first_answer(study: Study, as_ada, ben) -> None:
    address = url("study-settings", study)
    data = {"name": "Renamed", "hourly_rate": "30", "currency": "EUR"}
    assert as_ada.post(address, data).status_code == 302
    say(study, ben, study.label_tasks.filter(annotator__user=ben)[0].item.key_point, "A")
    assert as_ada.post(address, data | {"hourly_rate": "40"}).status_code == 422
    study.refresh_from_db()
    assert study.name == "Renamed"
    assert study.hourly_rate == 30


def test_a_study_with_answers_is_not_deleted(study: Study, as_ada, ben) -> None:
    address = url("study-delete", study)
    say(study, ben, study.label_tasks.filter(annotator__user=ben)[0].item.key_point, "A")
    assert "1 label is in it" in as_ada.get(address).text
    as_ada.post(address)
    assert Study.objects.filter(pk=study.pk).exists()
    PointLabel.objects.all().delete()
    assert "1 task was begun in it" in as_ada.get(address).text
    as_ada.post(address)
    assert Study.objects.filter(pk=study.pk).exists()
    study.label_tasks.update(state="todo", n_answered=0, begun_at=None)
    as_ada.post(address)
    assert not Study.objects.filter(pk=study.pk).exists()


def test_no_study_starts_with_the_settings_of_one_that_is_not_ones_own(study: Study, as_ada, login) -> None:
    address = reverse("annotation:study-create", args=["verification"])
    assert login(make_user("fay", "researcher")).get(address, {"from": study.uid}).status_code == 404
    assert as_ada.get(address, {"from": "nonsense"}).status_code == 404


def test_both_pages_on_speed_mean_the_same_by_fast(study: Study, as_ada, ben, cleo) -> None:
    point = study.label_items.filter(is_overlap=True)[0].key_point
    assert point is not None
    say(study, ben, point, "A", seconds=4)
    say(study, cleo, point, "A", seconds=20)
    overview = as_ada.get(url("study", study)).text
    agreement = as_ada.get(url("study-figures", study)).text
    assert "Under 5 s" in overview
    assert "fast means under 5 s" in agreement
    assert [row.speed.fast.value for row in overview_of(study).people] == [1, 0]
    assert '<span class="interval">1 / 1</span>' in agreement


@pytest.mark.parametrize(
    ("seconds", "notable"),
    [
        ((60, 60, 60, 200), ["anna"]),  # in the order of joining: dora, cleo, bert, anna
        ((4, 4, 4, 60), ["dora", "cleo", "bert"]),
        ((7, 7, 7, 25), []),
        ((60, 200), []),
    ],
)
def test_people_are_slow_only_beside_others_who_take_their_time(
    seconds, notable: list[str], study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def people(_study: Study) -> list[dict[str, Any]]:
        names = ("dora", "cleo", "bert", "anna")[-len(seconds) :]
        return [
            {
                "member": Membership(annotator=Annotator(label=name)),
                "speed": overview.speed_of([1_000 * each] * 40),
            }
            for name, each in zip(names, seconds, strict=True)
        ]

    monkeypatch.setattr(overview, "people_of", people)
    assert [words.split(" (")[0] for words in overview.notable_speeds(study)] == notable
