"""The published haystack files of Summary of a Haystack (one topic a file), in and out.

Subtopics come before documents, so what refers to documents is settled at the end. Names of fields are those of
the files; what our rows mean is in `topics`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO, Unpack

import orjson

from benchmarks import system_names as systems
from benchmarks.io.reading import files, jsonlines
from benchmarks.io.reading.files import example
from benchmarks.io.reading.problems import Got, ImportFailed, Problems
from benchmarks.io.schemas.fields import checked, shortened, small_metadata
from benchmarks.io.schemas.summhay_parts import (
    PUBLISHED,
    Draft,
    Scores,
    TopPart,
    as_published,
    read_document,
    read_subtopic,
    scores_by_number,
)
from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicSubtopic
from benchmarks.system_names import TopicSystem

READERS = {"subtopics": read_subtopic, "documents": read_document}
LEFT_OUT_OF_TOPICS = frozenset({"articles"})
EXPECTED = "an object with topic_id, topic, subtopics and documents"
EXAMPLE = example("summhay.json")


def parse(
    source: Path | BinaryIO, *, problems: Problems | None = None, name: str = "", **limits: Unpack[files.Limits]
) -> TopicFile:
    """Read one haystack file.

    Warnings and errors go into `problems`. Raises `ImportFailed` if there is any error: all or nothing.
    """
    draft = Draft(Problems() if problems is None else problems)
    with files.opened(source, draft.problems, **limits) as stream:
        _read(stream.read().removeprefix(files.BOM), draft)
    return _assemble(draft, name or (source.stem if isinstance(source, Path) else ""))


def _read(data: bytes, draft: Draft) -> None:
    expected = "a JSON file of one haystack"
    if data.strip():
        value = jsonlines.loaded(data, draft.problems, expected=expected, kind="unreadable")
    else:
        draft.problems.error("unreadable", "", "", expected=expected, got=Got("an empty file"))
    draft.problems.raise_errors()
    if not isinstance(value, dict):
        got = Got({list: "a list", str: "a text", NoneType: "null"}.get(type(value), "a number"))
        hint = _hint(value[0]) if isinstance(value, list) and value else ""
        draft.problems.error("wrong_schema", "", "", expected=EXPECTED, got=got, message=hint)
        raise ImportFailed(draft.problems)
    draft.fields = value
    for name, parts in value.items():
        if name in READERS and isinstance(parts, list):
            for position, part in enumerate(parts):
                READERS[name](draft, part, position)


def _hint(first: Any) -> str:
    if isinstance(first, dict) and "summkey" in first:
        return "It looks like the benchmark of annotated summaries, which is another format."
    if isinstance(first, dict) and "documents" in first:
        return "It looks like several haystacks in one list; give one file for each."
    return ""


def _assemble(draft: Draft, name: str) -> TopicFile:
    top = checked(TopPart, draft.fields, "", draft.problems)
    _report_dangling(draft)
    if top is None or draft.problems.n_errors:  # what follows would only warn of what these errors caused
        raise ImportFailed(draft.problems)
    metadata = draft.fields.get("topic_metadata")
    numbers = {document.key: document.number for document in draft.documents}
    return TopicFile(
        key=top.topic_id,
        title=shortened(top.topic),
        documents=tuple(draft.documents),
        subtopics=tuple(_finished(draft, subtopic, scores, numbers) for subtopic, scores in draft.subtopics),
        systems=_systems(draft),
        domain=_domain(metadata, name),
        metadata=small_metadata(metadata, leave_out=LEFT_OUT_OF_TOPICS),
        source_name=name,
    )


def _systems(draft: Draft) -> tuple[TopicSystem, ...]:
    for key, where in draft.systems.items():
        if systems.is_guess(key, retrievers=draft.retrievers):
            system = systems.parse_system(key, retrievers=draft.retrievers)
            expected = "a retriever that the file has scores of, an underscore, and a model"
            message = f"Read as retriever “{system.retriever}” and model “{system.summarizer}”."
            draft.problems.warning("ambiguous_system", where, key, expected=expected, got=key, message=message)
    return tuple(systems.parse_system(key, retrievers=draft.retrievers) for key in draft.systems)


def _domain(metadata: Any, name: str) -> str:
    if isinstance(metadata, dict) and "participants" in metadata:
        return "conversation"
    if (isinstance(metadata, dict) and "articles" in metadata) or "news" in name.lower():
        return "news"
    return ""


def _report_dangling(draft: Draft) -> None:
    if draft.problems.n_errors:  # a row that was not read would make all that names it seem to dangle
        return
    known = {insight.key for subtopic, _ in draft.subtopics for insight in subtopic.insights}
    for where, key in draft.held:
        if key not in known:
            draft.problems.error(
                "dangling_id", where, "", expected="an insight_id of one of the subtopics", got=key
            )


def _finished(draft: Draft, subtopic: TopicSubtopic, scores: Scores, numbers: Mapping[str, int]) -> TopicSubtopic:
    where = f"subtopics[{subtopic.number - 1}]"
    by_number = scores_by_number(scores, numbers, f"{where}.retriever", draft.problems)
    insights = tuple(
        replace(insight, gold_documents=tuple(sorted(set(draft.gold.get(insight.key, ())))))
        for insight in subtopic.insights
    )
    for at, insight in enumerate(insights):
        if not insight.gold_documents:
            place, expected = f"{where}.insights[{at}]", "an insight that some document includes"
            draft.problems.warning(
                "insight_in_no_document", place, "insight_id", expected=expected, got=insight.key
            )
    renamed = {systems.retriever_name(published): kept for published, kept in by_number.items()}
    return replace(subtopic, insights=insights, scores=renamed)


def dump(topic: TopicFile) -> Iterator[bytes]:
    """Print a haystack in the published format, in pieces that joined are one JSON object.

    Parsing the result gives the same topic again, up to `source_name`. What `parse` left out is not there.
    """
    held: dict[int, list[str]] = {}
    for subtopic in topic.subtopics:
        for insight in subtopic.insights:
            for number in insight.gold_documents:
                held.setdefault(number, []).append(insight.key)
    keys = {document.number: document.key for document in topic.documents}
    head = {"topic_id": topic.key, "topic_metadata": _in_order(topic.metadata), "topic": topic.title}
    yield orjson.dumps(head)[:-1] + b',"subtopics":['
    for position, subtopic in enumerate(topic.subtopics):
        yield (b"," if position else b"") + orjson.dumps(_subtopic_json(subtopic, keys))
    yield b'],"documents":['
    for position, document in enumerate(topic.documents):
        yield (b"," if position else b"") + orjson.dumps(_document_json(document, held.get(document.number, [])))
    yield b"]}\n"


def _in_order(metadata: Mapping[str, Any]) -> orjson.Fragment:
    """Metadata sorted by its names: PostgreSQL keeps no order, and the file is the same whatever the database."""
    return orjson.Fragment(orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS))


def _document_json(document: TopicDocument, held: list[str]) -> dict[str, Any]:
    metadata = dict(document.metadata)
    if document.title and "title" not in metadata:
        metadata["title"] = document.title
    return {
        "document_id": document.key,
        "document_text": document.text,
        "document_metadata": _in_order(metadata),
        "insights_included": held,
        "idx": document.number - 1,
    }


def _subtopic_json(subtopic: TopicSubtopic, keys: Mapping[int, str]) -> dict[str, Any]:
    return {
        "subtopic_id": subtopic.key,
        "subtopic_name": subtopic.name,
        "subtopic": subtopic.description,
        "insights": [
            {"insight_id": insight.key, "insight_name": insight.name, "insight": insight.text}
            for insight in subtopic.insights
        ],
        "query": subtopic.query,
        "retriever": {
            systems.published_retriever(retriever): {keys[number]: score for number, score in scores.items()}
            for retriever, scores in subtopic.scores.items()
        },
        "summaries": {systems.PREFIX + summary.system_key: list(summary.lines) for summary in subtopic.summaries},
        "eval_summaries": {
            systems.PREFIX + summary.system_key: [
                as_published(verdict, "bullet_id", words=PUBLISHED, none="NA", likely=True)
                for verdict in summary.verdicts
            ]
            for summary in subtopic.summaries
            if summary.verdicts
        },
    }
