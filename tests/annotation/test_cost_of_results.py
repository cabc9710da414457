"""Pages of results look up what workers stored: each asks the database at most 24 times, log-in included."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import kinds
from benchmarks.models import Haystack, Question
from tests.annotation.little import ALL, MAKERS, make_benchmarks

pytestmark = pytest.mark.django_db
MOST = 24
MOST_OF_ARCHIVE = 25
MOST_OF_BOARD = 20
"""Of an archive of a leaderboard, which is looked up once."""
MOST_OF_PLAN = 22
"""Waiting for its charts adds five where no worker draws them."""
PARTS = {
    "verification": ("verification-choosing", "verification-autods", "verification-dataset"),
    "linking": ("study-licences", "study-plan", "study-learning"),
}
"""Pages of results beside the first one, by the kind of study."""
BENCHMARKS = (
    "annotation:leaderboard",
    "annotation:content-positions",
    "annotation:position-experiments",
    "annotation:source-scores",
    "annotation:agreement",
    "annotation:latest",
    "benchmarks:recall",
    "benchmarks:extraction-recall",
    "benchmarks:judges",
)


def assert_cheap(client: Client, address: str, *, most: int = MOST) -> str:
    """Open a page for the second time; returns what it holds."""
    assert client.get(address).status_code == 200, address
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    told = "\n".join(query["sql"][:200] for query in queries)
    assert len(queries) <= most, f"{address} asks {len(queries)} times:\n{told}"
    return answer.content.decode()


def linked(page: str, start: str) -> str:
    """The first link of a page that begins so, and does not lead to a file."""
    found = (unescape(one) for one in re.findall(r'href="([^"]*)"', page))
    return next(one for one in found if one.startswith(start) and "." not in one.split("?")[0])


@pytest.mark.parametrize("kind", MAKERS)
def test_results_of_a_study_are_looked_up(kind: str, ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    study, client = MAKERS[kind](ALL, ada, (ben, cleo)), login(ada)
    page = assert_cheap(client, reverse(kinds.kind_named(study.kind).results_page, args=[study.uid]))
    for name in PARTS.get(kind, ()):
        most = MOST_OF_PLAN if name == "study-plan" else MOST
        assert_cheap(client, reverse(f"annotation:{name}", args=[study.uid]), most=most)
    if kind == "writing":
        session = assert_cheap(client, linked(page, "/sessions/"))
        assert_cheap(client, linked(session, "/sessions/"))
    # What its methods section says:
    assert_cheap(client, reverse("annotation:study-archive", args=[study.uid]), most=MOST_OF_ARCHIVE)


def test_results_of_benchmarks_are_looked_up(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    make_benchmarks(ALL, (ben, cleo))
    client = login(ada)
    for name in BENCHMARKS:
        assert_cheap(client, reverse(name))
    board = assert_cheap(client, f"{reverse('annotation:leaderboard')}?paper=1")
    assert_cheap(client, linked(board, "/leaderboard/insights/?a="))
    assert_cheap(client, reverse("annotation:leaderboard-archive"), most=MOST_OF_BOARD)
    assert_cheap(client, f"{reverse('benchmarks:recall')}?dataset={Question.objects.all()[0].dataset}")
    for haystack in Haystack.objects.all():
        assert_cheap(client, reverse("benchmarks:retriever-list", args=[haystack.uid]))


def test_labels_of_a_dataset_are_looked_up(ada: Any, ben: Any, cleo: Any, login: Any) -> None:
    MAKERS["linking"](ALL, ada, (ben, cleo))
    Haystack.objects.update(dataset="harbour")
    assert_cheap(login(ada), f"{reverse('annotation:agreement')}?dataset=harbour")
