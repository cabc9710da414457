"""What researchers ask of a study is answered within two clicks from its overview."""

import re
from html import unescape
from urllib.parse import urljoin

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from annotation.models import CoverageLabel, Study
from benchmarks.models import Summary, Verdict
from tests.makers import NOW, annotator_of, flat, make_haystack, make_linking_study, make_summary
from tests.makers_recall import make_judge

pytestmark = pytest.mark.django_db

QUESTIONS = {
    "When is it finished?": ((), "Expected finish"),
    "What is disputed?": (("Results", "Disagreements"), "Decide the next"),
    "Who is slow?": ((), "Per summary"),
    "Which judge is best?": (("Results", "Judges"), "words agrees with people: Pearson"),
    "Is a judge biased?": (("Results", "Bias"), "Length: "),
    "What does a run cost?": (("How many more, and what it costs",), "Cost of people and models"),
    "May a judge replace people?": (("Results", "May a judge replace people?"), "absolute"),
    "What does an item cost?": (("How many more, and what it costs",), "An item costs "),
    "Is A better than B?": (("Leaderboard", "alpha"), "Compare"),
    "How many more labels?": (("How many more, and what it costs",), "half the 95 % interval"),
}
"""Each with the links that one follows, by their words, and what is on the page that they lead to."""


def links_of(html: str) -> list[tuple[str, str]]:
    """(words, address) of the links of a page."""
    found = re.findall(r'<a\b[^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html, flags=re.DOTALL)
    return [(flat(re.sub(r"<[^>]+>", "", words)).strip(), unescape(address)) for address, words in found]


def follow(client: Client, address: str, words: str) -> tuple[str, str]:
    html = client.get(address, follow=True).text
    known = links_of(html[html.index("<main") :]) + links_of(html)  # what the page itself says first
    [target, *_] = [urljoin(address, to) for said, to in known if said == words] or [""]
    assert target, f"no link “{words}” on {address}: {sorted({said for said, _to in known})}"
    response = client.get(target, follow=True)
    assert response.status_code == 200
    return target, response.text


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    haystack = make_haystack(golds=(((1, 2), (2, 3)), ((1, 4), (5, 6))))
    for subtopic in haystack.subtopics.all():
        for name in ("alpha", "beta", "gamma"):
            make_summary(subtopic=subtopic, system=name)
    made = make_linking_study(
        annotators=[ben, cleo], summaries=Summary.objects.all(), researcher=ada, people_per_item=2
    )
    for item in made.label_items.select_related("summary__subtopic"):
        for at, insight in enumerate(item.summary.subtopic.insights.order_by("number")):
            for person in (ben, cleo):
                is_full = person == ben or at == 0
                CoverageLabel.objects.create(
                    study=made, annotator=annotator_of(person), summary=item.summary, insight=insight, made_at=NOW,
                    op_id=f"{person.pk}-{item.pk}-{at}", coverage="full" if is_full else "none",
                    lines=[3] if is_full else [], is_linked=is_full, is_complete=True,
                )  # fmt: skip
    made.label_tasks.update(
        state="done", n_answered=F("n_questions"), active_ms=240_000, begun_at=NOW, done_at=NOW
    )
    judge = make_judge("words")
    for label in CoverageLabel.objects.filter(study=made, annotator=annotator_of(ben)):
        Verdict.objects.create(
            judge=judge, summary=label.summary, insight=label.insight, lines=[3], is_linked=True,
            coverage="full" if label.insight.number == 1 else "partial", created_at=NOW,
        )  # fmt: skip
    return made


@pytest.mark.parametrize("question", QUESTIONS)
def test_ten_questions_are_answered_within_two_clicks(question: str, study: Study, as_ada) -> None:
    clicks, answer = QUESTIONS[question]
    assert len(clicks) <= 2
    address = reverse("annotation:study", args=[study.uid])
    html = as_ada.get(address).text
    for words in clicks:
        address, html = follow(as_ada, address, words)
    assert answer in flat(html)
