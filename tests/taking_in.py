"""Rows that were read already, taken into the database as a test needs them."""

import io
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from benchmarks.io.formats import Format
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.published import PUBLISHED_JUDGE
from benchmarks.io.questions import DEFAULT_DATASET, LONG2RAG
from benchmarks.io.reading.problems import Problems
from benchmarks.io.running import Report, applied
from benchmarks.io.schemas import sources, summhay
from benchmarks.io.schemas.long2rag import QuestionText
from benchmarks.io.schemas.topics import TopicFile
from benchmarks.io.sources import SOURCES

Rows = TypeVar("Rows")


def import_rows(
    entry: Format[Rows],
    files: Sequence[tuple[str, Rows]],
    *,
    request: ImportRequest,
    problems: Problems | None = None,
    dry_run: bool = False,
) -> Report:
    """Take parsed files in, each with its name, in one transaction. A dry run writes nothing.

    `problems` may hold the warnings of the parser; they come back in the report.

    Raises:
        ImportFailed: something would alter what was imported before; nothing is written.
    """
    problems = Problems() if problems is None else problems
    report = Report(tuple(entry.kinds), dry_run, problems)
    report.add(applied(entry, files, request=request, problems=problems, dry_run=dry_run))
    return report


def import_topic(
    topic: TopicFile | dict[str, Any],
    *,
    actor=None,
    now: datetime,
    dataset: str | None = None,
    judge_name: str = PUBLISHED_JUDGE,
    problems: Problems | None = None,
    dry_run: bool = False,
) -> Report:
    """Take one haystack in, as it was read or as its file says it.

    Published evaluations become verdicts of the imported judge `judge_name`.

    `dataset` None keeps the name that is there.

    Raises:
        ImportFailed: something would alter what was imported before; nothing is written.
    """
    if isinstance(topic, dict):
        topic = summhay.parse(io.BytesIO(json.dumps(topic).encode()), problems=problems, name="topic_harbour")
    request = ImportRequest(now=now, options={"dataset": dataset or "", "judge": judge_name}, actor=actor)
    return import_rows(SUMMHAY, [("", topic)], request=request, problems=problems, dry_run=dry_run)


def import_sources(
    lines: Sequence[dict[str, Any]], *, now: datetime, dataset: str = "", dry_run: bool = False
) -> Report:
    """Take documents with reference summaries in, as lines of a file say them."""
    request = ImportRequest(now=now, options={"dataset": dataset})
    return import_rows(SOURCES, [("", sources.parse(lines))], request=request, dry_run=dry_run)


def import_questions(
    questions: Sequence[QuestionText],
    *,
    dataset: str = DEFAULT_DATASET,
    actor,
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
