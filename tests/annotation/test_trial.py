"""The trial before label work: examples with the answer explained, tries, and nothing of it in any figure."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.exports.study_files import files_of
from annotation.kinds import kind_named
from annotation.labelling.kind import task_page_of
from annotation.labelling.trial.examples import TrialKind
from annotation.labelling.trial.own import BadExamples, current_of, known_from_items, save, sets_in
from annotation.models import Annotator, LabelTask, Study, Trial
from annotation.people.recruitment.people import people_of
from annotation.people.recruitment.progress import progress_of
from annotation.people.removal.removing import remove_work, totals
from annotation.results.learning import course_of
from annotation.studies.kind import work_of
from summhay_site import demo
from tests.annotation.people.test_recruitment import address as panel_address
from tests.annotation.people.test_recruitment import make_link
from tests.annotation.points import make_points_study
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make, make_judged
from tests.makers import NOW, annotator_of, give_consent, label_task, label_url, make_linking_study

JSON = {"Accept": "application/json"}
KINDS = ("linking", "verification", "validation", "rating")


def kind_of(name: str) -> TrialKind[Any]:
    page = task_page_of(name)
    assert page is not None
    assert page.trial is not None
    return page.trial


def make_study(kind: str, *people: Any, share: str | None = None, tries: int = 2) -> Study:
    makers = {
        "linking": lambda: make_linking_study(annotators=people, people_per_item=len(people)),
        "verification": lambda: make_points_study(annotators=people),
        "validation": lambda: make(people, make_judged()),
        "rating": lambda: make_rating_study(annotators=people),
    }
    study: Study = makers[kind]()
    give_consent(*people)
    study.state, study.has_trial, study.trial_tries = Study.State.OPEN, True, tries
    study.trial_pass_share = None if share is None else Decimal(share)
    study.save()
    return study


def address(study: Study, number: int = 0, act: str = "") -> str:
    if act:
        return reverse("annotation:trial-act", args=[study.uid, number, act])
    return (
        reverse("annotation:trial-example", args=[study.uid, number])
        if number
        else reverse("annotation:trial", args=[study.uid])
    )


def right_answers(study: Study, number: int, *, is_right: bool = True) -> list[dict[str, Any]]:
    """What the page sends to answer an example of the first try as expected, or not."""
    trial = kind_of(study.kind)
    tries = [trial.n_right is not None for trial in study.trials.all()]
    example = trial.examples(max(1, study.trials.count() or 1))[number - 1]
    values, sent = example.values, []
    assert len(tries) <= 3
    if study.kind == "linking":
        for uid, row in zip(trial.questions(example), values["insight"], strict=True):
            wrong = {"coverage": "none"} if row["coverage"] != "none" else {"coverage": "full", "line": 1}
            right = {"coverage": row["coverage"], **({"line": row["lines"][0]} if "lines" in row else {})}
            sent.append({"question": uid, **(right if is_right else wrong)})
    elif study.kind == "verification":
        right = {"grounded": values["grounded"], **({"keyness": values["keyness"]} if "keyness" in values else {})}
        wrong = {"grounded": "no"} if values["grounded"] == "yes" else {"grounded": "yes", "keyness": "agree"}
        sent.append(right if is_right else wrong)
    elif study.kind == "validation":
        sent.append({"answer": values["answer"] if is_right else {"yes": "no"}.get(values["answer"], "yes")})
    else:
        sent.append({a: values[a][0] if is_right else 6 - values[a][0] for a in trial.questions(example)})
    return sent


def answer_all(client: Client, study: Study, *, is_right: bool = True) -> list[dict[str, Any]]:
    replies = []
    trial = kind_of(study.kind)
    for number in range(1, len(trial.examples(study.trials.count() or 1)) + 1):
        for data in right_answers(study, number, is_right=is_right):
            response = client.post(address(study, number, "choice"), data, headers=JSON)
            assert response.status_code == 200, response.content
            replies.append(response.json())
    return replies


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_task_of_any_kind_leads_to_three_or_more_explained_answers_and_then_opens(
    kind: str, ben: Any, cleo: Any, login: Any
) -> None:
    study = make_study(kind, ben, cleo)
    client, task = login(ben), label_task(study, ben)
    assert client.get(label_url("label-task", task)).url == address(study)
    assert client.get(address(study)).url == address(study, 1)
    page = client.get(address(study, 1)).content.decode()
    assert "Not paid and not timed." in page
    assert 'data-label-task="' + kind in page
    replies = answer_all(client, study)
    assert len(replies) >= 3
    assert all("ight." in reply["feedback"] for reply in replies)
    end = client.get(address(study)).content.decode()
    assert "You are ready" in end
    assert client.get(label_url("label-task", task)).status_code == 200
    trial = Trial.objects.get()
    assert (trial.n_right, trial.is_passed) == (trial.n_asked, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_answer_is_told_with_the_expected_one_and_its_reason_and_the_first_counts(
    kind: str, ben: Any, cleo: Any, login: Any
) -> None:
    study = make_study(kind, ben, cleo)
    client = login(ben)
    [wrong, *_] = right_answers(study, 1, is_right=False)
    [right, *_] = right_answers(study, 1)
    told = client.post(address(study, 1, "choice"), wrong, headers=JSON).json()["feedback"]
    why = kind_of(kind).examples(1)[0].values
    reason = why["insight"][0]["why"] if kind == "linking" else why["why"]
    assert "xpected" in told
    assert reason in told
    assert "ight." in client.post(address(study, 1, "choice"), right, headers=JSON).json()["feedback"]
    assert not any(row.is_right for row in Trial.objects.get().answers.all())


def test_it_works_by_plain_forms_and_shows_after_reloading_what_was_answered(
    ben: Any, cleo: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo)
    client = login(ben)
    page = client.get(address(study, 1)).content.decode()
    assert f'action="{address(study, 1, "choice")}"' in page
    response = client.post(address(study, 1, "choice"), {"answer": "no"})
    assert response.url == address(study, 1)
    page = client.get(address(study, 1)).content.decode()
    assert "Not quite. Expected answer: yes." in page
    assert re.search(r'value="no"\s+checked', page)


def test_too_few_right_answers_lead_to_another_try_with_other_examples_and_then_to_a_kind_end(
    ben: Any, cleo: Any, ada: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo, share="0.6")
    study.researchers.add(ada)
    client, task = login(ben), label_task(study, ben)
    first = client.get(address(study, 1)).content.decode()
    answer_all(client, study, is_right=False)
    end = client.get(address(study)).content.decode()
    assert "Almost: try again" in end
    assert "60 %" in end
    assert "1 try left." in end
    assert client.get(label_url("label-task", task)).url == address(study)
    assert client.post(reverse("annotation:trial-again", args=[study.uid])).url == address(study)
    assert client.get(address(study)).url == address(study, 1)
    again = client.get(address(study, 1)).content.decode()
    assert "bare rock" in first
    assert "bare rock" not in again
    answer_all(client, study, is_right=False)
    assert "This study is not for you this time" in client.get(address(study)).content.decode()
    assert client.post(reverse("annotation:trial-again", args=[study.uid])).status_code == 302
    assert Trial.objects.count() == 2

    people = login(ada).get(reverse("annotation:study-annotators", args=[study.uid])).content.decode()
    assert "not passed" in people
    assert "0 of 3" in people
    allow = reverse("annotation:trial-allow", args=[study.uid, ben.annotator.uid])
    assert client.post(allow).status_code == 403
    login(ada).post(allow)
    assert "1 try left." in client.get(address(study)).content.decode()
    client.post(reverse("annotation:trial-again", args=[study.uid]))
    answer_all(client, study)
    assert client.get(label_url("label-task", task)).status_code == 200


def test_where_no_share_is_asked_mistakes_are_told_and_one_tries_again_or_goes_on(
    ben: Any, cleo: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo)
    client, task, again = login(ben), label_task(study, ben), reverse("annotation:trial-again", args=[study.uid])
    answer_all(client, study, is_right=False)
    end = client.get(address(study)).content.decode()
    assert "That was the trial" in end
    assert "You are ready" not in end
    assert "0 of 3 answers were as expected" in end
    assert again in end
    assert client.get(label_url("label-task", task)).status_code == 200
    client.post(again)
    assert client.get(address(study)).url == address(study, 1)
    assert client.get(label_url("label-task", task)).status_code == 200
    answer_all(client, study)
    end = client.get(address(study)).content.decode()
    assert "You are ready" in end
    assert again not in end
    client.post(again)
    assert Trial.objects.count() == 2


def test_nothing_is_stored_on_a_task_before_the_trial_is_passed(ben: Any, cleo: Any, login: Any) -> None:
    study = make_study("validation", ben, cleo)
    client, task = login(ben), label_task(study, ben)
    response = client.post(label_url("label-choice", task), {"answer": "yes"}, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (409, "trial_first")
    assert client.post(label_url("label-skip", task), {"reason": "x"}, headers=JSON).status_code == 409
    assert not LabelTask.objects.exclude(begun_at=None).exists()


def test_whoever_was_at_work_before_the_study_had_a_trial_goes_on(
    ben: Any, cleo: Any, login: Any, now: Any
) -> None:
    study = make_study("validation", ben, cleo)
    study.label_tasks.filter(pk=label_task(study, ben).pk).update(begun_at=now)
    assert login(ben).get(label_url("label-task", label_task(study, ben, position=2))).status_code == 200


def test_a_trial_is_only_for_members_of_an_open_study_that_has_one(
    ben: Any, cleo: Any, dot: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo)
    for number, act in ((0, ""), (1, "")):
        assert login(dot).get(address(study, number, act)).status_code in {403, 404}
    assert login(ben).get(address(study, 9)).status_code == 404
    study.has_trial = False
    study.save()
    assert login(ben).get(address(study)).status_code == 404
    assert login(ben).get(label_url("label-task", label_task(study, ben))).status_code == 200


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


def test_highlights_of_examples_are_in_their_documents() -> None:
    trial = kind_of("verification")
    for name in (trial.file, trial.file.with_suffix(".de.toml")):
        for each in tomllib.loads(name.read_text())["set"]:
            text = "\n".join(document["text"] for document in each["document"])
            assert all(item["highlight"] in text for item in each["item"])


def test_answers_of_the_trial_are_no_labels_no_time_and_no_cost_and_are_named_training_in_the_archive(
    ben: Any, cleo: Any, ada: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo)
    study.researchers.add(ada)
    before = login(ada).get(reverse("annotation:study", args=[study.uid])).content.decode()
    facts = kind_named(study.kind).results_of(study).facts(study)
    answer_all(login(ben), study)
    answer_all(login(cleo), study)
    assert kind_named(study.kind).results_of(study).facts(study) == facts
    assert list(work_of(study).label_rows(study, "history")) == []
    assert work_of(study).checks(study) == {}
    assert progress_of(study=study, annotators=[annotator_of(ben)])[annotator_of(ben).pk].worked_ms == 0
    after = login(ada).get(reverse("annotation:study", args=[study.uid])).content.decode()
    passing = r"[A-Za-z0-9]{64}|[0-9]{2}:[0-9]{2}:[0-9]{2}"  # tokens and the time of day
    assert re.sub(passing, "", after) == re.sub(passing, "", before)
    files = {file.name: file for file in files_of(study, now=NOW)}
    content = files["trial-answers.csv"].content(reader="programs")
    text = "".join(piece if isinstance(piece, str) else piece.decode() for piece in content)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["role"] for row in rows} == {"training"}
    assert {row["annotator"] for row in rows} == {"annotator1", "annotator2"}
    assert len(rows) == 6
    removal = remove_work(annotator=annotator_of(ben), mode="deleted", by=ada, now=NOW)
    assert totals(removal)["trials"] == 1
    assert not Trial.objects.filter(annotator=annotator_of(ben)).exists()


def test_somebody_of_a_panel_who_does_not_pass_gets_the_code_of_those_screened_out(
    ada: Any, now: Any, client: Client
) -> None:
    study = make_linking_study(researcher=ada)
    study.has_trial, study.trial_pass_share, study.trial_tries = True, Decimal(1), 1
    study.save()
    link = make_link(study, by=ada, now=now, max_tasks=4, screened_out_code="SCREENED-3")
    assert client.post(panel_address(link)).headers["Location"] == "/work/consent/"
    give_consent(Annotator.objects.get(participant__isnull=False))
    assert "first a trial of about two minutes, not paid" in client.get("/work/").content.decode()
    answer_all(client, study, is_right=False)
    board = client.get("/work/").content.decode()
    assert "Thank you for trying" in board
    assert "SCREENED-3" in board
    assert "The trial asks for more right answers" in board
    [person] = people_of(link)
    assert (person.label, person.may_be_freed) == ("trial not passed", True)


def test_researchers_see_how_people_get_better_by_try_and_over_the_course(
    ada: Any, ben: Any, cleo: Any, login: Any
) -> None:
    study = make_study("verification", ben, cleo, share="1")
    study.researchers.add(ada)
    page = reverse("annotation:study-learning", args=[study.uid])
    assert "Nobody has finished a trial" in login(ada).get(page).content.decode()
    client = login(ben)
    answer_all(client, study, is_right=False)
    client.post(reverse("annotation:trial-again", args=[study.uid]))
    answer_all(client, study)
    study.label_items.update(role="gold", is_overlap=True)
    for task in study.label_tasks.filter(annotator=annotator_of(ben)).order_by("position"):
        grounded = "yes" if task.position == 1 else "no"
        answer = {"grounded": grounded, **({"keyness": "agree"} if grounded == "yes" else {})}
        assert client.post(label_url("label-choice", task), answer, headers=JSON).status_code == 200
    shown = login(ada).get(page).content.decode()
    assert "Do people get better?" in shown
    assert "Hidden checks, over the course" in shown
    table = login(ada).get(reverse("annotation:study-learning-file", args=[study.uid, "figures.json"])).json()
    [person] = table["people"]
    assert person["name"] == "annotator1"
    assert [(one["n_right"], one["n"]) for one in person["tries"]] == [(0, 3), (3, 3)]
    assert [one["n_right"] for one in person["course"]] == [0, 1, 1]


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (1, [1]), (4, [1] * 4), (7, [1, 1, 2, 1, 2]), (10, [2] * 5)])
def test_a_course_is_cut_into_parts_of_about_as_many_checks(n: int, sizes: list[int]) -> None:
    parts = course_of([True] * n)
    assert [part.n for part in parts] == sizes


# Examples of a study's own

OWN = """
language = "de"
[[set]]
question = "Wann öffnet das Bad?"
[[set.item]]
response = "Das Bad öffnet um sieben, am Sonntag um neun."
point = "Sonntags öffnet das Bad um neun."
answer = "yes"
why = "Das steht in der zweiten Hälfte."
"""


def save_own(client: Client, study: Study, body: str, replaces: str = "", **files: Any) -> Any:
    page = reverse("annotation:trial-examples", args=[study.uid])
    return client.post(page, {"body": body, "replaces": replaces, **files})


@pytest.mark.parametrize("kind", KINDS)
def test_built_in_examples_are_a_file_that_a_study_could_bring_and_none_is_an_item(
    kind: str, ben: Any, cleo: Any, ada: Any, login: Any
) -> None:
    study, trial = make_study(kind, ben, cleo), kind_of(kind)
    study.researchers.add(ada)
    built_in = trial.file.read_text(encoding="utf-8")
    assert sets_in(trial, built_in) == trial.sets()
    assert known_from_items(trial, built_in, study) == {}
    assert save_own(login(ada), study, built_in, "1").status_code == 302
    assert (
        "This study has" in login(ada).get(reverse("annotation:trial-examples", args=[study.uid])).content.decode()
    )
    broken = built_in.replace("why =", "wy =", 1)
    refused = save_own(login(ada), study, broken)
    assert refused.status_code == 422
    assert "set[0].item[0]" in refused.content.decode()
    item = next(iter(filter(None, trial.texts_of_items(study))))
    first = trial.sets()[0][0]
    example = first.values["lines"][0] if kind == "rating" else next(iter(trial.texts(first)))
    told = save_own(login(ada), study, built_in.replace(example, item.upper().replace('"', "")))
    assert "This is an item of the study" in told.content.decode()
    assert study.trial_examples.count() == 1


def test_examples_of_its_own_come_first_or_instead_and_a_try_keeps_those_that_it_began_with(
    ben: Any, cleo: Any, ada: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo, share="1")
    study.researchers.add(ada)
    upload = SimpleUploadedFile("own.toml", OWN.encode())
    assert save_own(login(ada), study, "", file=upload).status_code == 302
    client = login(ben)
    page = client.get(address(study, 1)).content.decode()
    assert "Sonntags öffnet das Bad um neun." in page
    assert "example 1 of 1" in page
    told = client.post(address(study, 1, "choice"), {"answer": "no"}, headers=JSON).json()["feedback"]
    assert "zweiten Hälfte" in told
    save_own(login(ada), study, OWN.replace("neun", "zehn"), "1")
    assert (
        "um neun" in client.get(address(study)).content.decode() + client.get(address(study, 1)).content.decode()
    )
    client.post(reverse("annotation:trial-again", args=[study.uid]))
    assert "Sonntags öffnet das Bad um zehn." in client.get(address(study, 1)).content.decode()
    save_own(login(ada), study, "")
    assert current_of(study) is None
    assert "example 1 of 3" in login(cleo).get(address(study, 1)).content.decode()
    assert sum(file.name.startswith("trial-examples/") for file in files_of(study, now=NOW)) == 2
    study.delete()


def test_an_example_that_becomes_an_item_is_left_out_of_new_tries_and_the_researcher_is_told(
    ben: Any, cleo: Any, ada: Any, login: Any
) -> None:
    study = make_study("validation", ben, cleo)
    study.researchers.add(ada)
    item = study.label_items.select_related("response", "key_point").get(pk=label_task(study, cleo).item_id)
    kept, work = OWN.partition("[[set.item]]")[2], reverse("annotation:study-annotators", args=[study.uid])
    body = f"{OWN}[[set.item]]\n{kept.replace('Sonntags öffnet das Bad um neun.', item.key_point.text)}"
    with pytest.raises(BadExamples, match="an item of the study"):
        save(study=study, kind=kind_of("validation"), body=body, replaces=True, by=ada, now=NOW)
    # As it would be had the item joined only now.
    study.trial_examples.create(body=body, replaces=True, made_at=NOW, made_by=ada)
    begun = login(ben).get(address(study, 1)).content.decode()
    assert "example 1 of 2" in begun
    login(ben).post(address(study, 1, "choice"), {"answer": "yes"}, headers=JSON)

    told = login(ada).post(work, {"action": "deal"}, follow=True).content.decode()
    assert "1 trial example is an item of the study now" in told
    page = login(ada).get(reverse("annotation:trial-examples", args=[study.uid])).content.decode()
    assert "1 example has become an item of this study since" in page
    assert "example 1 of 1" in login(cleo).get(address(study, 1)).content.decode()
    assert "example 1 of 2" in login(ben).get(address(study, 1)).content.decode()
    assert "trial example is" not in login(ada).post(work, {"action": "deal"}, follow=True).content.decode()
    assert study.trial_examples.count() == 2


def test_what_is_no_file_of_examples_is_refused_with_its_place() -> None:
    trial = kind_of("linking")
    for body, place in (
        ("[[set", "TOML"),
        ("set = 1", "[[set]]"),
        ('[[set]]\nquery = "Q"\nitem = []', "set[0].item"),
        (trial.file.read_text().replace("lines = [1]", "lines = [9]", 1), "insight[0].lines"),
        (trial.file.read_text().replace('coverage = "full"', 'coverage = "all"', 1), "coverage"),
    ):
        with pytest.raises(BadExamples, match=re.escape(place)):
            sets_in(trial, body)
