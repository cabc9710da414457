"""Questions as JSON lines: frozen rows, their parser and printer, and the place of quoted passages in a text.

A passage is found letter by letter, as it is compared (`scoring.text`), or nearly. A span that people see must be
what was quoted or say how far from it; what is too far is not found at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

import orjson
from pydantic import AfterValidator, BeforeValidator, Field
from rapidfuzz import fuzz

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import Limits, example
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import (
    Expected,
    Id,
    Part,
    Text,
    as_object,
    checked,
    label,
    no_nul,
    null_as,
    report_twice,
)
from benchmarks.io.schemas.topics import TopicDocument
from benchmarks.scoring.text import fold, same_letters, same_signs, widen

LEAST_RATIO = 0.75
"""Quotes less alike than this are not found; beside it stands the ratio, so that readers can be stricter."""

OTHER_FORMS = 0.9999
"""The ratio of a place that holds other forms of the same signs, such as an accent by itself, or other spaces."""


@dataclass(frozen=True, slots=True)
class Place:
    """Code points `start` to `end` (excluded) of a document by its number; `ratio` is 1 if all letters agree."""

    document: int
    start: int
    end: int
    ratio: float


def locate(
    quote: str, texts: Mapping[int, str], *, start: int | None = None, end: int | None = None
) -> Place | None:
    """Find a quote in documents by number; None where nothing is at least 0.75 alike.

    The same letters in any document win over other forms of the same signs, and these over likeness. Offsets in
    one document, in code points or else in UTF-16, choose the nearest of equal places, and are a place themselves
    where the text there is like the quote; without them the first is taken. No place cuts a grapheme.
    """
    offsets: list[tuple[int, int]] = []
    if start is not None and end is not None and len(texts) == 1:
        [text] = texts.values()
        offsets = [(start, end), (_from_utf16(text, start), _from_utf16(text, end))]
    for search in (same_letters, same_signs):
        for number, text in texts.items():
            if places := search(quote, text):
                nearest = min(places, key=lambda place: min((abs(place[0] - at) for at, _ in offsets), default=0))
                return _place(quote, number, text, *nearest)
    return _alike_at(quote, texts, offsets) or _nearly(quote, texts)


def _from_utf16(text: str, at: int) -> int:
    """A place counted in UTF-16, as browsers and Java count, in code points."""
    units = text[:at].encode("utf-16-le", "surrogatepass")[: 2 * at]
    return len(units.decode("utf-16-le", "ignore"))


def _alike_at(quote: str, texts: Mapping[int, str], offsets: list[tuple[int, int]]) -> Place | None:
    places = [
        _place(quote, number, text, *widen(text, start, end))
        for number, text in texts.items()
        for start, end in offsets
        if start < end <= len(text)
    ]
    best = max(places, key=lambda place: place.ratio, default=None)
    return best if best is not None and best.ratio >= LEAST_RATIO else None


def _nearly(quote: str, texts: Mapping[int, str]) -> Place | None:
    best: Place | None = None
    for number, text in texts.items():
        alignment = fuzz.partial_ratio_alignment(quote, text, score_cutoff=100 * LEAST_RATIO)
        if alignment is None or alignment.dest_start >= alignment.dest_end:
            continue
        inside = text[alignment.dest_start : alignment.dest_end]
        start = alignment.dest_end - len(inside.lstrip())
        place = _place(quote, number, text, *widen(text, start, start + len(inside.strip())))
        if place.ratio >= LEAST_RATIO and (best is None or place.ratio > best.ratio):
            best = place
    return best


def _place(quote: str, number: int, text: str, start: int, end: int) -> Place:
    """With the likeness of the whole quote, not of the part that aligns; other forms of its signs are alike."""
    there = text[start:end]
    if quote == there:
        return Place(number, start, end, 1.0)
    forms = fuzz.ratio(fold(quote, exact=True).text.strip(), fold(there, exact=True).text.strip())
    return Place(number, start, end, min(max(fuzz.ratio(quote, there), forms) / 100, OTHER_FORMS))


CATEGORIES = (
    "factual",
    "explanatory",
    "comparative",
    "subjective",
    "methodological",
    "causal",
    "hypothetical",
    "predictive",
)
"""The eight kinds of questions of Long²RAG (Figure 3), in its order; a dataset may have others."""

DOMAINS = (
    "artificial intelligence",
    "biology",
    "economics",
    "film",
    "history",
    "music",
    "religion",
    "sports",
    "technology",
    "others",
)
"""The ten domains of Long²RAG (Figure 10); a dataset may have others."""

_OTHER_NAMES = {"ai": "artificial intelligence", "other": "others"}


@dataclass(frozen=True, slots=True)
class SpanText:
    """A quoted passage: `start` to `end` (code points, end excluded) of the document with this number.

    All but the quote is None where it was not found; then `document` may still say where it should be.
    `match_ratio` is 0 to 1.
    """

    quote: str
    document: int | None = None
    start: int | None = None
    end: int | None = None
    match_ratio: float | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the document has the quote letter by letter."""
        return self.match_ratio == 1.0


