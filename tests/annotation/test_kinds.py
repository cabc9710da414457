"""A kind of study that is one file, or a folder with its models, and one line has every page that any kind has."""

import io
import os
import subprocess
import sys
import zipfile

import pytest
from django.conf import settings
from django.urls import reverse

from annotation import kinds
from annotation.models import Study
from tests.annotation.toy_kind import KIND
from tests.makers import annotator_of, give_consent, make_haystack, make_summary
from tests.running import csv_rows


def url(name: str, study: Study, *more) -> str:
    return reverse(f"annotation:{name}", args=[study.uid, *more])


def test_two_kinds_of_one_name_are_refused() -> None:
    class Again(kinds.StudyKind):
        value = "linking"
        label = "again"

    with pytest.raises(ValueError, match="two kinds"):
        kinds.register(Again())


@pytest.mark.usefixtures("grading")
def test_a_toy_kind_is_set_up_worked_on_copied_and_deleted(ada, ben, as_ben, cleo, eve, login) -> None:
    subtopic = make_haystack().subtopics.get(number=1)
    summaries = [make_summary(subtopic=subtopic, system=letter) for letter in "abcd"]
    client = login(ada)
    assert "New grading study" in client.get(reverse("annotation:recipes")).content.decode()

    create = reverse("annotation:study-create", args=["grading"])
    shown = client.get(create).content.decode()
    assert "People for each summary" in shown
    assert "Be fair." in shown
    assert "Set up and open" in shown
    data = {
        "name": "Grades",
        "hourly_rate": "30",
        "currency": "EUR",
        "people_per_item": "2",
        "summaries": [summary.pk for summary in summaries[:3]],
        "annotators": [annotator_of(ben).pk],
        "guidelines": "Grade.",
    }
    assert client.post(create, {**data, "people_per_item": "0"}).status_code == 422
    answer = client.post(create, data)
    study = Study.objects.get(name="Grades")
    assert answer.headers["Location"] == url("study", study)
    assert (study.kind, study.get_kind_display(), study.label_tasks.count()) == ("grading", KIND.label, 3)

    renamed = {"name": "Marks", "hourly_rate": "30", "currency": "EUR"}
    assert client.post(url("study-settings", study), renamed).status_code == 302
    people = client.get(url("study-annotators", study)).content.decode()
    assert "3 items have fewer people than planned." in people
    assert people.count("Add and assign") == 2
    client.post(url("study-annotators", study), {"action": "people", "annotators": [annotator_of(cleo).pk]})
    client.post(url("study-annotators", study), {"action": "items", "summaries": [summaries[3].pk]})
    assert study.label_tasks.count() == 8
    client.post(url("study-state", study), {"action": "open"})
    overview = client.get(url("study", study)).content.decode()
    for words in ("Marks", "Summaries", "Close the study", "Grades, CSV", "30.00 EUR"):
        assert words in overview

    give_consent(ben)
    assert "4 left, about 8 min" in as_ben.get(reverse("annotation:work")).content.decode()
    client = login(ada)
    labels = client.get(url("study-labels", study, "csv")).getvalue().decode()
    assert len(csv_rows(labels)) == 8
    with zipfile.ZipFile(io.BytesIO(client.get(url("study-archive-file", study)).getvalue())) as archive:
        assert archive.read("marks/labels.csv").decode() == labels
    client.post(url("annotator-remove", study, annotator_of(cleo).uid), {"reason": "moved"})
    assert study.label_tasks.count() == 4

    client.post(url("study-clone", study), {"name": "Again", "with_annotators": "on"})
    copy = Study.objects.get(name="Again")
    assert (copy.state, copy.linking_plan.people_per_item, copy.guidelines.get().body) == ("draft", 2, "Grade.\n")
    assert [member.annotator for member in copy.memberships.all()] == [annotator_of(ben)]
    assert "Choose what is to be labelled." in client.get(url("study", copy)).content.decode()
    assert client.get(f"{create}?from={copy.uid}").context["form"]["name"].value() == "Again (copy)"

    for doomed in (study, copy):
        assert client.post(url("study-delete", doomed)).status_code == 302
    assert not Study.objects.exists()


@pytest.mark.needs("papers")
def test_a_kind_needs_its_folder_alone() -> None:
    proof = "tests/annotation/preference/proof.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", proof]
    done = subprocess.run(
        [*command, "--ds=tests.annotation.preference.settings"],
        cwd=settings.BASE_DIR,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
