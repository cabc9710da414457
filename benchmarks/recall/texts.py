"""The texts of questions that judges of responses read: key points and documents, in a fixed number of queries."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from benchmarks.models import KeyPoint, QuestionDocument, Response, ResponsePoint

IN_A_QUERY = 5000
"""Keys in one query; databases limit them."""


@dataclass(frozen=True)
class QuestionTexts:
    """Key points as (primary key, text) in order, documents as (number, text)."""

    key_points: tuple[tuple[int, str], ...] = ()
    documents: tuple[tuple[int, str], ...] = ()


@dataclass
class _Parts:
    key_points: list[tuple[int, str]] = field(default_factory=list)
    documents: list[tuple[int, str]] = field(default_factory=list)


def of_questions(questions: Collection[int], *, with_documents: bool = True) -> dict[int, QuestionTexts]:
    """{question pk: its texts}; two queries."""
    found: dict[int, _Parts] = defaultdict(_Parts)
    points = KeyPoint.objects.filter(question__in=questions).order_by("question", "number")
    for pk, question, text in points.values_list("pk", "question", "text"):
        found[question].key_points.append((pk, text))
    if with_documents:
        documents = QuestionDocument.objects.filter(question__in=questions).order_by("question", "number")
        for number, question, text in documents.values_list("number", "question", "text"):
            found[question].documents.append((number, text))
    return {
        question: QuestionTexts(tuple(found[question].key_points), tuple(found[question].documents))
        for question in questions
    }


def points_of(*, judge_id: int, responses: Collection[int]) -> dict[int, list[tuple[int, str]]]:
    """What a judge extracted from responses: {response pk: [(point pk, text)]}. One query."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = ResponsePoint.objects.filter(
        extraction__judge=judge_id, extraction__response__in=responses, extraction__is_valid=True
    ).order_by("extraction", "number")
    for pk, response, text in rows.values_list("pk", "extraction__response", "text"):
        found[response].append((pk, text))
    return found


def by_question(responses: Iterable[Response]) -> dict[int, list[Response]]:
    """Responses of each question, in order."""
    groups: dict[int, list[Response]] = {}
    for response in responses:
        groups.setdefault(response.question_id, []).append(response)
    return groups


def digest(*content: object) -> str:
    """Hash what a verdict depends on."""
    return hashlib.sha256(json.dumps(content).encode("utf-8", "replace")).hexdigest()
