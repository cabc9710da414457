"""The guidelines that a study starts from: the answers in the order of the page, in the reader's language."""

import re

import pytest
from django.urls import reverse
from django.utils.translation import override
from rapidfuzz import fuzz

from annotation.kinds import kind_named, label_kinds
from annotation.studies.guidelines import guideline_html, publish_guideline, translation_of
from benchmarks.web.pages import render_markdown
from summhay_site.demo.cast import read
from tests.annotation.tried import MAKERS
from tests.makers import label_task, make_linking_study

pytestmark = pytest.mark.django_db

CHOICE = re.compile(r'class="level"><input type="radio"[^>]* value="(\w+)"[^>]*>[^<]*<kbd>(.)</kbd>')
REASON_KEYS = "4567"
"""Of reasons, which only some studies ask for."""
NAMED = re.compile(r"<li><strong>(\w+)</strong> \(<code>(.)</code>\)")


@pytest.mark.parametrize("kind", ["linking", "validation", "verification"])
def test_default_guidelines_list_the_answers_as_the_page_does(kind: str, ben, as_ben) -> None:
    study = MAKERS[kind](ben)
    page = as_ben.get(f"/work/{kind}/{label_task(study, ben).uid}/").text
    on_the_page = list(dict.fromkeys(CHOICE.findall(page)))
    assert len(on_the_page) >= 3
    named = NAMED.findall(render_markdown(kind_named(kind).guidelines))
    in_the_text = [(word.lower(), key) for word, key in named if key not in REASON_KEYS]
    assert in_the_text == on_the_page


QUOTED = re.compile("“([^”]+)”")


def demo_subjects() -> list[str]:
    """The questions and queries of the demo, its key points and insights."""
    questions = read("questions.jsonl")
    subtopics = [subtopic for name in ("ferry.json", "repair.json") for subtopic in read(name)["subtopics"]]
    return [
        *(each["question"] for each in questions),
        *(point["text"] for each in questions for point in each["key_points"]),
        *(each["query"] for each in subtopics),
        *(insight["insight"] for each in subtopics for insight in each["insights"]),
    ]


@pytest.mark.parametrize("kind", sorted(label_kinds()))
def test_no_worked_example_of_the_guidelines_is_an_item_of_the_demo(kind: str) -> None:
    examples = [" ".join(quote.split()) for quote in QUOTED.findall(kind_named(kind).guidelines)]
    alike = [
        (example, subject)
        for subject in demo_subjects()
        for example in examples
        if fuzz.token_sort_ratio(example.lower(), subject.lower()) > 70
    ]
    assert alike == []


def test_a_study_with_our_guidelines_shows_them_in_german_with_the_english_text_below(ben, as_ben, now) -> None:
    study = make_linking_study(annotators=[ben])
    publish_guideline(study=study, body=kind_named("linking").guidelines, by=None, now=now)
    shown = as_ben.get(reverse("annotation:study-guidelines", args=[study.uid]), headers={"accept-language": "de"})
    html = shown.text
    assert "Gar nicht" in html
    assert "Dies ist eine Übersetzung" in html
    assert "None, partial, full" in html
    # Guidelines that somebody wrote stay as they are
    own = publish_guideline(study=study, body=kind_named("linking").guidelines + "\n\nMore.", by=None, now=now)
    sent = publish_guideline(
        study=study, body=kind_named("linking").guidelines.replace("\n", "\r\n"), by=None, now=now
    )
    with override("de"):
        assert translation_of(own) == ""
        assert "None, partial, full" in guideline_html(own)
        assert "Gar nicht" in translation_of(sent)
    with override("en"):
        assert translation_of(sent) == ""
