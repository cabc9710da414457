"""Scores of earlier rules keep their versions, and what was shown by them is named with the version."""

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from benchmarks.engine import retrieving, summarizing, versions
from benchmarks.engine.summarizing import Source
from benchmarks.models import Retrieval, RetrieverRanking, System
from benchmarks.retrieval.base import version_of
from benchmarks.retrieval.registry import make
from tests.makers import make_haystack

pytestmark = pytest.mark.django_db
STEP = import_module("benchmarks.migrations.0002_release_0_3_0")
EARLIER = "609c279f1505"


def test_earlier_scores_stay_beside_new_ones_and_systems_are_named_by_their_rules() -> None:
    now, haystack = timezone.now(), make_haystack()
    judge, subtopics = versions.extractive(now=now), list(haystack.subtopics.select_related("haystack"))
    Retrieval.objects.create(
        haystack=haystack, retriever="keywords", version=EARLIER, settings={}, state="done", created_at=now
    )
    for subtopic in subtopics:
        RetrieverRanking.objects.create(
            subtopic=subtopic, retriever="keywords", version=EARLIER, scores={"2": 1.0}, inputs_sha256="a" * 64
        )
    earlier = Source("keywords", EARLIER)
    drafts = summarizing.drafted(judge=judge, subjects=subtopics, shown=earlier, now=now)
    System.objects.update(retriever="keywords", key=f"keywords_{judge}")  # as the release before named it
    imported = System.objects.create(key="keywords_heron", summarizer="heron", retriever="keywords")

    STEP.name_rules(apps, None)
    assert Retrieval.objects.get().settings == {"with_subtopic": False, "words": "content"}
    system = drafts[0].system
    system.refresh_from_db()
    imported.refresh_from_db()
    assert (system.retriever, system.key) == (f"keywords@{EARLIER}", f"keywords@{EARLIER}_{judge}")
    assert (imported.retriever, imported.key) == ("keywords", "keywords_heron")
    retrieving.advance(
        uid=retrieving.request(haystack=haystack, retriever=make("keywords", {}), now=now, wake=False).uid,
        clock=timezone.now,
    )
    again = summarizing.drafted(judge=judge, subjects=subtopics, shown=earlier, now=now)
    fresh = summarizing.drafted(judge=judge, subjects=subtopics, shown=Source.named("keywords"), now=now)
    assert [draft.pk for draft in again] == [draft.pk for draft in drafts]
    assert (fresh[0].system.key, fresh[0].documents == drafts[0].documents) == (f"keywords_{judge}", False)
    assert RetrieverRanking.objects.filter(version=EARLIER).count() == 2
    assert version_of(make("keywords", {})) != EARLIER


def test_the_names_of_before_come_back_with_the_step_undone() -> None:
    haystack, now = make_haystack(), timezone.now()
    row = Retrieval.objects.create(
        haystack=haystack,
        retriever="bm25",
        version="5ff36ab51f1f",
        settings={"k1": 1.5, "b": 0.75},
        created_at=now,
    )
    STEP.name_rules(apps, None)
    STEP.forget_rules(apps, None)
    row.refresh_from_db()
    assert row.settings == {"k1": 1.5, "b": 0.75}
