"""Questions from Long²RAG files into the database; questions that are there get new parts. Texts never change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from benchmarks.exchange import long2rag
from benchmarks.exchange.problems import Got, Problems
from benchmarks.exchange.questions import KeyPointText, QuestionText, SpanText
from benchmarks.exporting_questions import CHUNK, PARTS, text_of
from benchmarks.importing.formats import File, Format
from benchmarks.importing.plan import ImportRequest, Plan, Result
from benchmarks.importing.running import Report, import_rows
from benchmarks.models import KeyPoint, Question, QuestionDocument, Response, Span, System
from benchmarks.summarizers.conditions import named_system

DEFAULT_DATASET = "long2rag"


class QuestionPlan(Plan[Sequence[QuestionText]]):
    """Questions compared with those of the dataset."""

    MODELS = (System, Question, QuestionDocument, KeyPoint, Span, Response)
    ACTION = "questions.imported"

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET
        self.systems: dict[str, System] = {}
        self.keys: set[str] = set()

    def take(self, rows: Sequence[QuestionText]) -> None:
        """Compare the questions of one file; no other file may have them too."""
        self._plan_systems(rows)
        for start in range(0, len(rows), CHUNK):
            some = rows[start : start + CHUNK]
            found = Question.objects.filter(dataset=self.dataset, key__in=[question.key for question in some])
            there = {row.key: row for row in found.prefetch_related(*PARTS)}
            for question in some:
                if question.key in self.keys:
                    expected = "one that no other file has"
                    self.problems.error(
                        "duplicate_key", question.where, "key", expected=expected, got=question.key
                    )
                elif question.key in there:
                    self._add_to(there[question.key], question)
                else:
                    self._add_new(question)
                self.keys.add(question.key)

    def results(self) -> list[Result]:
        """The dataset."""
        return [Result(self.dataset, self.dataset)]

    @property
    def about(self) -> dict[str, str]:
        """The name of the dataset."""
        return {"dataset": self.dataset}

    def _plan_systems(self, questions: Sequence[QuestionText]) -> None:
        names = {response.system for question in questions for response in question.responses}
        names -= self.systems.keys()
        known = {row.key: row for row in System.objects.filter(key__in=names)}
        self.unchanged["systems"] += len(known)
        self.systems |= known
        for name in sorted(names - known.keys()):
            condition, model = named_system(name)
            self.systems[name] = System(key=name, summarizer=model, retriever=condition)
            self.create(self.systems[name], "systems")

    def _add_new(self, question: QuestionText) -> None:
        row = Question(
            dataset=self.dataset,
            key=question.key,
            text=question.text,
            category=question.category,
            domain=question.domain,
            language=question.language,
            n_words=sum(document.n_words for document in question.documents),
            created_at=self.now,
        )
        self.create(row, "questions")
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
        for document in documents.values():
            self.create(document, "documents")
        for point in question.key_points:
            self._add_point(row, point, documents, number=point.number)
        for response in question.responses:
            self._add_response(row, response.system, response.text)

    def _add_point(
        self, row: Question, point: KeyPointText, documents: Mapping[int, QuestionDocument], *, number: int
    ) -> None:
        made = KeyPoint(question=row, number=number, key=point.key, text=point.text, autods=point.autods)
        self.create(made, "key_points")
        for position, span in enumerate(point.spans, 1):
            passage = Span(
                key_point=made,
                number=position,
                document=None if span.document is None else documents[span.document],
                quote=span.quote,
                start=span.start,
                end=span.end,
                match_ratio=span.match_ratio,
                is_exact=span.is_exact,
            )
            self.create(passage, "spans")

    def _add_response(self, row: Question, system: str, text: str) -> None:
        response = Response(
            question=row,
            system=self.systems[system],
            text=text,
            text_sha256=hashlib.sha256(text.encode()).hexdigest(),
            n_words=len(text.split()),
            created_at=self.now,
        )
        self.create(response, "responses")

    def _add_to(self, row: Question, question: QuestionText) -> None:
        """Compare with what is there: add what is new, refuse what would change a text."""
        there = text_of(row)
        before = self.problems.n_errors
        if there.text != question.text:
            self._differs(question, "question", there.text)
        given = [(document.key, document.text) for document in question.documents]
        if given != [(document.key, document.text) for document in there.documents]:
            self._differs(question, "documents", "other documents")
        if self.problems.n_errors > before:
            return
        self._alter(row, question)
        documents = {document.number: document for document in row.documents.all()}
        self._alter_titles(documents, question)
        self._merge_points(row, question, there, documents)
        texts = {response.system: response.text for response in there.responses}
        for position, response in enumerate(question.responses):
            if response.system not in texts:
                self._add_response(row, response.system, response.text)
            elif texts[response.system] != response.text:
                self._differs(question, "text", texts[response.system], part=f"responses[{position}]")
            else:
                self.unchanged["responses"] += 1

    def _alter(self, row: Question, question: QuestionText) -> None:
        """Category, domain and language may be corrected; a file without them takes nothing away."""
        wanted = {
            "category": question.category or row.category,
            "domain": question.domain or row.domain,
            "language": question.language,
        }
        if all(getattr(row, name) == value for name, value in wanted.items()):
            self.unchanged["questions"] += 1
            return
        for name, value in wanted.items():
            setattr(row, name, value)
        self.alter(row, tuple(wanted), "questions")

    def _alter_titles(self, documents: Mapping[int, QuestionDocument], question: QuestionText) -> None:
        for given in question.documents:
            document = documents[given.number]
            if given.title and given.title != document.title:
                document.title = given.title
                self.alter(document, ("title",), "documents")
            else:
                self.unchanged["documents"] += 1

    def _merge_points(
        self,
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
                self._add_point(row, point, documents, number=number)
            elif before.text != point.text:
                self._differs(question, "text", before.text, part=f"key_points[{position}]")
            elif _quotes(before.spans) != _quotes(point.spans):
                self._differs(question, "spans", "other spans", part=f"key_points[{position}]")
            else:
                self.unchanged["spans"] += len(point.spans)
                if point.autods is None or point.autods == before.autods:
                    self.unchanged["key_points"] += 1
                else:
                    rows[point.key].autods = point.autods
                    self.alter(rows[point.key], ("autods",), "key_points")

    def _differs(self, question: QuestionText, name: str, before: str, *, part: str = "") -> None:
        self.problems.error(
            "differs",
            f"{question.where}, {part}" if part else question.where,
            name,
            expected=f"what was imported before (“{before[:60]}”)",
            got=Got("something else"),
            message="Texts never change once they are in; use another dataset.",
        )


def _quotes(spans: tuple[SpanText, ...]) -> list[str]:
    return [span.quote for span in spans]


def import_questions(
    questions: Sequence[QuestionText],
    *,
    dataset: str = DEFAULT_DATASET,
    actor: Any,
    now: datetime,
    problems: Problems | None = None,
    dry_run: bool = False,
) -> Report:
    """Take questions in. Questions that are there get new key points, responses, scores, category and domain.

    Raises:
        ImportFailed: something would alter a text that was imported before; nothing is written.
    """
    request = ImportRequest(now=now, options={"dataset": dataset}, actor=actor)
    return import_rows(LONG2RAG, [("", questions)], request=request, problems=problems, dry_run=dry_run)


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Sequence[QuestionText]:
    return long2rag.parse(file.path, problems=problems, limit_bytes=file.limit_bytes, progress=file.progress)


LONG2RAG = Format(
    name="long2rag",
    title="Long²RAG questions",
    description=(
        "JSONL with a question on each line: its documents, key points with verbatim spans, and responses of "
        "systems. Only question and documents are needed."
    ),
    extensions=(".jsonl",),
    example=long2rag.EXAMPLE,
    parse=_parse,
    plan=QuestionPlan,
    kinds={
        "questions": _("questions"),
        "documents": _("documents"),
        "key_points": _("key points"),
        "spans": _("passages"),
        "systems": _("systems"),
        "responses": _("responses"),
    },
    address=lambda dataset: f"{reverse('benchmarks:questions')}?{urlencode({'dataset': dataset})}",
)
