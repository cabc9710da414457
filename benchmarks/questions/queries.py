"""What the pages of questions show, each read in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from benchmarks.models import KeyPoint, Question, QuestionDocument, Response, Span
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.web.pages import Mark, Segment, segments


def names(field: str, *, with_archive: bool = True) -> list[tuple[str, str]]:
    """What occurs in a field, as choices. One query."""
    rows: QuestionQuerySet = Question.objects.all() if with_archive else Question.objects.in_archive(False)
    values = rows.exclude(**{field: ""}).order_by(field).values_list(field, flat=True).distinct()
    return [(value, value) for value in values]


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A document in pieces, with the numbers of the key points that it was quoted for."""

    document: QuestionDocument
    segments: list[Segment]
    points: list[int]


@dataclass(frozen=True, slots=True)
class SpanLink:
    """A span of a key point: where on the page it is, empty if it was not found; `percent` is its likeness."""

    span: Span
    anchor: str
    document_number: int | None
    percent: int


@dataclass(frozen=True, slots=True)
class PointRow:
    """A key point with its spans."""

    point: KeyPoint
    spans: list[SpanLink]


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """Everything that a question has."""

    documents: list[MarkedDocument]
    points: list[PointRow]
    responses: list[Response]


def question_page(question: Question) -> QuestionPage:
    """Read a question's parts. Four queries."""
    documents = list(question.documents.order_by("number"))
    numbers = {document.pk: document.number for document in documents}
    points = list(question.key_points.order_by("number"))
    spans: dict[int, list[Span]] = defaultdict(list)
    for span in Span.objects.filter(key_point__question=question).order_by("key_point", "number"):
        spans[span.key_point_id].append(span)
    marks: dict[int, list[Mark]] = defaultdict(list)
    rows = []
    for point in points:
        links = []
        for span in spans[point.pk]:
            anchor = ""
            if span.document_id is not None and span.start is not None and span.end is not None:
                anchor = f"span-{point.number}-{span.number}"
                marks[span.document_id].append(Mark(span.start, span.end, point.number, anchor))
            number = None if span.document_id is None else numbers[span.document_id]
            links.append(SpanLink(span, anchor, number, int(100 * (span.match_ratio or 0))))
        rows.append(PointRow(point, links))
    return QuestionPage(
        documents=[
            MarkedDocument(
                document=document,
                segments=segments(document.text, marks[document.pk]),
                points=sorted({mark.point for mark in marks[document.pk]}),
            )
            for document in documents
        ],
        points=rows,
        responses=list(question.responses.select_related("system").order_by("system__key")),
    )
