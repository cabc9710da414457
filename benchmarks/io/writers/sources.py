"""Documents with reference summaries out of the database, in the frozen rows that their format prints."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Prefetch

from benchmarks.io.schemas.sources import SourceSummary, SourceText
from benchmarks.io.schemas.topics import TopicFile, TopicSubtopic
from benchmarks.io.writers.haystacks import document_of, insight_of
from benchmarks.models import Document, Haystack, Insight, Summary, System
from benchmarks.models.querysets import HaystackQuerySet

CHUNK = 100
PEOPLE = "people/"
"""Stands before the names of people in the keys of systems."""
PARTS = (
    Prefetch("documents", Document.objects.order_by("number")),
    "subtopics",
    Prefetch("subtopics__insights", Insight.objects.order_by("number")),
    Prefetch(
        "subtopics__summaries", Summary.objects.counted().select_related("system").order_by("pk"), to_attr="texts"
    ),
)


def key_of(dataset: str, key: str) -> str:
    """The id of a source among all haystacks."""
    return f"{dataset}/{key}"


def system_key(summary: SourceSummary) -> str:
    """The key of whoever wrote a summary."""
    return f"{PEOPLE}{summary.writer}" if summary.is_person else summary.writer


def sources_of(rows: HaystackQuerySet) -> Iterator[SourceText]:
    """Read sources in the order of import, six queries for every 100 of them."""
    for row in rows.sources().order_by("dataset", "pk").prefetch_related(*PARTS).iterator(chunk_size=CHUNK):
        yield source_of(row)


def source_of(row: Haystack) -> SourceText:
    """One source with its parts, which are prefetched."""
    (subtopic,) = row.subtopics.all()
    part = TopicSubtopic(
        key=subtopic.key,
        number=1,
        name=subtopic.name,
        description=subtopic.description,
        query=subtopic.query,
        insights=tuple(map(insight_of, subtopic.insights.all())),
    )
    topic = TopicFile(
        key=row.key.removeprefix(key_of(row.dataset, "")),
        title=row.title,
        documents=tuple(map(document_of, row.documents.all())),
        subtopics=(part,),
        domain=row.domain,
    )
    texts: list[Summary] = subtopic.texts
    return SourceText(topic, row.language, tuple(_summary(text) for text in texts if text.text), where=row.key)


def _summary(row: Summary) -> SourceSummary:
    is_person = row.system.kind == System.Kind.HUMAN
    writer = row.system.key.removeprefix(PEOPLE) if is_person else row.system.key
    return SourceSummary(writer, is_person, row.text, row.visible_words, row.scores)
