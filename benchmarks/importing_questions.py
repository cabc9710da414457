"""Take questions into the database: all or nothing, and twice the same changes nothing. Texts never change."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from benchmarks import audit
from benchmarks.exchange.problems import Got, ImportFailed, KindCount, Problems
from benchmarks.exchange.questions import KeyPointText, QuestionText, SpanText
from benchmarks.exporting_questions import CHUNK, PARTS, text_of
from benchmarks.importing import DATASET as DATASET_NAME
from benchmarks.models import KeyPoint, Question, QuestionDocument, Response, Span, System

DATASET = "long2rag"
KINDS = ("questions", "documents", "key_points", "spans", "systems", "responses")


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """What an import did, or with a dry run would do: counts by kind, and warnings."""

    created: Mapping[str, int]
    unchanged: Mapping[str, int]
    updated: Mapping[str, int]
    warnings: tuple[KindCount, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values, with every kind in every count."""
        counts = {name: getattr(self, name) for name in ("created", "unchanged", "updated")}
        return {
            **{name: {kind: count.get(kind, 0) for kind in KINDS} for name, count in counts.items()},
            "warnings": [warning.as_json() for warning in self.warnings],
        }


@dataclass(slots=True)
class _Plan:
    """The rows to make and to alter, parents before children."""

    problems: Problems
    now: datetime
    systems: dict[str, System] = field(default_factory=dict)
    new_systems: list[System] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    documents: list[QuestionDocument] = field(default_factory=list)
    points: list[KeyPoint] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    altered_questions: list[Question] = field(default_factory=list)
    altered_documents: list[QuestionDocument] = field(default_factory=list)
    altered_points: list[KeyPoint] = field(default_factory=list)
    unchanged: Counter[str] = field(default_factory=Counter)

    @property
    def created(self) -> dict[str, int]:
        return {
            "questions": len(self.questions),
            "documents": len(self.documents),
            "key_points": len(self.points),
            "spans": len(self.spans),
            "systems": len(self.new_systems),
            "responses": len(self.responses),
        }

    @property
    def updated(self) -> dict[str, int]:
        return {
            "questions": len(self.altered_questions),
            "documents": len(self.altered_documents),
            "key_points": len(self.altered_points),
        }


def import_questions(
    questions: Sequence[QuestionText],
    *,
    dataset: str = DATASET,
    actor: Any,
    now: datetime,
    problems: Problems | None = None,
    dry_run: bool = False,
) -> QuestionReport:
    """Take questions in. Questions that are there get new key points, responses, scores, category and domain.

    `problems` may hold the warnings of the parser; they come back in the report. A dry run writes nothing.

    Raises:
        ImportFailed: something would alter a text that was imported before; nothing is written.
    """
    problems = Problems() if problems is None else problems
    if not DATASET_NAME.fullmatch(dataset):
        problems.error(
            "wrong_value", "", "dataset", expected="1 to 80 letters, digits, hyphens and underscores", got=dataset
        )
        raise ImportFailed(problems)
    if dry_run:
        return _report(_planned(questions, dataset=dataset, now=now, problems=problems))
    try:
        with transaction.atomic():
            plan = _planned(questions, dataset=dataset, now=now, problems=problems)
            report = _report(plan)
            if any(report.created.values()) or any(report.updated.values()):
                _write(plan)
                audit.record(
                    actor=actor,
                    action="questions.imported",
                    target=None,
                    now=now,
                    dataset=dataset,
                    created=dict(report.created),
                    updated=dict(report.updated),
                )
    except IntegrityError as error:  # another import of the same questions committed between our reads and writes
        problems.error(
            "import_race", "", "key", expected="no other import of it at the same time", got=Got("one that was"),
            message="Nothing was written; import it again.",
        )  # fmt: skip
        raise ImportFailed(problems) from error
    return report


def _planned(questions: Sequence[QuestionText], *, dataset: str, now: datetime, problems: Problems) -> _Plan:
    plan = _Plan(problems=problems, now=now)
    names = {response.system for question in questions for response in question.responses}
    known = {row.key: row for row in System.objects.filter(key__in=names)}
    plan.new_systems = [System(key=name, summarizer=name) for name in sorted(names - known.keys())]
    plan.systems = known | {row.key: row for row in plan.new_systems}
    plan.unchanged["systems"] = len(known)
    _refuse_twice(questions, problems)
    for start in range(0, len(questions), CHUNK):
        some = questions[start : start + CHUNK]
        rows = Question.objects.filter(dataset=dataset, key__in=[question.key for question in some])
        there = {row.key: row for row in rows.prefetch_related(*PARTS)}
        for question in some:
            if question.key in there:
                _add_to(plan, there[question.key], question)
            else:
                _add_new(plan, question, dataset)
    problems.raise_errors()
    return plan


def _refuse_twice(questions: Sequence[QuestionText], problems: Problems) -> None:
    """Several files of one import may hold the same question."""
    counts = Counter(question.key for question in questions)
    for question in questions:
        if counts[question.key] > 1:
            problems.error(
                "duplicate_key", question.where, "key", expected="one that no other file has", got=question.key
            )
    problems.raise_errors()


def _add_new(plan: _Plan, question: QuestionText, dataset: str) -> None:
    row = Question(
        dataset=dataset,
        key=question.key,
        text=question.text,
        category=question.category,
        domain=question.domain,
        language=question.language,
        n_words=sum(document.n_words for document in question.documents),
        created_at=plan.now,
    )
    plan.questions.append(row)
    documents = {
        document.number: QuestionDocument(
            question=row,
            number=document.number,
            key=document.key,
            title=document.title,
            text=document.text,
            n_words=document.n_words,
        )
        for document in question.documents
    }
    plan.documents.extend(documents.values())
    for point in question.key_points:
        _add_point(plan, row, point, documents, number=point.number)
    for response in question.responses:
        _add_response(plan, row, response.system, response.text)


