"""What the page of a rating task shows, in a fixed number of queries; never the system behind the summary."""

from __future__ import annotations

from dataclasses import astuple
from functools import partial
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import get_language, gettext

from annotation.models import LabelTask
from annotation.pane import Pane, joined, kept, rendered_document
from annotation.rating.answers import RATED, Rated
from benchmarks.engine.texts import source_numbers
from benchmarks.judges.aspects import ASPECTS, Aspect, n_in_words
from benchmarks.models import Document, Haystack
from benchmarks.scoring.likert import LEVELS
from benchmarks.scoring.text import citation_pieces

VERSION = 1
"""Part of the name of what is kept: raise it when the markup changes."""


def page_context(task: LabelTask) -> dict[str, Any]:
    """The query, the documents, the summary with its citations, and the annotator's own ratings."""
    summary = task.item.summary
    numbers = source_numbers([summary])[summary.pk]
    rows = summary.haystack.documents.filter(number__in=numbers)
    return laid_out(task, list(rows.order_by("number").defer("text", "metadata")), RATED.current(task))


def laid_out(task: LabelTask, documents: list[Document], answer: Rated) -> dict[str, Any]:
    """A summary with documents and an answer, stored or not; `current` is the aspect at hand, as scripts begin."""
    summary = task.item.summary
    haystack = summary.haystack
    rated = [(_worded(aspect), answer.ratings.get(aspect.key)) for aspect in ASPECTS.values()]
    return {
        "subtopic": summary.subtopic,
        "haystack": haystack,
        "lines": [_pieces(line) for line in summary.lines if line.strip()],
        "shown": frozenset(document.number for document in documents),
        "documents": [(document, ()) for document in documents],
        "aspects": rated,
        "n_aspects": capfirst(gettext(n_in_words())),
        "current": next((aspect for aspect, value in rated if value is None), rated[0][0]),
        "levels": LEVELS,
        "answer": answer,
        "language": haystack.language,
        "direction": haystack.direction,
    }


def _worded(aspect: Aspect) -> Aspect:
    """In the reader's language."""
    return Aspect(aspect.key, *(gettext(text) for text in astuple(aspect)[1:]))


def _pieces(line: str) -> list[tuple[str, int | None]]:
    """A line in pieces, each with the number of the document that is cited after it, if one is."""
    pieces: list[tuple[str, int | None]] = []
    end = ""
    for text, cited in citation_pieces(line):
        for at, number in enumerate(cited):
            pieces.append((", " if at else f"{end}{text}[", number))
        end = "]" if cited else f"{end}{text}"
    return [*pieces, (end, None)]


def pane(context: dict[str, Any]) -> Pane:
    """The texts of the documents, each compressed once, to be stitched into the page."""
    haystack = context["haystack"]
    return joined(
        kept(_name(haystack, document), partial(rendered_document, document, language=haystack.language))
        for document, _passages in context["documents"]
    )


def _name(haystack: Haystack, document: Document) -> tuple[Any, ...]:
    facts = (document.pk, document.number, document.title, document.n_words, haystack.language)
    return ("haystack", VERSION, str(haystack.uid), haystack.content_sha256, get_language(), *facts)
