"""All that a kind has by its folder: pages, answers, results, archive out and in, demo, privacy."""

import zipfile
from pathlib import Path

import pytest
from django.urls import reverse

from annotation.models import Study
from summhay_site.demo import player
from summhay_site.privacy import all_held
from tests.annotation.preference.kind import KIND
from tests.annotation.preference.models import PreferenceLabel
from tests.makers import NOW, annotator_of, give_consent, make_haystack, make_summary
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db


def url(name: str, *args) -> str:
    return reverse(f"annotation:{name}", args=args)


def test_a_kind_is_complete_by_its_folder(as_ada, ben, cleo, login, tmp_path: Path) -> None:
    subtopic = make_haystack().subtopics.get(number=1)
    summaries = [make_summary(subtopic=subtopic, system=letter) for letter in "abc"]
    data = {"name": "Pairs", "hourly_rate": "30", "currency": "EUR", "people_per_item": "2",
            "guidelines": "Choose.", "summaries": [row.pk for row in summaries],
            "annotators": [annotator_of(ben).pk, annotator_of(cleo).pk]}  # fmt: skip
    assert as_ada.post(url("study-create", KIND.value), data).status_code == 302
    study = Study.objects.get(name="Pairs")
    assert "Pairs" in as_ada.get(url("study", study.uid)).text
    as_ada.post(url("study-state", study.uid), {"action": "open"})

    for person in (ben, cleo):
        give_consent(person)
        worker = login(person)
        for number, task in enumerate(study.label_tasks.filter(annotator=annotator_of(person)).order_by("item")):
            page = url("label-task", KIND.value, task.uid)
            assert "Which do you prefer?" in worker.get(page).text
            choice = "tie" if number == 2 and person == cleo else "first"
            sent = {"choice": choice, "op_id": f"act-{number}"}
            assert worker.post(url("label-choice", KIND.value, task.uid), sent).status_code in {200, 302}
    assert PreferenceLabel.objects.for_figures().count() == 6

    assert "Randolph" in as_ada.get(url("study-figures", study.uid)).text
    before = json_of("report", "results", "--study", "Pairs")
    assert before["questions"]["preference"]["people"]["percent"] == pytest.approx(2 / 3)

    archive = tmp_path / "pairs.zip"
    output_of("export_study", "--study", "Pairs", "--out", archive)
    with zipfile.ZipFile(archive) as files:
        texts = [files.read(name).decode() for name in files.namelist() if name.endswith(".md")]
    assert any("which of two summaries they prefer" in text for text in texts)
    PreferenceLabel.objects.all().delete()
    study.delete()
    output_of("import_dataset", "archive", archive)
    again = Study.objects.get(name="Pairs")
    assert (again.kind, again.preference_plan.people_per_item) == (KIND.value, 2)
    after = json_of("report", "results", "--study", "Pairs")
    assert after["questions"]["preference"]["people"]["percent"] == pytest.approx(2 / 3)


def test_people_of_the_demo_play_it(ada, ben, cleo) -> None:
    haystack = make_haystack()
    for letter in "abcd":
        make_summary(subtopic=haystack.subtopics.get(number=1), system=letter)
    about = {"dataset": haystack.dataset, "n": [4, 0], "seed": 1}
    player.set_up(
        kind=KIND.value, name="Played", description="", plan={}, about=about, people=["ben", "cleo"], now=NOW
    )
    rates = {"first": 0.1, "seconds": 5}
    player.label(study="Played", people={"ben": rates, "cleo": rates}, now=NOW)
    assert PreferenceLabel.objects.for_figures().count() == 8


def test_what_it_holds_of_people_is_declared() -> None:
    assert PreferenceLabel in {held.model for held in all_held()}
