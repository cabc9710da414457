"""The catalogue of formats that can be imported: what each is called, what it holds, an example, its parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchmarks.exchange import eval_benchmark, long2rag, summhay

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


BENCHMARK_EXAMPLE = """[{
  "topic_id": "harbour-01", "topic": "The rebuilding of a small harbour",
  "subtopic_id": "costs", "subtopic": "What the works cost and who pays",
  "summkey": "summary_subtopic_keywords_some-model",
  "summary": ["What is known of the costs:", "- The mole became a third dearer [1]."],
  "reference_insights": [
    {"insight_id": "costs-1", "insight_name": "Price of the mole",
     "insight": "The new mole costs 4.2 million, a third more than planned."}],
  "annotation": [
    {"insight_id": "costs-1", "coverage": "partially_covered", "candidate_id": "1"}],
  "predictions_some-judge": [
    {"insight_id": "costs-1", "coverage": "FULL_COVERAGE", "bullet_id": 2}]
}]
"""


LONG2RAG_EXAMPLE = """\
{"key": "mole-cost", "question": "Why did the new mole cost more than planned?", "category": "causal", \
"domain": "economics", "documents": [{"key": "council", "title": "Minutes of the council", "text": "The council \
met on Monday. The mole became a third dearer because the sand under it had to be replaced by stone."}, {"key": \
"letter", "text": "Stone came by ship, and every ship that waited for weather was paid by the day."}], \
"key_points": [{"key": "sand", "text": "The ground was sand and had to be replaced by stone.", "autods": 0.91, \
"spans": [{"document": "council", "text": "the sand under it had to be replaced by stone"}]}, {"key": "ships", \
"text": "Ships that waited for weather were paid by the day.", "spans": [{"document": "letter", "text": "every \
ship that waited for weather was paid by the day"}]}], "responses": [{"system": "some-model", "text": "The \
ground was too soft, so stone had to be shipped in."}]}
{"key": "gulls", "question": "What could gulls do to the harbour next year?", "documents": ["Gulls nest on the \
roof of the fish hall, twelve pairs this year."], "key_points": ["They may nest on other roofs too."]}
"""


class Holds(StrEnum):
    """What a file brings: a corpus, questions, or labels of people (which the app of people takes in)."""

    CORPUS = "corpus"
    QUESTIONS = "questions"
    LABELS = "labels"


class UnknownFormat(Exception):
    """No format of the catalogue has this name."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file; `parse` takes a path or stream, `problems` and `limit_bytes`, and gives what it holds."""

    name: str
    title: str
    description: str
    extensions: tuple[str, ...]
    example: str
    parse: Callable[..., Any]
    holds: Holds = Holds.CORPUS


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
    "summhay-eval-benchmark": Format(
        name="summhay-eval-benchmark",
        title="SummHay annotated summaries",
        description=(
            "A JSON list of summaries with their reference insights, the labels of people and the predictions of "
            "judges, as published for judging the judges. Links of people count lines from 0, judges' from 1."
        ),
        extensions=(".json",),
        example=BENCHMARK_EXAMPLE,
        parse=eval_benchmark.parse,
        holds=Holds.LABELS,
    ),
    "long2rag": Format(
        name="long2rag",
        title="Long²RAG questions",
        description=(
            "JSONL with a question on each line: its documents, key points with verbatim spans, and responses of "
            "systems. Only question and documents are needed."
        ),
        extensions=(".jsonl",),
        example=LONG2RAG_EXAMPLE,
        parse=long2rag.parse,
        holds=Holds.QUESTIONS,
    ),
}


def get_format(name: str) -> Format:
    """Find a format; raises `UnknownFormat` with the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(f"There is no format “{name}”; use one of: {', '.join(FORMATS)}.") from None
