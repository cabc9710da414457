"""Prepared queries mean what their querysets mean."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from benchmarks.models import Document, Haystack, Judge, Subtopic, Summary, Verdict
from benchmarks.prepared import NotPreparable, NotUpdated, PreparedRows, PreparedValues, insert, update
from tests.makers import make_haystack, make_summary

BY_NUMBER = PreparedRows[Document](
    lambda uid, number: Document.objects.filter(haystack__uid=uid, number=number).select_related("haystack"),
    uid=Haystack._meta.get_field("uid"),
    number=Document._meta.get_field("number"),
)
NEWER = PreparedValues[Any](
    lambda since: Haystack.objects.filter(created_at__gt=since).order_by("key").values_list("key", "created_at"),
    since=Haystack._meta.get_field("created_at"),
)


@pytest.mark.django_db
def test_a_row_equals_that_of_the_queryset_with_what_is_related(django_assert_num_queries: Any) -> None:
    haystack = make_haystack()
    other = make_haystack(key="other")
    expected = Document.objects.get(haystack=haystack, number=3)
    fields = Document._meta.concrete_fields
    for _ in range(2):
        with django_assert_num_queries(1):
            found = BY_NUMBER.first(uid=haystack.uid, number=3)
            assert found is not None
            assert found == expected
            assert found.haystack == haystack
            assert found.haystack.created_at == haystack.created_at
        assert [getattr(found, field.attname) for field in fields] == [
            getattr(expected, field.attname) for field in fields
        ]
    assert BY_NUMBER.first(uid=other.uid, number=3) == Document.objects.get(haystack=other, number=3)


@pytest.mark.django_db
def test_what_is_not_there_is_none() -> None:
    haystack = make_haystack()
    assert BY_NUMBER.first(uid=haystack.uid, number=99) is None


@pytest.mark.django_db
def test_only_the_named_columns_are_fetched_and_the_others_come_later(django_assert_num_queries: Any) -> None:
    haystack = make_haystack()
    short = PreparedRows[Document](
        lambda number: Document.objects.filter(number=number).only("title"),
        number=Document._meta.get_field("number"),
    )
    found = short.first(number=2)
    assert found is not None
    assert found.get_deferred_fields() >= {"text", "haystack_id"}
    text = haystack.documents.get(number=2).text
    with django_assert_num_queries(1):
        assert found.text == text


@pytest.mark.django_db
def test_plain_values_are_converted_like_those_of_the_queryset(now: Any) -> None:
    make_haystack(key="a", now=now)
    make_haystack(key="b", now=now + timedelta(days=1))
    assert NEWER.all(since=now) == [("b", now + timedelta(days=1))]
    assert NEWER.all(since=now - timedelta(seconds=1)) == [("a", now), ("b", now + timedelta(days=1))]
    assert NEWER.all(since=now + timedelta(days=2)) == []


@pytest.mark.django_db
def test_a_parameter_that_the_query_does_not_use_is_refused() -> None:
    careless = PreparedRows[Document](
        lambda number: Document.objects.all(), number=Document._meta.get_field("number")
    )
    with pytest.raises(NotPreparable):
        careless.first(number=1)


@pytest.mark.django_db
def test_an_inserted_row_is_as_if_it_had_been_saved(django_assert_num_queries: Any, now: Any) -> None:
    subtopic = Subtopic.objects.get(haystack=make_haystack(), number=1)
    saved = Verdict.objects.create(
        judge=Judge.objects.create(name="sparrow", kind="imported", created_at=now),
        summary=make_summary(subtopic=subtopic),
        insight=subtopic.insights.get(number=1),
        coverage="full",
        lines=[1, 3],
        is_linked=True,
        created_at=now,
    )
    twin = Verdict.objects.get(pk=saved.pk)
    twin.pk, twin.repeat, twin.raw = None, 1, {"why": "“both”", "n": [1, None]}
    with django_assert_num_queries(1):
        insert(twin)
    found = Verdict.objects.get(repeat=1)
    assert found.pk == twin.pk
    fields = [field.attname for field in Verdict._meta.concrete_fields]
    assert [getattr(found, name) for name in fields] == [getattr(twin, name) for name in fields]
    assert found.raw["n"] == [1, None]
    with django_assert_num_queries(1):
        twin.save(update_fields=["score"])


@pytest.mark.django_db
def test_an_update_writes_the_named_fields_only_and_tells_when_the_row_is_gone() -> None:
    subtopic = Subtopic.objects.get(haystack=make_haystack(), number=1)
    summary = make_summary(subtopic=subtopic, text="- As it was.")
    other = make_summary(subtopic=subtopic, text="- As it was.", system="other")
    summary.text, summary.text_sha256 = "- Changed.", "0" * 64
    update(summary, "text_sha256")
    assert Summary.objects.filter(text="- As it was.", text_sha256="0" * 64).count() == 1
    assert Summary.objects.get(pk=other.pk).text_sha256 != "0" * 64
    Summary.objects.filter(pk=summary.pk).delete()
    with pytest.raises(NotUpdated, match="Summary"):
        update(summary, "text")
