"""Pages of results answer first: what stands on them before anything is opened, as far as HTML shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from benchmarks.results.sheet import MOST_CARDS, Card, Cards, Fragment, Note, Section, first_look
from tests.annotation.labelled import make_labelled_study, make_summaries

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
def test_a_page_of_agreement_is_an_answer_four_cards_and_a_table(view: str, ada: Any, login: Any) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    address = reverse("annotation:study-figures", args=[study.uid])
    seen = before_anything_is_opened(login(ada).get(address, {"view": view}).text)
    assert seen.count('class="answer"') == 1
    assert seen.count('class="card"') <= MOST_CARDS
    assert seen.count("<table") == 1
    outside = re.sub(r"<table.*?</table>", "", seen, flags=re.DOTALL)
    assert len(re.findall(r"<a\s[^>]*href=", outside)) <= MOST_LINKS
    assert len(re.findall(r"<(?:select|textarea|input(?![^>]*hidden))", seen)) <= MOST_FIELDS
    assert len(re.sub(r"<[^>]+>", " ", seen).split()) <= MOST_WORDS


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
