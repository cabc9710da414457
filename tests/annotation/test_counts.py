"""Counts that several pages give, or that are found on several ways, are counted once and alike."""

from datetime import datetime

from django.urls import reverse

from annotation.linking import disputes
from annotation.studies.overview import Card
from benchmarks.corpora import archiving as corpora
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import make_assignment, make_session, make_writing_study


def test_what_stands_on_a_haystack_counts_once(ada, login, now: datetime) -> None:
    summaries = make_summaries()
    study = make_labelled_study(summaries=summaries, researcher=ada)
    for insight in summaries[0].subtopic.insights.all():
        disputes.adjudicate(
            study=study, summary=summaries[0], insight=insight, coverage="none", lines=[], note="", by=ada, now=now
        )
    counts = {row.label: row.count for row in corpora.obstacles(summaries[0].haystack)}
    assert counts["coverage adjudications"] == 3


def test_imported_labels_say_on_how_many_summaries_they_are(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(n=12), researcher=ada)
    page = as_ada.get(reverse("annotation:study", args=[study.uid]))
    assert page.context["overview"].cards[0] == Card("Summaries", 12)
    assert '<div class="figure-value">0 / 0</div>' not in page.content.decode()


def test_a_pause_that_goes_on_is_one(ada, as_ada, ben) -> None:
    task = make_assignment(study=make_writing_study(researcher=ada), annotator=ben, state="started")
    session = make_session(assignment=task, state="paused", revisions=[(60_000, "- Boats. [1]")])
    page = as_ada.get(reverse("annotation:session-results", args=[session.uid])).content.decode()
    assert "1 pause ·" in page
    assert "Paused now" in page
