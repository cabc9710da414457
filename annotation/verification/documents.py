"""The documents of a question as an annotator reads them: complete, with the passages of one key point marked.

Documents without a mark are the same for everybody, so they are rendered and compressed once; only those with one
are made for each page.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import get_language

from annotation.models import LabelTask
from annotation.pane import Pane, compress, direction_of, joined, kept, rendered_document
from annotation.verification.recording import Judgments
from benchmarks.models import Question, QuestionDocument, Span
from benchmarks.web.pages import Mark

VERSION = 1
"""Part of the name of what is kept: raise it when the markup changes."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A marked passage; `number` counts from 1 in the order of reading."""

    number: int
    document: QuestionDocument
    start: int
    end: int

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"span-{self.number}"


@dataclass(frozen=True, slots=True)
class Highlight:
    """What is marked for a task: passages, and quotes that no document holds."""

    passages: tuple[Passage, ...] = ()
    lost: tuple[str, ...] = ()

    def in_document(self, document: QuestionDocument) -> list[Passage]:
        """The passages of one document."""
        return [passage for passage in self.passages if passage.document == document]


def documents_of(question: Question) -> list[QuestionDocument]:
    """The documents in order, their texts left out until somebody needs them; one query."""
    return list(question.documents.order_by("number").defer("text"))


def highlight_for(item: Any, documents: list[QuestionDocument]) -> Highlight:
    """The passages of the key point that an item highlights, as far as it is one of the question; one query."""
    if item.highlight_of_id is None:
        return Highlight()
    by_pk = {document.pk: document for document in documents}
    spans = Span.objects.filter(key_point=item.highlight_of_id, key_point__question=item.question_id)
    places, lost = [], []
    for span in spans.order_by("number"):
        if span.start is not None and span.document_id in by_pk:
            places.append((by_pk[span.document_id], span.start, span.end or span.start))
        else:
            lost.append(span.quote)
    places.sort(key=lambda place: (place[0].number, place[1], place[2]))
    passages = (Passage(n, document, start, end) for n, (document, start, end) in enumerate(places, 1))
    return Highlight(tuple(passages), tuple(lost))


def laid_out(
    task: LabelTask, documents: list[QuestionDocument], highlight: Highlight, answer: Judgments
) -> dict[str, Any]:
    """What the page shows of a key point and an answer to it, stored or not."""
    question = task.item.question
    return {
        "question": question,
        "key_point": task.item.key_point,
        "direction": direction_of(question.language),
        "answer": answer,
        "documents": [(document, highlight.in_document(document)) for document in documents],
        "highlight": highlight,
    }


def pane_of(question: Question, documents: list[QuestionDocument], highlight: Highlight) -> Pane:
    """All documents, compressed; those with a mark made anew, the others as kept."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for passage in highlight.passages:
        marks[passage.document.pk].append(Mark(passage.start, passage.end, 1, passage.anchor))
    texts = QuestionDocument.objects.filter(pk__in=list(marks)).in_bulk() if marks else {}
    pieces = []
    for document in documents:
        if document.pk in marks:
            html = rendered_document(texts[document.pk], marks[document.pk], language=question.language)
            pieces.append(compress(html, level=4))
        else:
            pieces.append(
                kept(_name(question, document), partial(rendered_document, document, language=question.language))
            )
    return joined(pieces)


def _name(question: Question, document: QuestionDocument) -> tuple[Any, ...]:
    facts = (document.pk, document.number, document.title, document.n_words, question.language)
    return ("question", VERSION, str(question.uid), get_language(), *facts)
