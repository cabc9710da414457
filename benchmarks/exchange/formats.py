"""The catalogue of formats that can be imported: what each is called, what it holds, an example, its parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.exchange import summhay
from benchmarks.exchange.topics import TopicFile

SUMMHAY_EXAMPLE = """{
  "topic_id": "harbour-01",
  "topic": "The rebuilding of a small harbour",
  "topic_metadata": {"participants": ["mayor", "engineer"]},
  "subtopics": [{
    "subtopic_id": "costs", "subtopic_name": "costs", "subtopic": "What the works cost and who pays",
    "query": "What do the harbour works cost?",
    "insights": [{"insight_id": "costs-1", "insight_name": "Price of the mole",
                  "insight": "The new mole costs 4.2 million, a third more than planned."}],
    "retriever": {"keywords": {"doc-a": 0.5, "doc-b": 0.0}},
    "summaries": {"summary_subtopic_keywords_some-model": ["- The mole became a third dearer [1]."]},
    "eval_summaries": {"summary_subtopic_keywords_some-model": [
      {"insight_id": "costs-1", "coverage": "PARTIAL_COVERAGE", "bullet_id": 1}]}
  }],
  "documents": [
    {"document_id": "doc-a", "document_text": "The council met on Monday …", "insights_included": ["costs-1"]},
    {"document_id": "doc-b", "document_text": "Fishing boats stayed out …", "insights_included": []}
  ]
}
"""


class UnknownFormat(Exception):
    """No format of the catalogue has this name."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file; `parse` takes a path or stream and keywords as `summhay.parse` does."""

    name: str
    title: str
    description: str
    extensions: tuple[str, ...]
    example: str
    parse: Callable[..., TopicFile]


FORMATS: dict[str, Format] = {
    "summhay": Format(
        name="summhay",
        title="SummHay haystack",
        description=(
            "One JSON file for each haystack, as published with Summary of a Haystack: documents, subtopics with "
            "their queries and insights, and where they exist retriever scores, summaries and their evaluations."
        ),
        extensions=(".json",),
        example=SUMMHAY_EXAMPLE,
        parse=summhay.parse,
    ),
}


def get_format(name: str) -> Format:
    """Find a format; raises `UnknownFormat` with the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(f"There is no format “{name}”; use one of: {', '.join(FORMATS)}.") from None