def _add_point(
    plan: _Plan, row: Question, point: KeyPointText, documents: Mapping[int, QuestionDocument], *, number: int
) -> None:
    made = KeyPoint(question=row, number=number, key=point.key, text=point.text, autods=point.autods)
    plan.points.append(made)
    plan.spans.extend(
        Span(
            key_point=made,
            number=place,
            document=None if span.document is None else documents[span.document],
            quote=span.quote,
            start=span.start,
            end=span.end,
            match_ratio=span.match_ratio,
            is_exact=span.is_exact,
        )
        for place, span in enumerate(point.spans, 1)
    )


def _add_response(plan: _Plan, row: Question, system: str, text: str) -> None:
    plan.responses.append(
        Response(
            question=row,
            system=plan.systems[system],
            text=text,
            text_sha256=hashlib.sha256(text.encode()).hexdigest(),
            n_words=len(text.split()),
            created_at=plan.now,
        )
    )


def _add_to(plan: _Plan, row: Question, question: QuestionText) -> None:
    """Compare with what is there: add what is new, refuse what would change a text."""
    there = text_of(row)
    before = plan.problems.n_errors
    if there.text != question.text:
        _differs(plan, question, "question", there.text)
    told = [(document.key, document.text) for document in question.documents]
    if told != [(document.key, document.text) for document in there.documents]:
        _differs(plan, question, "documents", "other documents")
    if plan.problems.n_errors > before:
        return
    _alter(plan, row, question)
    documents = {document.number: document for document in row.documents.all()}
    _alter_titles(plan, documents, question)
    _merge_points(plan, row, question, there, documents)
    texts = {response.system: response.text for response in there.responses}
    for position, response in enumerate(question.responses):
        if response.system not in texts:
            _add_response(plan, row, response.system, response.text)
        elif texts[response.system] != response.text:
            _differs(plan, question, "text", texts[response.system], part=f"responses[{position}]")
        else:
            plan.unchanged["responses"] += 1


def _alter(plan: _Plan, row: Question, question: QuestionText) -> None:
    """Category, domain and language may be corrected; a file without them takes nothing away."""
    wanted = {
        "category": question.category or row.category,
        "domain": question.domain or row.domain,
        "language": question.language,
    }
    if all(getattr(row, name) == value for name, value in wanted.items()):
        plan.unchanged["questions"] += 1
        return
    for name, value in wanted.items():
        setattr(row, name, value)
    plan.altered_questions.append(row)


def _alter_titles(plan: _Plan, documents: Mapping[int, QuestionDocument], question: QuestionText) -> None:
    for told in question.documents:
        document = documents[told.number]
        if told.title and told.title != document.title:
            document.title = told.title
            plan.altered_documents.append(document)
        else:
            plan.unchanged["documents"] += 1


def _merge_points(
    plan: _Plan,
    row: Question,
    question: QuestionText,
    there: QuestionText,
    documents: Mapping[int, QuestionDocument],
) -> None:
    known = {point.key: point for point in there.key_points}
    rows = {point.key: point for point in row.key_points.all()}
    number = max((point.number for point in there.key_points), default=0)
    for position, point in enumerate(question.key_points):
        before = known.get(point.key)
        if before is None:
            number += 1
            _add_point(plan, row, point, documents, number=number)
        elif before.text != point.text:
            _differs(plan, question, "text", before.text, part=f"key_points[{position}]")
        elif _quotes(before.spans) != _quotes(point.spans):
            _differs(plan, question, "spans", "other spans", part=f"key_points[{position}]")
        else:
            plan.unchanged["spans"] += len(point.spans)
            if point.autods is None or point.autods == before.autods:
                plan.unchanged["key_points"] += 1
            else:
                rows[point.key].autods = point.autods
                plan.altered_points.append(rows[point.key])


def _quotes(spans: tuple[SpanText, ...]) -> list[str]:
    return [span.quote for span in spans]


def _differs(plan: _Plan, question: QuestionText, name: str, before: str, *, part: str = "") -> None:
    plan.problems.error(
        "differs",
        f"{question.where}, {part}" if part else question.where,
        name,
        expected=f"what was imported before (“{before[:60]}”)",
        got=Got("something else"),
        message="Texts never change once they are in; use another dataset.",
    )


def _write(plan: _Plan) -> None:
    """Save the rows, parents before children."""
    System.objects.bulk_create(plan.new_systems)
    Question.objects.bulk_create(plan.questions)
    QuestionDocument.objects.bulk_create(plan.documents, batch_size=200)
    KeyPoint.objects.bulk_create(plan.points)
    Span.objects.bulk_create(plan.spans)
    Response.objects.bulk_create(plan.responses)
    Question.objects.bulk_update(plan.altered_questions, ["category", "domain", "language"], batch_size=100)
    QuestionDocument.objects.bulk_update(plan.altered_documents, ["title"], batch_size=100)
    KeyPoint.objects.bulk_update(plan.altered_points, ["autods"], batch_size=100)


def _report(plan: _Plan) -> QuestionReport:
    return QuestionReport(
        created=plan.created,
        unchanged=dict(plan.unchanged),
        updated=plan.updated,
        warnings=tuple(plan.problems.warnings),
    )
