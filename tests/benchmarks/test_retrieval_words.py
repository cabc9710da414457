"""Pages say in words which documents a system was shown; published files keep their names."""

import re
from datetime import datetime

import pytest
from django.urls import reverse

from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack, Judge, Retrieval, System, Verdict
from tests.makers import NOW, make_haystack, make_summary, url


def run(haystack: Haystack, retriever: str, version: str, now: datetime, **settings: object) -> str:
    """Store a retriever that was run here, and give its reference."""
    row = Retrieval.objects.create(
        haystack=haystack, retriever=retriever, version=version, settings=settings, state="done", created_at=now
    )
    return f"{row.retriever}@{row.version}"


def test_orders_of_all_documents_say_where_the_gold_is() -> None:
    assert names_of(["full-ctxt", "fl-ctxt-sort", "fl-ctxt-rev-sort", "fl-ctxt-middle"]) == {
        "full-ctxt": "all documents",
        "fl-ctxt-sort": "all documents, gold first",
        "fl-ctxt-rev-sort": "all documents, gold last",
        "fl-ctxt-middle": "all documents, gold in the middle",
    }


@pytest.mark.django_db
def test_a_retriever_is_named_by_its_settings_and_never_by_a_hash_where_that_says_nothing(now: datetime) -> None:
    haystack = make_haystack()
    oracle = run(haystack, "oracle", "066555648c21", now)
    usual, dampened = run(haystack, "bm25", "aaa", now), run(haystack, "bm25", "bbb", now, k1=2.0)
    assert names_of([oracle, usual, dampened]) == {oracle: "oracle", usual: "BM25", dampened: "BM25 (k1 2.0)"}
    assert names_of(["oracle", oracle, "rerank3"]) == {
        "oracle": "oracle",
        oracle: "oracle, run here",
        "rerank3": "rerank3",
    }
    # Two versions with the same settings are told apart
    first, second = run(haystack, "oracle", "aaa", now), run(haystack, "oracle", "bbb", now)
    assert names_of([first, second]) == {first: "oracle, run here (aaa)", second: "oracle, run here (bbb)"}


def test_heads_and_rows_of_pages_are_in_words_and_files_keep_their_names(as_ada) -> None:
    haystack = make_haystack()
    subtopic = haystack.subtopics.get(number=1)
    summary = make_summary(subtopic=subtopic, system="heron")
    System.objects.filter(pk=summary.system_id).update(document_order="rev-sort")
    judge = Judge.objects.create(name="J", kind="imported", version="1", created_at=NOW)
    for insight in subtopic.insights.all():
        Verdict.objects.create(
            judge=judge, summary=summary, insight=insight, coverage="none", is_linked=False, created_at=NOW
        )
    for address in (
        url("haystack-detail", haystack.uid),
        url("subtopic-detail", subtopic.uid),
        url("summary-detail", summary.uid),
        reverse("annotation:leaderboard"),
    ):
        page = as_ada.get(address).text
        assert "all documents, gold last" in page, address
        assert "fl-ctxt-rev-sort" not in re.sub(r"<option[^>]*>|href=\"[^\"]*\"|\"url\": \"[^\"]*\"", "", page), (
            address
        )
    csv = as_ada.get(reverse("annotation:leaderboard-file", args=["csv"]))
    assert "heron,fl-ctxt-rev-sort," in csv.getvalue().decode()
