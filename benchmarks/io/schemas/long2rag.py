"""Questions as JSONL, one with all its parts on a line: forgiving about what is optional, strict about the rest.

The shape of a line is in `long2rag_schema`; here are the rules between its parts, and the way in and out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic import ValidationError

from benchmarks.io.reading import files, jsonlines
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.long2rag_schema import EXPECTED, KNOWN, KeyPointPart, QuestionPart, SpanPart
from benchmarks.io.schemas.questions import (
    CATEGORIES,
    DOMAINS,
    DocumentText,
    KeyPointText,
    QuestionText,
    ResponseText,
    SpanText,
    known_name,
)
from benchmarks.io.schemas.spans import locate

LISTS = ("documents", "key_points", "responses")
EXAMPLE = """\
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


def parse(
    source: Path | BinaryIO | Iterable[dict[str, Any]],
    *,
    problems: Problems | None = None,
    limit_bytes: int | None = None,
    progress: files.Progress | None = None,
) -> tuple[QuestionText, ...]:
    """Read all of a file, or of objects as its lines hold; raises `ImportFailed` if there is any error."""
    problems = Problems() if problems is None else problems
    found = tuple(read(source, problems=problems, limit_bytes=limit_bytes, progress=progress))
    if not found and not problems.n_errors:
        problems.error("empty_file", "", "", expected="a question on each line", got=Got("an empty file"))
    problems.raise_errors()
    return found


def read(
    source: Path | BinaryIO | Iterable[dict[str, Any]],
    *,
    problems: Problems,
    limit_bytes: int | None = None,
    progress: files.Progress | None = None,
) -> Iterator[QuestionText]:
    """Yield the good lines one by one; what is wrong with the others is in `problems`."""
    seen: dict[str, str] = {}
    for where, value in jsonlines.values(source, problems, limit_bytes=limit_bytes, progress=progress):
        question = _question(where, value, problems)
        if question is None:
            continue
        if first := seen.get(question.key):
            problems.error(
                "duplicate_key",
                where,
                "key",
                expected="an id that no other line has",
                got=Got(f"“{question.key}”, as in {first}"),
            )
            continue
        seen[question.key] = where
        yield question


def dump(questions: Iterable[QuestionText]) -> Iterator[bytes]:
    """Print a line for each; parsing them gives the same questions again."""
    for question in questions:
        yield orjson.dumps(as_json(question), option=orjson.OPT_APPEND_NEWLINE)


def as_json(question: QuestionText) -> dict[str, Any]:
    """One line as plain values; parts that are empty are left out."""
    keys = {document.number: document.key for document in question.documents}
    line: dict[str, Any] = {"key": question.key, "question": question.text}
    line |= {"category": question.category} if question.category else {}
    line |= {"domain": question.domain} if question.domain else {}
    line |= {"language": question.language} if question.language != "en" else {}
    line["documents"] = [
        {"key": row.key, **({"title": row.title} if row.title else {}), "text": row.text}
        for row in question.documents
    ]
    if question.key_points:
        line["key_points"] = [_point_json(point, keys) for point in question.key_points]
    if question.responses:
        line["responses"] = [{"system": row.system, "text": row.text} for row in question.responses]
    return line


def _point_json(point: KeyPointText, keys: dict[int, str]) -> dict[str, Any]:
    value: dict[str, Any] = {"key": point.key, "text": point.text}
    if point.autods is not None:
        value["autods"] = point.autods
    if point.spans:
        value["spans"] = [_span_json(span, keys) for span in point.spans]
    return value


def _span_json(span: SpanText, keys: dict[int, str]) -> dict[str, Any]:
    value: dict[str, Any] = {} if span.document is None else {"document": keys[span.document]}
    value["text"] = span.quote
    if span.start is not None:
        value |= {"start": span.start, "end": span.end, "match": span.match_ratio}
    return value


def _question(where: str, value: Any, problems: Problems) -> QuestionText | None:
    if not isinstance(value, dict):
        problems.error("wrong_type", where, "", expected="an object with a question", got=value)
        return None
    try:
        part = QuestionPart.model_validate(value)
    except ValidationError as error:
        jsonlines.report_invalid(where, error, problems, expected=EXPECTED)
        return None
    jsonlines.report_unknown(_parts(where, value), problems, known=KNOWN)
    before = problems.n_errors
    documents = tuple(
        DocumentText(number=number, key=row.key or str(number), text=row.text, title=row.title)
        for number, row in enumerate(part.documents, 1)
    )
    points = [(row.key or str(number), row) for number, row in enumerate(part.key_points, 1)]
    jsonlines.report_twice(where, "documents", "key", [row.key for row in documents], problems)
    jsonlines.report_twice(where, "key_points", "key", [key for key, _ in points], problems)
    jsonlines.report_twice(where, "responses", "system", [row.system for row in part.responses], problems)
    key_points = tuple(
        KeyPointText(
            number=number,
            key=key,
            text=row.text,
            autods=row.autods,
            spans=_spans(f"{where}, key_points[{number - 1}]", row, documents, problems),
        )
        for number, (key, row) in enumerate(points, 1)
    )
    if problems.n_errors > before:
        return None
    return QuestionText(
        key=part.key,
        text=part.question,
        category=known_name(part.category, CATEGORIES),
        domain=known_name(part.domain, DOMAINS),
        language=part.language,
        documents=documents,
        key_points=key_points,
        responses=tuple(ResponseText(row.system, row.text) for row in part.responses),
        where=where,
    )


def _spans(
    where: str, point: KeyPointPart, documents: tuple[DocumentText, ...], problems: Problems
) -> tuple[SpanText, ...]:
    return tuple(
        _span(f"{where}.spans[{position}]", part, documents, problems) for position, part in enumerate(point.spans)
    )


def _span(where: str, part: SpanPart, documents: tuple[DocumentText, ...], problems: Problems) -> SpanText:
    """Find a span; one that is not there stays, without a place, and is reported."""
    named = _named(part.document, documents)
    if part.document is not None and named is None:
        problems.error("unknown_document", where, "document", expected=EXPECTED["document"], got=part.document)
        return SpanText(part.text)
    texts = {row.number: row.text for row in documents if named is None or row is named}
    place = locate(part.text, texts, start=part.start, end=part.end)
    if place is None:
        problems.warning("span_not_found", where, "text", expected="a passage of the document", got=part.text)
        return SpanText(part.text, document=None if named is None else named.number)
    if place.ratio < 1:
        problems.warning(
            "span_inexact",
            where,
            "text",
            expected="a passage of the document, letter by letter",
            got=Got(f"one that is {place.ratio:.0%} like it"),
        )
    return SpanText(part.text, place.document, place.start, place.end, place.ratio)


def _named(name: int | str | None, documents: tuple[DocumentText, ...]) -> DocumentText | None:
    if isinstance(name, int):
        return documents[name] if 0 <= name < len(documents) else None
    return next((row for row in documents if row.key == name), None)


def _parts(where: str, value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """A line and the objects in it: where each is, the list it is in, and the object."""
    yield where, "", value
    for at, name, part in jsonlines.members(where, value, LISTS):
        yield at, name, part
        if name == "key_points" and isinstance(part, dict):
            spans = enumerate(part.get("spans") or ())
            yield from ((f"{at}.spans[{number}]", "spans", span) for number, span in spans)