@dataclass(frozen=True, slots=True)
class KeyPointText:
    """One key point; `number` is its position from 1, `autods` a share from 0 to 1."""

    number: int
    key: str
    text: str
    autods: float | None = None
    spans: tuple[SpanText, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseText:
    """The answer of a system."""

    system: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionText:
    """One question with everything that belongs to it; `where` says which row of the file it was."""

    key: str
    text: str
    category: str = ""
    domain: str = ""
    language: str = "en"
    documents: tuple[TopicDocument, ...] = ()
    key_points: tuple[KeyPointText, ...] = ()
    responses: tuple[ResponseText, ...] = ()
    where: str = field(default="", compare=False)


def known_name(name: str, known: tuple[str, ...]) -> str:
    """The known spelling of a category or domain (“Factual Questions” is factual), else the name as given."""
    plain = " ".join(name.casefold().split())
    plain = plain.removesuffix(" questions").removesuffix(" question")
    plain = _OTHER_NAMES.get(plain, plain)
    return plain if plain in known else name.strip()


SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
EXAMPLE = example("long2rag.jsonl")

A_DOCUMENT = "the key of a document or its position from 0"
Share = Annotated[float | None, Expected("a number from 0 to 1")]
Name = Annotated[Id, Expected("a name of 1 to 120 characters")]
Language = Annotated[str, Field(min_length=1, max_length=20), Expected("a language tag of 1 to 20 characters")]


class SpanPart(Part):
    """A verbatim passage of a document, or just its text."""

    text: Text = Field(description="The passage, as quoted.")
    document: Annotated[int | str | None, Expected(A_DOCUMENT)] = Field(
        default=None, description="Key of the document, or its position from 0; without it all are searched."
    )
    start: Annotated[int | None, Expected("a whole number from 0")] = Field(
        default=None, ge=0, description="Code points before it in the document's text; a hint that is checked."
    )
    end: Annotated[int | None, Expected("a whole number from 1")] = Field(
        default=None, ge=1, description="Code points up to its end."
    )
    match: Share = Field(
        default=None, ge=0, le=1, description="Likeness of quote and text, on export; computed anew on import."
    )


class DocumentPart(Part):
    """A document, or just its text."""

    text: Text = Field(description="The whole text.")
    key: Id | None = Field(default=None, description="Unique in the question; by default its number from 1.")
    title: label(300) = Field(default="", description="Title.")  # type: ignore[valid-type]


class KeyPointPart(Part):
    """A key point, or just its text."""

    text: Text = Field(description="What a good answer says.")
    key: Id | None = Field(default=None, description="Unique in the question; by default its number from 1.")
    autods: Share = Field(
        default=None, ge=0, le=1, description="Share of yes of a model that was asked whether this is a key point."
    )
    spans: Annotated[
        list[Annotated[SpanPart, BeforeValidator(as_object, json_schema_input_type=str | SpanPart)]],
        null_as(list, list[str | SpanPart] | None),
        Expected("a list of spans"),
    ] = Field(default_factory=list, description="Passages that it was taken from.")


class ResponsePart(Part):
    """A system's answer."""

    system: Name = Field(description="Name of the system; unique in the question.")
    text: Annotated[str, AfterValidator(no_nul), Expected("a text")] = Field(
        description="The response; empty if the system gave none."
    )


class QuestionPart(Part):
    """One line of the file."""

    EXPECTED = "an object with a question"
    key: Id = Field(description="Unique in the dataset.")
    question: Text = Field(description="The question.")
    documents: Annotated[
        list[Annotated[DocumentPart, BeforeValidator(as_object, json_schema_input_type=str | DocumentPart)]],
        Field(min_length=1),
        Expected("a list of at least one document"),
    ] = Field(description="In the order shown to the system; at least one.")
    category: label(60) = Field(default="", description="Kind of question.")  # type: ignore[valid-type]
    domain: label(60) = Field(default="", description="Subject.")  # type: ignore[valid-type]
    language: Language = Field(default="en", description="Language tag of the texts.")
    key_points: Annotated[
        list[Annotated[KeyPointPart, BeforeValidator(as_object, json_schema_input_type=str | KeyPointPart)]],
        null_as(list, list[str | KeyPointPart] | None),
        Expected("a list of key points"),
    ] = Field(default_factory=list, description="Reference key points; may be missing.")
    responses: Annotated[
        list[ResponsePart], null_as(list, list[ResponsePart] | None), Expected("a list of responses")
    ] = Field(default_factory=list, description="Answers of systems; may be missing.")


def parse(
    source: jsonlines.Source, *, problems: Problems | None = None, **limits: Unpack[Limits]
) -> tuple[QuestionText, ...]:
    """Read all of a file, or of objects as its lines hold; raises `ImportFailed` if there is any error."""
    return jsonlines.all_rows(source, _question, problems, expected="a question on each line", **limits)


def read(source: jsonlines.Source, *, problems: Problems, **limits: Unpack[Limits]) -> Iterator[QuestionText]:
    """Yield the good lines one by one; what is wrong with the others is in `problems`."""
    return jsonlines.rows(source, _question, problems, **limits)


def schema_text() -> str:
    """The JSON Schema of a line, as the documentation holds it."""
    schema = QuestionPart.model_json_schema(mode="validation")
    schema_of_line = {"$schema": SCHEMA_ID, **schema, "title": "A line of a long2rag file"}
    return json.dumps(schema_of_line, indent=2, ensure_ascii=False) + "\n"


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
    part = checked(QuestionPart, value, where, problems, warns=True)
    if part is None:
        return None
    before = problems.n_errors
    documents = tuple(
        TopicDocument(row.key or str(number), number, row.text, row.title)
        for number, row in enumerate(part.documents, 1)
    )
    points = [(row.key or str(number), row) for number, row in enumerate(part.key_points, 1)]
    report_twice(where, "documents", "key", [row.key for row in documents], problems)
    report_twice(where, "key_points", "key", [key for key, _ in points], problems)
    report_twice(where, "responses", "system", [row.system for row in part.responses], problems)
    key_points = tuple(
        KeyPointText(
            number=number,
            key=key,
            text=row.text,
            autods=row.autods,
            spans=tuple(
                _span(f"{where}, key_points[{number - 1}].spans[{position}]", span, documents, problems)
                for position, span in enumerate(row.spans)
            ),
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


def _span(where: str, part: SpanPart, documents: tuple[TopicDocument, ...], problems: Problems) -> SpanText:
    """Find a span; one that is not there stays, without a place, and is reported."""
    named = _named(part.document, documents)
    if part.document is not None and named is None:
        problems.error("unknown_document", where, "document", expected=A_DOCUMENT, got=part.document)
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
            got=Got(
                "other forms of its signs or spaces"
                if place.ratio >= OTHER_FORMS
                else f"one that is {place.ratio:.0%} like it"
            ),
        )
    if part.start is not None and (place.start, place.end) != (part.start, part.end):
        problems.warning(
            "span_elsewhere",
            where,
            "start",
            expected="the place of the passage in code points",
            got=part.start,
            message=f"It is at {place.start} to {place.end}.",
        )
    return SpanText(part.text, place.document, place.start, place.end, place.ratio)


def _named(name: int | str | None, documents: tuple[TopicDocument, ...]) -> TopicDocument | None:
    if isinstance(name, int):
        return documents[name] if 0 <= name < len(documents) else None
    return next((row for row in documents if row.key == name), None)
