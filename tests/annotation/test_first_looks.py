"""Pages of results answer first: what stands on them before anything is opened, as far as HTML shows it."""

import re
from html import unescape

import pytest
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.studies import lifecycle
from benchmarks.models import Haystack
from benchmarks.results.sheet import MOST_CARDS, Card, Cards, Fragment, Note, Section, first_look
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.little import ALL, MAKERS
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged, say
from tests.makers import NOW
from tests.makers_recall import make_judge, make_response
from tests.makers_recall import say as say_of_points

MOST_LINKS, MOST_WORDS, MOST_FIELDS = 25, 400, 1
HIDDEN = (
    r"<script.*?</script>",
    r"<svg.*?</svg>",
    r"<div popover.*?</div>",
    r"<details(?![^>]* open)(?:(?!<details).)*?</details>",
)


def before_anything_is_opened(html: str) -> str:
    """The main part of a page without what scripts, drawings, and closed folds hold."""
    main = html[html.index("<main") : html.index("</main>")]
    for pattern in HIDDEN:
        while (less := re.sub(pattern, "", main, flags=re.DOTALL)) != main:
            main = less
    return main


@pytest.mark.django_db
@pytest.mark.parametrize("view", ["people", "judges", "bias", "systems"])
def test_a_page_of_agreement_is_an_answer_four_cards_and_a_table(view: str, ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    assert_answers_first(reverse("annotation:study-figures", args=[study.uid]) + f"?view={view}", as_ada)


@pytest.mark.django_db
def test_a_validated_judge_is_an_answer_four_cards_and_a_table(ada, as_ada, ben, cleo) -> None:
    study = make_validation([ben, cleo], make_judged(), by=ada)
    for task in study.label_tasks.all():
        say(task, "yes")
    seen = assert_answers_first(reverse("annotation:study-figures", args=[study.uid]), as_ada)
    assert "People confirm 33.3 %" in seen
    assert "They agree with each other on 100.0 %" in seen


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "chosen"),
    [
        ("annotation:leaderboard", "haystack"),
        ("annotation:content-positions", "haystack"),
        ("annotation:study-figures", "domain"),
        ("benchmarks:recall", "dataset"),
    ],
)
def test_where_nothing_is_left_links_lead_to_what_has_data(address: str, chosen: str, ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    say_of_points(make_judge("owl"), make_response("q1", system="alpha", n_points=2), ["yes", "no"])
    empty = Haystack.objects.create(key="empty", title="Empty", created_at=NOW)
    page = reverse(address, args=[study.uid] if "study" in address else [])
    shown = as_ada.get(page, {chosen: empty.uid}).text
    [elsewhere] = re.findall(r'<p class="small" id="elsewhere">.*?</p>', shown, flags=re.DOTALL)
    first, *_others = re.findall(r'href="([^"]+)"', elsewhere)
    assert 'id="elsewhere"' not in (led := as_ada.get(page + unescape(first)).text)
    assert 'class="answer"' in led


def assert_answers_first(address: str, client) -> str:
    """A page has a sentence, at most four cards, and one table before anything is opened; return what is seen."""
    seen = before_anything_is_opened(client.get(address).text)
    assert seen.count('class="answer"') == 1
    assert seen.count('class="card"') <= MOST_CARDS
    assert seen.count("<table") == 1
    outside = re.sub(r"<table.*?</table>", "", seen, flags=re.DOTALL)
    assert len(re.findall(r"<a\s[^>]*href=", outside)) <= MOST_LINKS
    assert len(re.findall(r"<(?:select|textarea|input(?![^>]*hidden))", seen)) <= MOST_FIELDS
    assert len(re.sub(r"<[^>]+>", " ", seen).split()) <= MOST_WORDS
    return seen


@pytest.mark.django_db
@pytest.mark.parametrize("kind", MAKERS)
def test_results_of_a_closed_study_wait_for_nothing(
    kind: str, ada, as_ada, ben, cleo, settings, django_capture_on_commit_callbacks
) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    page = reverse(kind_named(study.kind).results_page, args=[study.uid])
    settings.RESULTS_AT_ONCE = False
    assert "are being computed" in as_ada.get(page).text
    with django_capture_on_commit_callbacks(execute=True):
        lifecycle.close_study(study=study, by=ada, now=NOW)
    kind_of_study = kind_named(study.kind)
    pages = [page, reverse(kind_of_study.study_page, args=[study.uid])]
    pages += (
        [reverse("annotation:study-plan", args=[study.uid])] if kind_of_study.results_of(study, "plan") else []
    )
    for page in pages:
        seen = as_ada.get(page).text
        assert "being computed" not in seen
        assert "being drawn" not in seen


def test_what_does_not_fit_the_first_look_is_folded() -> None:
    cards = Cards("all", tuple(Card(f"card-{at}", f"Card {at}", float(at)) for at in range(6)))
    answer, shown, more, reading = first_look("Six.", cards=cards, reading=["Read it."], prefix="x-")
    assert answer == Note("Six.", is_answer=True)
    assert isinstance(shown, Cards)
    assert [card.key for card in shown.first] == ["card-0", "card-1", "card-2", "card-3"]
    assert isinstance(more, Section)
    assert (more.key, more.is_folded) == ("x-more", True)
    [rest] = more.parts
    assert isinstance(rest, Fragment)
    assert [card.key for card in rest.context["cards"]] == ["card-4", "card-5"]
    assert reading == Section("x-reading", "How to read this", (Note("Read it."),), is_folded=True)


def test_without_figures_the_sentence_says_why() -> None:
    assert first_look("Nothing yet.") == (Note("Nothing yet.", is_empty=True),)
