"""What the page of a key point shows, in a fixed number of queries, whatever the study's size."""

from __future__ import annotations

from typing import Any

from annotation.models import LabelTask
from annotation.pane import Pane, direction_of
from annotation.verification.documents import documents_of, highlight_for, pane_of
from annotation.verification.recording import POINT


def page_context(task: LabelTask) -> dict[str, Any]:
    """The question, its documents with the passages to highlight, the key point, the annotator's own answer."""
    question = task.item.question
    documents = documents_of(question)
    highlight = highlight_for(task.item, documents)
    return {
        "question": question,
        "key_point": task.item.key_point,
        "direction": direction_of(question.language),
        "answer": POINT.current(task),
        "documents": [(document, highlight.in_document(document)) for document in documents],
        "highlight": highlight,
    }


def pane(context: dict[str, Any]) -> Pane:
    """The texts of the documents, to be stitched into the page."""
    documents = [document for document, _passages in context["documents"]]
    return pane_of(context["question"], documents, context["highlight"])
