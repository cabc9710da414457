"""Questions with key points that are done: in the published format, and into a question set by an import."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from benchmarks import audit
from benchmarks.io.plan import ImportRequest
from benchmarks.io.questions import LONG2RAG
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.running import applied
from benchmarks.io.schemas.long2rag import KeyPointText, QuestionText, SpanText
from benchmarks.io.schemas.topics import TopicDocument
from extensions.synthesis.from_questions import continuing_parts
from extensions.synthesis.handing_over import check_complete
from extensions.synthesis.models import PartKind, Synthesis, SynthesisPart
from extensions.synthesis.programs.key_points import is_scored
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import Settings
from extensions.synthesis.turns import take_turn


def dataset_name(synthesis: Synthesis) -> str:
    """The name of the question set that it becomes."""
    return synthesis.dataset or f"{slugify(synthesis.topic)[:60] or 'questions'}-{synthesis.uid.hex[:8]}"


def question_rows(synthesis: Synthesis) -> list[QuestionText]:
    """The questions that stand and have a key point; raises as `standing_rows`, and where there are none."""
    rows = standing_rows(synthesis)
    if not rows:
        raise StepRefused("No question has a key point that stands: accept some on the page of the synthesis.")
    return rows


def standing_rows(synthesis: Synthesis) -> list[QuestionText]:
    """The questions that have a key point, with all that stands of them; possibly none.

    Raises:
        StepRefused: a step is not closed.
    """
    check_complete(synthesis)
    language = Settings.from_mapping(synthesis.settings).questions.language
    queries: dict[int | None, int | None] = {
        part.pk: part.parent_id for part in continuing_parts(synthesis, PartKind.QUERY)
    }
    documents = _by_question(
        (queries.get(part.parent_id), part) for part in continuing_parts(synthesis, PartKind.DOCUMENT)
    )
    points = _by_question((part.parent_id, part) for part in continuing_parts(synthesis, PartKind.POINT))
    return [
        _row(question, documents.get(question.pk, []), points[question.pk], language)
        for question in continuing_parts(synthesis, PartKind.QUESTION)
        if points.get(question.pk)
    ]


def _by_question(pairs: Any) -> dict[int, list[SynthesisPart]]:
    by_question: dict[int, list[SynthesisPart]] = {}
    for question, part in pairs:
        if question is not None:
            by_question.setdefault(question, []).append(part)
    return by_question


def _row(
    question: SynthesisPart, documents: Sequence[SynthesisPart], points: Sequence[SynthesisPart], language: str
) -> QuestionText:
    prefix = question.synthesis.uid.hex[:8]
    numbers = {part.number: number for number, part in enumerate(documents, 1)}
    names = question.parent.data if question.parent else {}
    return QuestionText(
        key=f"{prefix}-q{question.number}",
        text=question.text,
        category=names.get("category", ""),
        domain=names.get("domain", ""),
        language=language,
        documents=tuple(
            TopicDocument(
                key=f"{prefix}-d{part.number}", number=numbers[part.number], text=part.text, title=part.title
            )
            for part in documents
        ),
        key_points=tuple(
            KeyPointText(
                number=number,
                key=f"{prefix}-p{part.number}",
                text=part.text,
                autods=part.data.get("autods") if is_scored(part.text, part.data.get("autods_of", "")) else None,
                spans=tuple(
                    SpanText(span["quote"], numbers[span["document"]], span["start"], span["end"], 1.0)
                    for span in part.data.get("evidence", ())
                    if span["document"] in numbers
                ),
            )
            for number, part in enumerate(points, 1)
        ),
    )


@transaction.atomic
def hand_over_questions(*, synthesis: Synthesis, by: Any, now: datetime) -> str:
    """Put the questions into a question set; its name.

    Raises:
        StepRefused: a step is not closed, it was handed over before, or the import refuses it.
    """
    synthesis = take_turn(synthesis.pk)
    if synthesis.is_handed_over:
        raise StepRefused("It was handed over before.")
    rows, name = question_rows(synthesis), dataset_name(synthesis)
    request = ImportRequest(now=now, options={"dataset": name}, actor=by, group=synthesis.group_id)
    try:
        applied(LONG2RAG, [(name, tuple(rows))], request=request, problems=Problems(), dry_run=False)
    except ImportFailed as failure:
        raise StepRefused(str(failure)) from failure
    synthesis.dataset = name
    synthesis.save(update_fields=["dataset"])
    audit.record(actor=by, action="synthesis.handed_over_questions", target=synthesis, now=now, dataset=name)
    return name
