"""Pages of results look up what workers stored: each asks the database at most 24 times, log-in included."""

import re
from html import unescape

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import kinds
from annotation.models import LinkingPlan, Session
from benchmarks.models import Haystack, Question, Result
from tests.annotation.little import ALL, MAKERS, make_benchmarks

pytestmark = pytest.mark.django_db
MOST = 24
MOST_OF_ARCHIVE = 26
MOST_OF_BOARD = 20
"""Of an archive of a leaderboard, which is looked up once."""
MOST_OF_OVERVIEW = 20
"""With its figures, and while it waits for them."""
MOST_OF_PLAN = 22
"""Waiting for its charts adds five where no worker draws them."""
PARTS = {
    "verification": ("verification-choosing", "verification-autods", "verification-dataset"),
    "linking": ("study-approvals", "study-plan", "study-learning"),
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
def test_results_of_a_study_are_looked_up(kind: str, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    if not kind.startswith("external"):
        assert_cheap(as_ada, reverse("annotation:study", args=[study.uid]), most=MOST_OF_OVERVIEW)
    page = assert_cheap(as_ada, reverse(kinds.kind_named(study.kind).results_page, args=[study.uid]))
    for name in PARTS.get(kind, ()):
        most = MOST_OF_PLAN if name == "study-plan" else MOST
        assert_cheap(as_ada, reverse(f"annotation:{name}", args=[study.uid]), most=most)
    if kind == "writing":
        assert_cheap(as_ada, linked(assert_cheap(as_ada, linked(page, "/sessions/")), "/sessions/"))
    # What its methods section says:
    assert_cheap(as_ada, reverse("annotation:study-archive", args=[study.uid]), most=MOST_OF_ARCHIVE)


@pytest.mark.parametrize("kind", ["writing", "linking"])
def test_an_overview_that_waits_for_its_figures_is_cheap(kind: str, ada, as_ada, ben, cleo, settings) -> None:
    study = MAKERS[kind](ALL, ada, (ben, cleo))
    LinkingPlan.objects.update(asks_unlinked=True)
    if kind == "linking":
        study.label_items.filter(pk=study.label_items.first().pk).update(role="gold", is_overlap=True)
    study.label_tasks.update(state="done", n_answered=F("n_questions"), done_at=timezone.now())
    Session.objects.update(ended_at=timezone.now())
    address = reverse("annotation:study", args=[study.uid])
    settings.RESULTS_AT_ONCE = False
    assert "done-by-day" in assert_cheap(as_ada, address, most=MOST_OF_OVERVIEW)
    assert all(row.figures is None for row in Result.objects.all())


def test_results_of_benchmarks_are_looked_up(as_ada, ben, cleo) -> None:
    make_benchmarks(ALL, (ben, cleo))
    for name in BENCHMARKS:
        assert_cheap(as_ada, reverse(name))
    board = assert_cheap(as_ada, f"{reverse('annotation:leaderboard')}?paper=1")
    assert_cheap(as_ada, linked(board, "/leaderboard/insights/?a="))
    assert_cheap(as_ada, reverse("annotation:leaderboard-archive"), most=MOST_OF_BOARD)
    assert_cheap(as_ada, f"{reverse('benchmarks:recall')}?dataset={Question.objects.all()[0].dataset}")
    for haystack in Haystack.objects.all():
        assert_cheap(as_ada, reverse("benchmarks:retriever-list", args=[haystack.uid]))


def test_labels_of_a_dataset_are_looked_up(ada, as_ada, ben, cleo) -> None:
    MAKERS["linking"](ALL, ada, (ben, cleo))
    Haystack.objects.update(dataset="harbour")
    assert_cheap(as_ada, f"{reverse('annotation:agreement')}?dataset=harbour")
