"""The trial before the first task: examples, tries, what is told, and what it leaves behind."""

import csv
import io
import re
import tomllib
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.exports.studies import files_of
from annotation.kinds import kind_named
from annotation.labelling.trial import sets_in
from annotation.models import Annotator, LabelTask, Trial
from annotation.people.recruitment.outcomes import progress_of
from annotation.people.recruitment.pages import people_of
from annotation.people.removal import remove_work, totals
from annotation.results.learning import course_of
from annotation.studies.kind import work_of
from summhay_site import demo
from tests.annotation.people.test_recruitment import address as panel_address
from tests.annotation.people.test_recruitment import make_link
from tests.annotation.tried import JSON, KINDS, address, answer_all, kind_of, make_study, right_answers
from tests.makers import NOW, annotator_of, give_consent, label_task, label_url, make_linking_study


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_task_of_any_kind_leads_to_three_or_more_explained_answers_and_then_opens(
    kind: str, ben, as_ben, cleo
) -> None:
    study = make_study(kind, ben, cleo)
    task = label_task(study, ben)
    assert as_ben.get(label_url("label-task", task)).url == address(study)
    assert as_ben.get(address(study)).url == address(study, 1)
    page = as_ben.get(address(study, 1)).text
    assert "Not paid and not timed." in page
    assert 'data-label-task="' + kind in page
    replies = answer_all(as_ben, study)
    assert len(replies) >= 3
    assert all("ight." in reply["feedback"] for reply in replies)
    assert "You are ready" in as_ben.get(address(study)).text
    assert as_ben.get(label_url("label-task", task)).status_code == 200
    trial = Trial.objects.get()
    assert (trial.n_right, trial.is_passed) == (trial.n_asked, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_answer_is_told_with_the_expected_one_and_its_reason_and_the_first_counts(
    kind: str, ben, as_ben, cleo
) -> None:
    study = make_study(kind, ben, cleo)
    [wrong, *_] = right_answers(study, 1, is_right=False)
    [right, *_] = right_answers(study, 1)
    told = as_ben.post(address(study, 1, "choice"), wrong, headers=JSON).json()["feedback"]
    why = kind_of(kind).examples(1)[0].values
    reason = why["insight"][0]["why"] if kind == "linking" else why["why"]
    assert "xpected" in told
    assert reason in told
    assert as_ben.post(address(study, 1, "choice"), right, headers=JSON).json()["feedback"] == told
    assert not any(row.is_right for row in Trial.objects.get().answers.all())


def test_it_works_by_plain_forms_and_shows_after_reloading_what_was_answered(ben, as_ben, cleo) -> None:
    study = make_study("validation", ben, cleo)
    page = as_ben.get(address(study, 1)).text
    assert f'action="{address(study, 1, "choice")}"' in page
    assert as_ben.post(address(study, 1, "choice"), {"answer": "no"}).url == address(study, 1)
    page = as_ben.get(address(study, 1)).text
    assert "✗ Not quite. Your first answer: no. Expected answer: yes." in page
    assert 'class="feedback is-wrong" data-feedback' in page
    assert f'data-decides="{kind_of("validation").examples(1)[0].values["decides"]}"' in page
    assert re.search(r'value="no"\s+checked', page)


def test_too_few_right_answers_lead_to_another_try_with_other_examples_and_then_to_a_kind_end(
    ben, as_ben, cleo, ada, as_ada
) -> None:
    study = make_study("validation", ben, cleo, share="0.6")
    study.researchers.add(ada)
    task = label_task(study, ben)
    first = as_ben.get(address(study, 1)).text
    answer_all(as_ben, study, is_right=False)
    end = as_ben.get(address(study)).text
    assert "Almost: try again" in end
    assert "60 %" in end
    assert all(each.values["point"] in unescape(end) for each in kind_of("validation").examples(1))
    assert end.count("Your first answer: yes.") == 2
    assert "1 try left." in end
    assert as_ben.get(label_url("label-task", task)).url == address(study)
    assert as_ben.post(reverse("annotation:trial-again", args=[study.uid])).url == address(study)
    assert as_ben.get(address(study)).url == address(study, 1)
    again = as_ben.get(address(study, 1)).text
    assert "honeybees" in first
    assert "honeybees" not in again
    answer_all(as_ben, study, is_right=False)
    assert "This study is not for you this time" in as_ben.get(address(study)).text
    assert as_ben.post(reverse("annotation:trial-again", args=[study.uid])).status_code == 302
    assert Trial.objects.count() == 2

    people = as_ada.get(reverse("annotation:study-annotators", args=[study.uid])).text
    assert "not passed" in people
    assert "0 of 3" in people
    allow = reverse("annotation:trial-allow", args=[study.uid, ben.annotator.uid])
    assert as_ben.post(allow).status_code == 403
    as_ada.post(allow)
    assert "1 try left." in as_ben.get(address(study)).text
    as_ben.post(reverse("annotation:trial-again", args=[study.uid]))
    answer_all(as_ben, study)
    assert as_ben.get(label_url("label-task", task)).status_code == 200


def test_where_no_share_is_asked_mistakes_are_told_and_one_tries_again_or_goes_on(ben, as_ben, cleo) -> None:
    study = make_study("validation", ben, cleo)
    task, again = label_task(study, ben), reverse("annotation:trial-again", args=[study.uid])
    answer_all(as_ben, study, is_right=False)
    end = as_ben.get(address(study)).text
    assert "The trial is over" in end
    assert "You are ready" not in end
    assert "0 of 3 answers were as expected" in end
    assert again in end
    assert as_ben.get(label_url("label-task", task)).status_code == 200
    as_ben.post(again)
    assert as_ben.get(address(study)).url == address(study, 1)
    assert as_ben.get(label_url("label-task", task)).status_code == 200
    answer_all(as_ben, study)
    end = as_ben.get(address(study)).text
    assert "You are ready" in end
    assert again not in end
    as_ben.post(again)
    assert Trial.objects.count() == 2


@pytest.mark.parametrize("rate", [0, 25])
def test_the_end_of_a_trial_says_that_time_is_paid_only_where_it_is(rate: int, ben, as_ben, cleo) -> None:
    study = make_study("validation", ben, cleo)
    study.hourly_rate = Decimal(rate)
    study.save()
    answer_all(as_ben, study)
    end = as_ben.get(address(study)).text
    assert "From now on you do not see which answers are expected." in end
    assert ("Your work is paid from here on." in end) == (rate > 0)


def test_nothing_is_stored_on_a_task_before_the_trial_is_passed(ben, as_ben, cleo) -> None:
    task = label_task(make_study("validation", ben, cleo), ben)
    response = as_ben.post(label_url("label-choice", task), {"answer": "yes"}, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (409, "trial_first")
    assert as_ben.post(label_url("label-skip", task), {"reason": "x"}, headers=JSON).status_code == 409
    assert not LabelTask.objects.exclude(begun_at=None).exists()


def test_whoever_was_at_work_before_the_study_had_a_trial_goes_on(ben, as_ben, cleo, now) -> None:
    study = make_study("validation", ben, cleo)
    study.label_tasks.filter(pk=label_task(study, ben).pk).update(begun_at=now)
    assert as_ben.get(label_url("label-task", label_task(study, ben, position=2))).status_code == 200


def test_a_trial_is_only_for_members_of_an_open_study_that_has_one(ben, as_ben, cleo, dot, login) -> None:
    study = make_study("validation", ben, cleo)
    for number, act in ((0, ""), (1, "")):
        assert login(dot).get(address(study, number, act)).status_code in {403, 404}
    assert as_ben.get(address(study, 9)).status_code == 404
    study.has_trial = False
    study.save()
    assert as_ben.get(address(study)).status_code == 404
    assert as_ben.get(label_url("label-task", label_task(study, ben))).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_are_the_same_in_german_and_none_is_an_item_of_the_demo(kind: str) -> None:
    trial = kind_of(kind)
    with translation.override("de"):
        german = trial.sets()
    with translation.override("en"):
        english = trial.sets()
    shape = [[(e.name, trial.questions(e)) for e in each] for each in english]
    assert shape == [[(e.name, trial.questions(e)) for e in each] for each in german]
    texts = "".join(p.read_text() for p in Path(demo.__file__).parent.joinpath("data").iterdir() if p.is_file())
    for each, other in zip(english, german, strict=True):
        assert sum(len(trial.questions(e)) for e in each) >= 3
        for example, translated in zip(each, other, strict=True):
            plain, made = dict(example.values), dict(translated.values)
            for name in ("answer", "grounded", "keyness", *trial.questions(example)):
                assert plain.get(name) == made.get(name)
            for text in re.findall(r"[^'\"\[\]]{30,}", str(plain)):
                assert text not in texts


@pytest.mark.parametrize("kind", KINDS)
def test_built_in_examples_are_in_no_guideline_and_what_decides_stands_in_their_texts(kind: str) -> None:
    trial = kind_of(kind)
    for suffix in ("", ".de"):
        body = trial.file.with_suffix(f"{suffix}.toml").read_text()
        assert sets_in(trial, body)  # it checks where highlights and what decides stand
        guidelines = runs_of(trial.file.with_name(f"guidelines{suffix}.md").read_text())
        for each in tomllib.loads(body)["set"]:
            texts = re.findall(r"(?:text|point|question|query|response|bullets)': ['\"[].*?['\"]", str(each))
            assert texts
            assert not runs_of("\n".join(texts)) & guidelines, each


def runs_of(text: str) -> set[str]:
    """All runs of five words."""
    words = re.findall(r"\w+", text.casefold())
    return {" ".join(words[n : n + 5]) for n in range(len(words) - 4)}


def test_answers_of_the_trial_are_no_labels_no_time_and_no_cost_and_are_named_training_in_the_archive(
    ben, as_ben, cleo, as_cleo, ada, as_ada
) -> None:
    study = make_study("validation", ben, cleo)
    study.researchers.add(ada)
    before = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    facts = kind_named(study.kind).results_of(study).facts(study)
    answer_all(as_ben, study)
    answer_all(as_cleo, study)
    assert kind_named(study.kind).results_of(study).facts(study) == facts
    assert list(work_of(study).label_rows(study, "history")) == []
    assert work_of(study).checks(study) == {}
    assert progress_of(study=study, annotators=[annotator_of(ben)])[annotator_of(ben).pk].worked_ms == 0
    after = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    passing = r"[A-Za-z0-9]{64}|[0-9]{2}:[0-9]{2}:[0-9]{2}"  # tokens and the time of day
    assert re.sub(passing, "", after) == re.sub(passing, "", before)
    files = {file.name: file for file in files_of(study, now=NOW)}
    content = files["trial-answers.csv"].content(reader="programs")
    text = "".join(piece if isinstance(piece, str) else piece.decode() for piece in content)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["role"] for row in rows} == {"training"}
    assert {row["annotator"] for row in rows} == {"annotator1", "annotator2"}
    assert len(rows) == 6
    assert totals(remove_work(annotator=annotator_of(ben), mode="deleted", by=ada, now=NOW))["trials"] == 1
    assert not Trial.objects.filter(annotator=annotator_of(ben)).exists()


def test_somebody_of_a_panel_who_does_not_pass_gets_the_code_of_those_screened_out(
    ada, now, client: Client
) -> None:
    study = make_linking_study(researcher=ada)
    study.has_trial, study.trial_pass_share, study.trial_tries = True, Decimal(1), 1
    study.save()
    link = make_link(study, by=ada, now=now, max_tasks=4, screened_out_code="SCREENED-3")
    assert client.post(panel_address(link)).headers["Location"] == "/work/consent/"
    give_consent(Annotator.objects.get(participant__isnull=False))
    assert "first a trial of about two minutes, not paid" in client.get("/work/").text
    answer_all(client, study, is_right=False)
    board = client.get("/work/").text
    assert "Thank you for trying" in board
    assert "SCREENED-3" in board
    assert "The trial asks for more right answers" in board
    assert "No task can be opened now. Below you read why." in " ".join(re.sub("<[^>]*>", " ", board).split())
    [person] = people_of(link, now)
    assert (person.label, person.may_be_freed) == ("trial not passed", True)


def test_researchers_see_how_people_get_better_by_try_and_over_the_course(ada, as_ada, ben, as_ben, cleo) -> None:
    study = make_study("verification", ben, cleo, share="1")
    study.researchers.add(ada)
    page = reverse("annotation:study-learning", args=[study.uid])
    assert "Nobody has finished a trial" in as_ada.get(page).text
    answer_all(as_ben, study, is_right=False)
    as_ben.post(reverse("annotation:trial-again", args=[study.uid]))
    answer_all(as_ben, study)
    study.label_items.update(role="gold", is_overlap=True)
    for task in study.label_tasks.filter(annotator=annotator_of(ben)).order_by("position"):
        grounded = "yes" if task.position == 1 else "no"
        answer = {"grounded": grounded, **({"keyness": "agree"} if grounded == "yes" else {})}
        assert as_ben.post(label_url("label-choice", task), answer, headers=JSON).status_code == 200
    shown = as_ada.get(page).text
    assert "Do people get better?" in shown
    assert "Hidden checks, over the course" in shown
    table = as_ada.get(reverse("annotation:study-learning-file", args=[study.uid, "figures.json"])).json()
    [person] = table["people"]
    assert person["name"] == "annotator1"
    assert [(one["n_right"], one["n"]) for one in person["tries"]] == [(0, 3), (3, 3)]
    assert [one["n_right"] for one in person["course"]] == [0, 1, 1]


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (1, [1]), (4, [1] * 4), (7, [1, 1, 2, 1, 2]), (10, [2] * 5)])
def test_a_course_is_cut_into_parts_of_about_as_many_checks(n: int, sizes: list[int]) -> None:
    assert [part.n for part in course_of([True] * n)] == sizes
