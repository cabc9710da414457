"""Pages of questions: what they show, to whom, at what cost, and that texts are text and never markup."""

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.schemas import long2rag
from benchmarks.models import Question
from benchmarks.web.pages import Mark, segments
from summhay_site.demo.cast import read
from tests.makers import flat, url
from tests.taking_in import import_questions

pytestmark = pytest.mark.django_db

TEXT = "Ice <b>stopped</b> the boats & Fog did so too."


def take(now: datetime, *lines: dict[str, Any], dataset: str = "long2rag") -> None:
    import_questions(long2rag.parse(lines), dataset=dataset, actor=None, now=now)


def line(**fields) -> dict[str, Any]:
    base = {
        "key": "q",
        "question": "Why <i>then</i>?",
        "documents": [{"key": "d", "title": "Winter", "text": TEXT}],
    }
    points = [
        {"text": "Ice.", "autods": 0.81, "spans": ["Ice <b>stopped</b> the boats", "Fog did su too."]},
        {"text": "Boats.", "spans": ["boats & Fog", "Rails were laid down"]},
    ]
    return base | {"key_points": points, "responses": [{"system": "m", "text": "<u>Cold.</u>"}]} | fields


def detail(question: Question) -> str:
    return url("question-detail", question.uid)


def body(client: Client, address: str, **headers) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.text


def test_a_set_is_listed_and_downloaded(now: datetime, as_ada) -> None:
    take(now, line())
    assert url("questions") in body(as_ada, url("questions"))
    assert as_ada.get(url("question-download", "long2rag")).status_code == 200


def test_passages_are_marked_where_they_are_and_no_text_becomes_markup(now: datetime, as_ada) -> None:
    take(now, line())
    html = flat(body(as_ada, detail(Question.objects.get())))
    assert '<span id="span-1-1"></span><mark>Ice &lt;b&gt;stopped&lt;/b&gt; the <sup>' in html
    assert '<span id="span-2-1"></span><mark>boats<sup>' in html, "a piece of its own where two passages overlap"
    assert "<b>" not in html
    assert "<i>then" not in html
    assert "&lt;u&gt;Cold" in html
    assert 'href="#span-1-2"' in html
    assert "93 % match" in html
    assert "Rails were laid down" in html
    assert "AutoDS 0.81" in html


def test_the_list_filters_searches_and_sorts_by_its_address(now: datetime, as_ada) -> None:
    take(now, *read("questions.jsonl"), dataset="demo")
    take(now, line(category="riddle"))
    address = url("questions")
    canals = Question.objects.get(key="canals").text

    def shown(query: str) -> list[str]:
        html = body(as_ada, f"{address}?{query}")
        return [row.text for row in Question.objects.all() if str(row.uid) in html]

    assert len(shown("")) == 11
    assert shown("dataset=demo&category=causal&domain=history") == [canals]
    assert shown("q=CANALS") == [canals]
    assert len(shown("category=riddle")) == 1
    assert shown("category=riddle&domain=history") == []
    assert "“none” is not in it" in as_ada.get(f"{address}?domain=none").text
    by_words = body(as_ada, address + "?sort=-words")
    longest, shortest = Question.objects.order_by("-n_words")[0], Question.objects.order_by("n_words")[0]
    assert by_words.index(str(longest.uid)) < by_words.index(str(shortest.uid))


def test_long_lists_come_in_pages_that_keep_the_filter(now: datetime, as_ada) -> None:
    take(now, *(line(key=number, category="causal") for number in range(101)))
    address = url("questions")
    first, second = body(as_ada, address + "?category=causal"), body(as_ada, address + "?category=causal&page=2")
    assert "?category=causal&amp;page=2" in first
    assert sum(str(row.uid) in first for row in Question.objects.all()) == 100
    assert sum(str(row.uid) in second for row in Question.objects.all()) == 1


def test_without_questions_the_list_says_how_they_come_in(as_ada) -> None:
    assert url("import-new") in body(as_ada, url("questions"))
    assert as_ada.get(url("question-download", "none")).status_code == 404


def test_pages_cost_the_same_queries_whatever_is_on_them(now: datetime, as_ada) -> None:
    take(now, line(key="small", key_points=[], responses=[]))
    take(now, *read("questions.jsonl"), dataset="demo")
    small, large = (detail(Question.objects.get(key=key)) for key in ("small", "canals"))
    body(as_ada, small)  # fills the caches of the site
    costs = []
    for address in (small, large, url("questions")):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            body(as_ada, address)
        costs.append(sum("benchmarks_" in query["sql"] for query in queries.captured_queries))
    assert costs == [6, 6, 7]


def test_pieces_of_overlapping_passages_know_all_their_key_points() -> None:
    pieces = segments(
        "abcdefgh", [Mark(1, 5, 1, "a"), Mark(3, 7, 2, "b"), Mark(3, 99, 1, "c"), Mark(20, 22, 3, "d")]
    )
    assert [(piece.text, piece.points, piece.anchors) for piece in pieces] == [
        ("a", (), ()),
        ("bc", (1,), ("a",)),
        ("de", (1, 2), ("b", "c")),
        ("fg", (1, 2), ()),
        ("h", (1,), ()),
    ]


@given(
    text=st.text(min_size=1, max_size=20),
    marks=st.lists(st.builds(Mark, st.integers(0, 25), st.integers(0, 25), st.integers(1, 3), st.just("a"))),
)
def test_pieces_are_the_whole_text_and_each_character_has_the_key_points_around_it(
    text: str, marks: list[Mark]
) -> None:
    pieces = segments(text, marks)
    assert "".join(piece.text for piece in pieces) == text
    told = [piece.points for piece in pieces for _ in piece.text]
    assert told == [
        tuple(sorted({mark.point for mark in marks if mark.start <= at < mark.end})) for at in range(len(text))
    ]
