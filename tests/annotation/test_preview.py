"""Researchers see the page of annotators before anybody works on it, in every kind of study.

Nothing is kept but that they have seen the insights of a haystack, on which they cannot write then.
"""

import json
import re

import pytest
from django.apps import apps
from django.urls import reverse

from annotation.models import Study
from tests.annotation.points import make_points_study
from tests.annotation.test_validation import make, make_judged
from tests.makers import label_task, label_url, make_haystack, make_linking_study, make_writing_study

ANSWERS = {"verification": {"grounded": "no"}, "validation": {"answer": "yes"}, "linking": {"coverage": "none"}}
SHOWN = {"verification": "Key point", "validation": "Point", "linking": "The pier opens", "writing": "In part 1"}


def make_study(kind: str, researcher, person) -> Study:
    """A study of this kind, of which the first item is the one of `SHOWN`."""
    if kind == "writing":
        return make_writing_study(researcher=researcher, annotators=[person], state="draft")
    if kind == "linking":
        study = make_linking_study(researcher=researcher, annotators=[person], haystack=make_haystack())
    elif kind == "verification":
        study = make_points_study(annotators=[person])
    else:
        study = make([person], make_judged(), by=researcher)
    study.researchers.add(researcher)
    Study.objects.filter(pk=study.pk).update(state="draft")
    return study


def stored() -> dict[str, int]:
    """How many rows of each table there are."""
    labels = ("annotation", "benchmarks", "sessions")
    models = [
        model for label in labels if apps.is_installed(label) for model in apps.get_app_config(label).get_models()
    ]
    return {model.__name__: model._default_manager.count() for model in models}


def item_url(study: Study, number: int = 1) -> str:
    return reverse("annotation:study-preview-item", args=[study.uid, number])


@pytest.mark.parametrize("kind", list(SHOWN))
def test_the_page_shows_an_item_and_takes_what_it_sends_and_nothing_is_stored(kind: str, ada, as_ada, ben) -> None:
    study = make_study(kind, ada, ben)
    before = stored()
    first = as_ada.get(reverse("annotation:study-preview", args=[study.uid]))
    assert first.headers["Location"] == item_url(study)
    page = as_ada.get(item_url(study)).text
    assert SHOWN[kind] in page
    assert "Nothing you enter is kept." in page
    assert reverse("annotation:study", args=[study.uid]) in page
    assert "/work/studies/" not in page
    assert page.count("data-tour-step=") >= 9
    assert page.count("data-tour-start") == 1  # in the guidelines: a preview offers no tour by itself
    found = re.search(r'data-config="([^"]+)"', page)
    assert found
    config = json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&"))
    acts = {name: url for name, url in config["urls"].items() if name != "login"}
    assert all(url.startswith(f"/studies/{study.uid}/") for url in acts.values())
    for name, url in acts.items():
        if url.endswith(f"/{name}/") or "?t=" in url:
            data = {
                **ANSWERS.get(kind, {}),
                **_question(kind, page),
                "base_rev": 4,
                "text": "- mine [1]",
                "tab_id": "t",
            }
            sent = (
                as_ada.post(url, json.dumps(data), content_type="application/json") if kind == "writing" else None
            )
            answer = sent or as_ada.post(url, {**data, "reason": "odd"})
            assert answer.status_code == 200, (name, answer.content)
            if name == "choice":
                assert answer.json()["is_complete"]
            if name == "draft":
                assert (answer.json()["rev"], answer.json()["state"]) == (5, "running")
    assert stored() == before | {"Exposure": before["Exposure"] + (kind == "linking")}


def _question(kind: str, page: str) -> dict[str, str]:
    found = re.search(r'name="question" value="([^"]+)"', page)
    return {"question": found[1]} if kind == "linking" and found else {}


def test_an_answer_that_would_be_refused_is_refused_here_too(ada, as_ada, ben) -> None:
    study = make_study("verification", ada, ben)
    url = reverse("annotation:study-preview-act", args=[study.uid, 1, "choice"])
    answer = as_ada.post(url, {"grounded": "perhaps"})
    assert answer.status_code in {400, 409}
    assert answer.json()["message"]
    assert as_ada.get(url).status_code == 404
    assert as_ada.post(url.replace("choice", "anything")).status_code == 404
    # The items can be walked through and lead back to the study
    n = study.label_items.count()
    assert item_url(study, 2) in as_ada.get(item_url(study)).text
    last = as_ada.get(item_url(study, n)).text
    assert item_url(study, n - 1) in last
    assert as_ada.get(item_url(study, n + 1)).status_code == 404
    jump = as_ada.get(reverse("annotation:study-preview", args=[study.uid]), {"n": "999"})
    assert jump.headers["Location"] == item_url(study, n)


def test_a_study_without_items_says_that_there_is_nothing_to_see(ada, as_ada) -> None:
    study = make_writing_study(researcher=ada, state="draft")
    study.writing_plan.subtopics.clear()
    page = as_ada.get(reverse("annotation:study-preview", args=[study.uid]), follow=True).text
    assert "There is nothing to preview yet" in page


def test_a_tour_is_offered_where_annotators_work_and_can_be_started_from_the_guidelines(ben, as_ben) -> None:
    study = make_points_study(annotators=[ben])
    page = as_ben.get(label_url("label-task", label_task(study, ben))).text
    assert "data-tour-offer" in page
    assert page.count("data-tour-start") == 2
