"""Examples of a trial that a study brings itself."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.exports.studies import files_of
from annotation.labelling.trial import BadExamples, current_of, known_from_items, save, sets_in
from annotation.models import Study
from tests.annotation.tried import JSON, KINDS, address, kind_of, make_study
from tests.makers import NOW, label_task

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


def save_own(client: Client, study: Study, body: str, replaces: str = "", **files):
    page = reverse("annotation:trial-examples", args=[study.uid])
    return client.post(page, {"body": body, "replaces": replaces, **files})


@pytest.mark.parametrize("kind", KINDS)
def test_built_in_examples_are_a_file_that_a_study_could_bring_and_none_is_an_item(
    kind: str, ben, cleo, ada, as_ada
) -> None:
    study, trial = make_study(kind, ben, cleo), kind_of(kind)
    study.researchers.add(ada)
    built_in = trial.file.read_text(encoding="utf-8")
    assert sets_in(trial, built_in) == trial.sets()
    assert known_from_items(trial, built_in, study) == {}
    assert save_own(as_ada, study, built_in, "1").status_code == 302
    assert "This study has" in as_ada.get(reverse("annotation:trial-examples", args=[study.uid])).text
    refused = save_own(as_ada, study, built_in.replace("why =", "wy =", 1))
    assert refused.status_code == 422
    assert "set[0].item[0]" in refused.text
    item = next(iter(filter(None, trial.texts_of_items(study))))
    first = trial.sets()[0][0]
    example = first.values["lines"][0] if kind == "rating" else next(iter(trial.texts(first)))
    told = save_own(
        as_ada, study, re.sub("decides = .*", "", built_in).replace(example, item.upper().replace('"', ""))
    )
    assert "This is an item of the study" in told.text
    assert study.trial_examples.count() == 1


def test_examples_of_its_own_come_first_or_instead_and_a_try_keeps_those_that_it_began_with(
    ben, as_ben, cleo, as_cleo, ada, as_ada
) -> None:
    study = make_study("validation", ben, cleo, share="1")
    study.researchers.add(ada)
    assert save_own(as_ada, study, "", file=SimpleUploadedFile("own.toml", OWN.encode())).status_code == 302
    page = as_ben.get(address(study, 1)).text
    assert "Sonntags öffnet das Bad um neun." in page
    assert "example 1 of 1" in page
    told = as_ben.post(address(study, 1, "choice"), {"answer": "no"}, headers=JSON).json()["feedback"]
    assert "zweiten Hälfte" in told
    save_own(as_ada, study, OWN.replace("neun", "zehn"), "1")
    assert "um neun" in as_ben.get(address(study)).text + as_ben.get(address(study, 1)).text
    as_ben.post(reverse("annotation:trial-again", args=[study.uid]))
    assert "Sonntags öffnet das Bad um zehn." in as_ben.get(address(study, 1)).text
    save_own(as_ada, study, "")
    assert current_of(study) is None
    assert "example 1 of 3" in as_cleo.get(address(study, 1)).text
    assert sum(file.name.startswith("trial-examples/") for file in files_of(study, now=NOW)) == 2
    study.delete()


def test_an_example_that_becomes_an_item_is_left_out_of_new_tries_and_the_researcher_is_told(
    ben, as_ben, cleo, as_cleo, ada, as_ada
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
    assert "example 1 of 2" in as_ben.get(address(study, 1)).text
    as_ben.post(address(study, 1, "choice"), {"answer": "yes"}, headers=JSON)

    told = as_ada.post(work, {"action": "deal"}, follow=True).text
    assert "1 trial example is an item of the study now" in told
    page = as_ada.get(reverse("annotation:trial-examples", args=[study.uid])).text
    assert "1 example has become an item of this study since" in page
    assert "example 1 of 1" in as_cleo.get(address(study, 1)).text
    assert "example 1 of 2" in as_ben.get(address(study, 1)).text
    assert "trial example is" not in as_ada.post(work, {"action": "deal"}, follow=True).text
    assert study.trial_examples.count() == 2


@pytest.mark.parametrize("kind", ["rating", "verification"])
def test_what_else_a_file_says_of_a_document_is_left_out(kind: str, ben, as_ben, cleo, ada, as_ada) -> None:
    study = make_study(kind, ben, cleo)
    study.researchers.add(ada)
    more = '[[set.document]]\nnumber = "seven"\nurl = "https://example.org"\n'
    body = kind_of(kind).file.read_text(encoding="utf-8").replace("[[set.document]]\n", more)
    assert save_own(as_ada, study, body, "1").status_code == 302
    assert 'id="doc-1"' in as_ben.get(address(study, 1)).text


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
