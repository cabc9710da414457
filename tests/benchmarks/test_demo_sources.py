"""The demo's sources say what the documents of its questions say."""

from __future__ import annotations

from benchmarks.demo.questions import demo_questions
from benchmarks.demo.sources import N_PASSAGES, demo_sources


def test_sources_are_the_documents_of_questions_in_five_passages() -> None:
    for source, question in zip(demo_sources(), demo_questions(), strict=True):
        passages = [document["text"] for document in source["documents"]]
        assert len(passages) == N_PASSAGES
        assert min(len(text.split()) for text in passages) > 50
        assert "\n\n".join(passages) == "\n\n".join(document["text"] for document in question["documents"])
        assert set(source["reference"]) < {point["text"] for point in question["key_points"]}
