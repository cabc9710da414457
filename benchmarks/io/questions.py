"""Questions from Long²RAG files into the database; questions that are there get new parts. Texts never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.urls import reverse
from django.utils.http import urlencode

from benchmarks.io.formats import Format
from benchmarks.io.plan import DatasetPlan
from benchmarks.io.published import DOCUMENT, sha256_of, values_of
from benchmarks.io.reading.problems import joined
from benchmarks.io.schemas import long2rag
from benchmarks.io.schemas.long2rag import KeyPointText, QuestionText, ResponseText
from benchmarks.io.writers import PARTS_OF_QUESTIONS, QUESTIONS_AT_ONCE, text_of
from benchmarks.models import KeyPoint, Question, QuestionDocument, Response, Span, System
from benchmarks.summarizers.conditions import named_system

DEFAULT_DATASET = "long2rag"


class QuestionPlan(DatasetPlan):
    """Questions compared with those of the dataset."""

    MODELS = (System, Question, QuestionDocument, KeyPoint, Span, Response)
    ACTION = "questions.imported"
    DEFAULT = DEFAULT_DATASET
    CHUNK = QUESTIONS_AT_ONCE

    def stored(self, keys: Sequence[str]) -> dict[str, Question]:
        """Questions with their documents, key points, passages and responses."""
        questions = Question.objects.filter(dataset=self.dataset, key__in=keys)
        return {row.key: row for row in questions.prefetch_related(*PARTS_OF_QUESTIONS)}

    def systems_of(self, rows: Sequence[QuestionText]) -> dict[str, System]:
        names = {response.system for question in rows for response in question.responses}
        named = {name: named_system(name) for name in sorted(names)}
        return {
            name: System(key=name, summarizer=model, retriever=condition)
            for name, (condition, model) in named.items()
        }

    def add_new(self, incoming: QuestionText) -> None:
        row = Question(
            dataset=self.dataset,
            **values_of(incoming, "key", "text", "category", "domain", "language"),
            n_words=sum(document.n_words for document in incoming.documents),
            created_by=self.request.actor,
            created_at=self.now,
        )
        self.create(row, "questions")
        documents = {
            document.number: self.create(
                QuestionDocument(question=row, **values_of(document, *DOCUMENT)), "documents"
            )
            for document in incoming.documents
        }
        for point in incoming.key_points:
            self._add_point(row, point, documents, number=point.number)
        for response in incoming.responses:
            self._add_response(row, response)

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
                **values_of(span, "quote", "start", "end", "match_ratio", "is_exact"),
            )
            self.create(passage, "spans")

    def _add_response(self, row: Question, incoming: ResponseText) -> None:
        response = Response(
            question=row,
            system=self.systems[incoming.system],
            text=incoming.text,
            text_sha256=sha256_of(incoming.text),
            n_words=len(incoming.text.split()),
            created_at=self.now,
        )
        self.create(response, "responses")

    def add_to(self, row: Question, incoming: QuestionText) -> None:
        """Add key points, responses and scores; correct category, domain and language where the file has them."""
        stored = text_of(row)
        is_same = self.same(incoming.where, question=(stored.text, incoming.text))
        if not self.same_documents(incoming.where, stored.documents, incoming.documents) or not is_same:
            return
        wanted = {
            "category": incoming.category or row.category,
            "domain": incoming.domain or row.domain,
            "language": incoming.language,
        }
        self.change(row, wanted, "questions")
        documents = {document.number: document for document in row.documents.all()}
        for document in incoming.documents:
            known = documents[document.number]
            self.change(known, {"title": document.title or known.title}, "documents")
        self._merge_points(row, incoming, stored, documents)
        answers = {response.system: response.text for response in stored.responses}
        for position, response in enumerate(incoming.responses):
            where = joined(incoming.where, f"responses[{position}]")
            if response.system not in answers:
                self._add_response(row, response)
            elif self.same(where, text=(answers[response.system], response.text)):
                self.unchanged["responses"] += 1

    def _merge_points(
        self,
        row: Question,
        incoming: QuestionText,
        stored: QuestionText,
        documents: Mapping[int, QuestionDocument],
    ) -> None:
        known = {point.key: point for point in stored.key_points}
        rows = {point.key: point for point in row.key_points.all()}
        number = max((point.number for point in stored.key_points), default=0)
        for position, point in enumerate(incoming.key_points):
            before, where = known.get(point.key), joined(incoming.where, f"key_points[{position}]")
            if before is None:
                number += 1
                self._add_point(row, point, documents, number=number)
            elif self.same(where, text=(before.text, point.text), spans=(_quotes(before), _quotes(point))):
                self.unchanged["spans"] += len(point.spans)
                autods = before.autods if point.autods is None else point.autods
                self.change(rows[point.key], {"autods": autods}, "key_points")


def _quotes(point: KeyPointText) -> list[str]:
    return [span.quote for span in point.spans]


LONG2RAG = Format(
    name="long2rag",
    title="Long²RAG questions",
    description=(
        "JSONL with a question on each line: its documents, key points with verbatim spans, and responses of "
        "systems. Only question and documents are needed."
    ),
    extensions=(".jsonl",),
    example=long2rag.EXAMPLE,
    parse=lambda file, problems, _: long2rag.parse(file.path, problems=problems, **file.limits),
    plan=QuestionPlan,
    kinds=("questions", "documents", "key_points", "spans", "systems", "responses"),
    address=lambda dataset: f"{reverse('benchmarks:questions')}?{urlencode({'dataset': dataset})}",
)
