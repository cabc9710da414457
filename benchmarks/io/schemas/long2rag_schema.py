"""The shape of one line of a `long2rag` file, as models that check it and print its JSON Schema."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from benchmarks.io.schemas.fields import Id, Part, Text, as_object, label, no_nul, nothing_is_none

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


class SpanPart(Part):
    """A verbatim passage of a document, or just its text."""

    text: Text = Field(description="The passage, as quoted.")
    document: int | str | None = Field(
        default=None, description="Key of the document, or its position from 0; without it all are searched."
    )
    start: int | None = Field(
        default=None, ge=0, description="Code points before it in the document's text; a hint that is checked."
    )
    end: int | None = Field(default=None, ge=1, description="Code points up to its end.")
    match: float | None = Field(
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
    autods: float | None = Field(
        default=None, ge=0, le=1, description="Share of yes of a model that was asked whether this is a key point."
    )
    spans: Annotated[
        list[Annotated[SpanPart, BeforeValidator(as_object, json_schema_input_type=str | SpanPart)]],
        BeforeValidator(nothing_is_none, json_schema_input_type=list[str | SpanPart] | None),
    ] = Field(default_factory=list, description="Passages that it was taken from.")


class ResponsePart(Part):
    """What one system answered."""

    system: Id = Field(description="Name of the system; unique in the question.")
    text: Annotated[str, AfterValidator(no_nul)] = Field(
        description="The response; empty if the system gave none."
    )


class QuestionPart(Part):
    """One line of the file."""

    key: Id = Field(description="Unique in the dataset.")
    question: Text = Field(description="The question.")
    documents: Annotated[
        list[Annotated[DocumentPart, BeforeValidator(as_object, json_schema_input_type=str | DocumentPart)]],
        Field(min_length=1),
    ] = Field(description="In the order shown to the system; at least one.")
    category: label(60) = Field(default="", description="Kind of question.")  # type: ignore[valid-type]
    domain: label(60) = Field(default="", description="Subject.")  # type: ignore[valid-type]
    language: Annotated[str, Field(min_length=1, max_length=20)] = Field(
        default="en", description="Language tag of the texts."
    )
    key_points: Annotated[
        list[Annotated[KeyPointPart, BeforeValidator(as_object, json_schema_input_type=str | KeyPointPart)]],
        BeforeValidator(nothing_is_none, json_schema_input_type=list[str | KeyPointPart] | None),
    ] = Field(default_factory=list, description="Reference key points; may be missing.")
    responses: Annotated[
        list[ResponsePart], BeforeValidator(nothing_is_none, json_schema_input_type=list[ResponsePart] | None)
    ] = Field(default_factory=list, description="Answers of systems; may be missing.")


EXPECTED = {
    "key": "an id of 1 to 120 characters",
    "system": "a name of 1 to 120 characters",
    "question": "a text that is not empty",
    "text": "a text that is not empty",
    "documents": "a list of at least one document",
    "key_points": "a list of key points",
    "spans": "a list of spans",
    "responses": "a list of responses",
    "autods": "a number from 0 to 1",
    "match": "a number from 0 to 1",
    "start": "a whole number from 0",
    "end": "a whole number from 1",
    "document": "the key of a document or its position from 0",
    "category": "a text of at most 60 characters",
    "domain": "a text of at most 60 characters",
    "title": "a text of at most 300 characters",
    "language": "a language tag of 1 to 20 characters",
}
KNOWN: dict[str, frozenset[str]] = {
    "": frozenset(QuestionPart.model_fields),
    "documents": frozenset(DocumentPart.model_fields),
    "key_points": frozenset(KeyPointPart.model_fields),
    "spans": frozenset(SpanPart.model_fields),
    "responses": frozenset(ResponsePart.model_fields),
}


def schema_text() -> str:
    """The JSON Schema of a line, as the documentation holds it."""
    schema = QuestionPart.model_json_schema(mode="validation")
    schema_of_line = {"$schema": SCHEMA_ID, **schema, "title": "A line of a long2rag file"}
    return json.dumps(schema_of_line, indent=2, ensure_ascii=False) + "\n"
