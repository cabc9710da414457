"""Haystacks, questions and sources out of the database, in the frozen rows that the formats print."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Prefetch

from benchmarks.io.published import PUBLISHED_JUDGE, values_of
from benchmarks.io.schemas.long2rag import KeyPointText, QuestionText, ResponseText, SpanText
from benchmarks.io.schemas.sources import SourceSummary, SourceText
from benchmarks.io.schemas.topics import (
    TopicDocument,
    TopicFile,
    TopicInsight,
    TopicSubtopic,
    TopicSummary,
    TopicVerdict,
)
from benchmarks.models import (
    Document,
    Haystack,
    Insight,
    Judge,
    KeyPoint,
    Question,
    QuestionDocument,
    Response,
    RetrieverRanking,
    Span,
    Subtopic,
    Summary,
    System,
    Verdict,
)
from benchmarks.models.querysets import HaystackQuerySet, QuestionQuerySet
from benchmarks.system_names import TopicSystem

OURS = {"source_name", "source_title"}
"""Metadata that an import adds about its file."""


Further = Mapping[int, Sequence[tuple[TopicSystem, TopicSummary]]]
"""{subtopic pk: summaries that the database does not hold as those of systems}."""


def topic_of(haystack: Haystack, *, further: Further | None = None, judge: Judge | None = None) -> TopicFile:
    """Read a haystack with the summaries of systems and verdicts, the published or a judge's, in seven queries.

    Texts written in sessions are people's work and stay out unless they are given as `further`; so do those of
    annotated summaries. Importing the printed result changes nothing.
    """
    verdicts = _verdicts(haystack, judge)
    summaries: dict[int, list[TopicSummary]] = defaultdict(list)
    systems: dict[str, TopicSystem] = {}
    rows = Summary.objects.filter(haystack=haystack).counted().select_related("system").order_by("pk")
    for summary in rows:
        about = values_of(summary.system, "key", "summarizer", "retriever", "document_order")
        systems[summary.system.key] = TopicSystem(**about)
        summaries[summary.subtopic_id].append(
            TopicSummary(
                system_key=summary.system.key, lines=tuple(summary.lines), verdicts=tuple(verdicts[summary.pk])
            )
        )
    for subtopic, others in (further or {}).items():
        for system, text in others:
            systems[system.key] = system
            summaries[subtopic].append(text)
    return TopicFile(
        key=haystack.key,
        title=haystack.metadata.get("source_title", haystack.title),
        documents=tuple(map(document_of, haystack.documents.order_by("number"))),
        subtopics=_subtopics(haystack, summaries),
        systems=tuple(systems.values()),
        domain=haystack.domain,
        metadata={name: value for name, value in haystack.metadata.items() if name not in OURS},
        source_name=haystack.metadata.get("source_name", ""),
    )


def document_of(row: Document) -> TopicDocument:
    return TopicDocument(**values_of(row, "key", "number", "text", "title", "metadata"))


def insight_of(row: Insight) -> TopicInsight:
    return TopicInsight(**values_of(row, "key", "name", "text"), gold_documents=tuple(row.gold_documents))


def _subtopics(haystack: Haystack, summaries: dict[int, list[TopicSummary]]) -> tuple[TopicSubtopic, ...]:
    insights: dict[int, list[TopicInsight]] = defaultdict(list)
    for row in Insight.objects.filter(subtopic__haystack=haystack).order_by("subtopic", "number"):
        insights[row.subtopic_id].append(insight_of(row))
    scores = RetrieverRanking.objects.imported().filter(subtopic__haystack=haystack).by_subtopic()
    return tuple(
        TopicSubtopic(
            **values_of(row, "key", "number", "name", "description", "query"),
            insights=tuple(insights[row.pk]),
            summaries=tuple(summaries[row.pk]),
            scores=scores[row.pk],
        )
        for row in Subtopic.objects.filter(haystack=haystack).order_by("number")
    )


def _verdicts(haystack: Haystack, judge: Judge | None) -> dict[int, list[TopicVerdict]]:
    verdicts: dict[int, list[TopicVerdict]] = defaultdict(list)
    of: dict[str, Any] = {"judge__name": PUBLISHED_JUDGE} if judge is None else {"judge": judge}
    rows = (
        Verdict.objects.filter(**of, summary__haystack=haystack, repeat=0)
        .order_by("summary", "-judge__version", "pk")
        .select_related("insight")
    )
    seen: set[tuple[int, int]] = set()
    for row in rows:
        if (row.summary_id, row.insight_id) not in seen:  # of several versions the newest speaks
            seen.add((row.summary_id, row.insight_id))
            verdicts[row.summary_id].append(
                TopicVerdict(
                    row.insight.key, row.coverage, tuple(row.lines), raw=row.raw, probabilities=row.probabilities
                )
                if row.is_valid
                else TopicVerdict(row.insight.key, "", ())
            )
    return verdicts


QUESTIONS_AT_ONCE = 50
PARTS_OF_QUESTIONS: tuple[Prefetch[Any], ...] = (
    Prefetch("documents", QuestionDocument.objects.order_by("number")),
    Prefetch("key_points", KeyPoint.objects.order_by("number")),
    Prefetch("key_points__spans", Span.objects.order_by("number")),
    Prefetch("responses", Response.objects.order_by("pk").select_related("system")),
)


def questions_of(rows: QuestionQuerySet) -> Iterator[QuestionText]:
    """Read questions in the order of import, five queries for every 50 of them."""
    for row in (
        rows.order_by("dataset", "pk").prefetch_related(*PARTS_OF_QUESTIONS).iterator(chunk_size=QUESTIONS_AT_ONCE)
    ):
        yield text_of(row)


def text_of(row: Question) -> QuestionText:
    """One question with its parts, which are prefetched."""
    documents = list(row.documents.all())
    numbers = {document.pk: document.number for document in documents}
    return QuestionText(
        **values_of(row, "key", "text", "category", "domain", "language"),
        documents=tuple(
            TopicDocument(**values_of(document, "number", "key", "text", "title")) for document in documents
        ),
        key_points=tuple(
            KeyPointText(
                **values_of(point, "number", "key", "text", "autods"),
                spans=tuple(
                    SpanText(
                        **values_of(span, "quote", "start", "end", "match_ratio"),
                        document=None if span.document_id is None else numbers[span.document_id],
                    )
                    for span in point.spans.all()
                ),
            )
            for point in row.key_points.all()
        ),
        responses=tuple(ResponseText(response.system.key, response.text) for response in row.responses.all()),
        where=f"{row.dataset}/{row.key}",
    )


SOURCES_AT_ONCE = 100
PEOPLE = "people/"
"""Stands before the names of people in the keys of systems."""
PARTS_OF_SOURCES = (
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
    return f"{PEOPLE}{summary.writer}" if summary.is_person else summary.writer


def sources_of(rows: HaystackQuerySet) -> Iterator[SourceText]:
    """Read sources in the order of import, six queries for every 100 of them."""
    for row in (
        rows.sources()
        .order_by("dataset", "pk")
        .prefetch_related(*PARTS_OF_SOURCES)
        .iterator(chunk_size=SOURCES_AT_ONCE)
    ):
        yield source_of(row)


def source_of(row: Haystack) -> SourceText:
    """One source with its parts, which are prefetched."""
    (subtopic,) = row.subtopics.all()
    same = values_of(subtopic, "key", "name", "description", "query")
    part = TopicSubtopic(number=1, insights=tuple(map(insight_of, subtopic.insights.all())), **same)
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
