"""What the pages of questions show, each read in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from benchmarks.models import Question, Span
from benchmarks.models.querysets import QuestionQuerySet
from benchmarks.web.pages import Mark, segments


def names(field: str, *, with_archive: bool = True) -> list[tuple[str, str]]:
    """What occurs in a field, as choices. One query."""
    rows: QuestionQuerySet = Question.objects.all() if with_archive else Question.objects.in_archive(False)
    values = rows.exclude(**{field: ""}).order_by(field).values_list(field, flat=True).distinct()
    return [(value, value) for value in values]


def question_page(question: Question) -> dict[str, Any]:
    """Documents in marked pieces, key points with their spans, and responses. Four queries.

    A span says where on the page it is, empty if it was not found, and its likeness in percent.
    """
    documents = list(question.documents.order_by("number"))
    numbers = {document.pk: document.number for document in documents}
    spans: dict[int, list[Span]] = defaultdict(list)
    for span in Span.objects.filter(key_point__question=question).order_by("key_point", "number"):
        spans[span.key_point_id].append(span)
    marks: dict[int, list[Mark]] = defaultdict(list)
    points: list[dict[str, Any]] = []
    for point in question.key_points.order_by("number"):
        links = []
        for span in spans[point.pk]:
            anchor = ""
            if span.document_id is not None and span.start is not None and span.end is not None:
                anchor = f"span-{point.number}-{span.number}"
                marks[span.document_id].append(Mark(span.start, span.end, point.number, anchor))
            links.append(
                {
                    "span": span,
                    "anchor": anchor,
                    "document_number": span.document_id and numbers[span.document_id],
                    "percent": int(100 * (span.match_ratio or 0)),
                }
            )
        points.append({"point": point, "spans": links})
    return {
        "documents": [
            {"document": document, "segments": segments(document.text, marks[document.pk])}
            for document in documents
        ],
        "points": points,
        "responses": list(question.responses.select_related("system").order_by("system__key")),
    }
