"""Questions out of the database, in the frozen rows that the format prints; a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch

from benchmarks.io.schemas.long2rag import KeyPointText, QuestionText, ResponseText, SpanText
from benchmarks.io.schemas.topics import TopicDocument
from benchmarks.models import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.querysets import QuestionQuerySet

CHUNK = 50
PARTS: tuple[Prefetch[Any], ...] = (
    Prefetch("documents", QuestionDocument.objects.order_by("number")),
    Prefetch("key_points", KeyPoint.objects.order_by("number")),
    Prefetch("key_points__spans", Span.objects.order_by("number")),
    Prefetch("responses", Response.objects.order_by("pk").select_related("system")),
)


def questions_of(rows: QuestionQuerySet) -> Iterator[QuestionText]:
    """Read questions in the order of import, five queries for every 50 of them."""
    for row in rows.order_by("dataset", "pk").prefetch_related(*PARTS).iterator(chunk_size=CHUNK):
        yield text_of(row)


def text_of(row: Question) -> QuestionText:
    """One question with its parts, which are prefetched."""
    documents = list(row.documents.all())
    numbers = {document.pk: document.number for document in documents}
    return QuestionText(
        key=row.key,
        text=row.text,
        category=row.category,
        domain=row.domain,
        language=row.language,
        documents=tuple(
            TopicDocument(number=document.number, key=document.key, text=document.text, title=document.title)
            for document in documents
        ),
        key_points=tuple(
            KeyPointText(
                number=point.number,
                key=point.key,
                text=point.text,
                autods=point.autods,
                spans=tuple(
                    SpanText(
                        quote=span.quote,
                        document=None if span.document_id is None else numbers[span.document_id],
                        start=span.start,
                        end=span.end,
                        match_ratio=span.match_ratio,
                    )
                    for span in point.spans.all()
                ),
            )
            for point in row.key_points.all()
        ),
        responses=tuple(ResponseText(response.system.key, response.text) for response in row.responses.all()),
        where=f"{row.dataset}/{row.key}",
    )
