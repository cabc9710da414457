"""Haystacks out of the database and in again."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Exposure
from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Haystack, Summary, System, Verdict
from tests.makers import url
from tests.makers_topic import topic_json
from tests.taking_in import import_topic

pytestmark = pytest.mark.django_db


def imported(value: dict[str, Any], now: datetime) -> Haystack:
    import_topic(value, now=now)
    return Haystack.objects.get(key=value["topic_id"])


def test_what_comes_out_is_what_went_in(now: datetime) -> None:
    topic = summhay.parse(io.BytesIO(json.dumps(topic_json()).encode()), name="topic_harbour")
    import_topic(topic, actor=None, now=now)
    assert topic_of(Haystack.objects.get()) == topic


def test_probabilities_come_out_as_they_went_in(now: datetime) -> None:
    value = topic_json(n_subtopics=1)
    judged = value["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"]
    judged[0]["probabilities"] = {"none": 0.25, "partial": 0.5, "full": 0.25}
    haystack = imported(value, now)
    stored = [row.probabilities for row in Verdict.objects.filter(summary__haystack=haystack)]
    assert [one for one in stored if one is not None] == [(0.25, 0.5, 0.25)]
    printed = json.loads(b"".join(summhay.dump(topic_of(haystack))))
    again = printed["subtopics"][0]["eval_summaries"]["summary_subtopic_model-a"]
    assert again[0]["probabilities"] == judged[0]["probabilities"]
    assert all("probabilities" not in row for row in again[1:])


def test_a_title_is_shown_without_marks_of_markdown_and_exported_with_them(now: datetime, as_ada) -> None:
    value = topic_json()
    value["topic"] = "**The rebuilding** of a *small* harbour"
    value["documents"][0]["title"] = "**Minutes** of the council"
    haystack = imported(value, now)
    address = url("haystack-detail", haystack.uid)
    for page in (as_ada.get(url("corpora")), as_ada.get(address)):
        assert "The rebuilding of a small harbour" in page.text
        assert "**" not in page.text
    assert "Minutes of the council" in as_ada.get(address).text
    topic = topic_of(haystack)
    assert (topic.title, topic.documents[0].title) == (value["topic"], value["documents"][0]["title"])
    assert "source_title" not in topic.metadata
    report = import_topic(topic, actor=None, now=now)
    assert not report.created
    assert not report.updated
    value["topic"] = "Plain"
    assert topic_of(imported(value, now)).title == "Plain"


def test_the_published_file_comes_out_as_it_went_in(published: Path, now: datetime) -> None:
    topic = summhay.parse(published / "topic_news1.json")
    import_topic(topic, actor=None, now=now)
    assert topic_of(Haystack.objects.get()) == topic


def test_importing_an_export_changes_nothing_and_elsewhere_makes_the_same(now: datetime, as_ada) -> None:
    haystack = imported(topic_json(), now)
    response = as_ada.get(url("haystack-download", haystack.uid))
    assert response["Content-Disposition"] == 'attachment; filename="topic_harbour.json"'
    again = summhay.parse(io.BytesIO(b"".join(response.streaming_content)), name="other")
    report = import_topic(again, actor=None, now=now)
    assert not any(report.created.values())
    assert not any(report.updated.values())
    version = haystack.content_sha256
    haystack.delete()
    import_topic(again, actor=None, now=now)
    assert Haystack.objects.get().content_sha256 == version


def test_a_download_is_an_exposure(now: datetime, ada, as_ada) -> None:
    haystack = imported(topic_json(), now)
    as_ada.get(url("haystack-download", haystack.uid))
    assert Exposure.objects.filter(user=ada, haystack=haystack).count() == 1


def test_what_people_wrote_stays_out(now: datetime) -> None:
    haystack = imported(topic_json(), now)
    person = System.objects.create(key="people", kind="human", summarizer="people")
    subtopic = haystack.subtopics.get(number=1)
    Summary.objects.create(
        subtopic=subtopic, haystack=haystack, system=person, origin="session", text="- Mine.", text_sha256="x",
        created_at=now,
    )  # fmt: skip
    assert "people" not in {system.key for system in topic_of(haystack).systems}


def test_the_number_of_queries_does_not_grow(
    now: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small = imported(topic_json(key="small", n_documents=4, n_subtopics=1), now)
    large = imported(topic_json(key="large", n_documents=40, n_subtopics=6), now)
    for haystack in (small, large):
        with django_assert_num_queries(6):
            topic_of(haystack)
