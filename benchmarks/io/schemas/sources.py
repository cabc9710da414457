"""Documents with reference summaries as JSONL, in and out, and scores of texts on them, a line for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

import orjson
from pydantic import AfterValidator, BeforeValidator, Field

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import Limits, example
from benchmarks.io.reading.problems import Got, Problems, joined
from benchmarks.io.schemas.fields import Expected, Id, Part, Text, as_object, checked, label, null_as, report_twice
from benchmarks.io.schemas.long2rag import DocumentPart, Language, Name
from benchmarks.io.schemas.topics import TopicDocument, TopicFile, TopicInsight, TopicSubtopic
from benchmarks.scoring.spread import sentences
from benchmarks.summarizers.arrangements import RELEVANCE

SUBTOPIC = "reference"
"""The id of the one subtopic that a source has."""
OWN_SCORES = frozenset({"coverage", "citation", "joint", "rouge1", "rouge2", "rougeL"})
"""Names of scores that are computed here."""
EXAMPLE = example("sources.jsonl")
SCORES_EXAMPLE = example("source-scores.jsonl")

A_REFERENCE = "a text that is not empty, or a list of such texts"
SCORES = (
    "an object of numbers by the names of metrics, none of which is computed here "
    f"({', '.join(sorted(OWN_SCORES))})"
)
TextIsList = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)


def named_scores(value: dict[str, float]) -> dict[str, float]:
    """Scores as they are; ValueError where the name of one cannot be used."""
    if any(not 0 < len(name) <= 60 or "\x00" in name or name in OWN_SCORES for name in value):
        raise ValueError("a name that cannot be used")
    return value


Scores = Annotated[dict[str, Annotated[float, Expected(SCORES)]], AfterValidator(named_scores), Expected(SCORES)]


class SummaryPart(Part):
    """The text of one system or person."""

    EXPECTED = "an object with a text, and a system or a person"
    system: Name | None = None
    person: Name | None = None
    text: Text
    visible_words: Annotated[int | None, Field(ge=1, le=2_000_000_000), Expected("a whole number from 1")] = None
    scores: Annotated[Scores, null_as(dict)] = Field(default_factory=dict)


class ScorePart(Part):
    """One line of a file of scores by metrics that are computed elsewhere."""

    EXPECTED = "an object with a key, a system or a person, and scores"
    key: Id
    system: Name | None = None
    person: Name | None = None
    scores: Annotated[Scores, Field(min_length=1)]


class SourceDocumentPart(DocumentPart):
    """A document, or just its text; `relevance` is how like the reference it is by a metric computed elsewhere."""

    relevance: Annotated[float | None, Expected("a number")] = None


class SourcePart(Part):
    """One line of the file."""

    EXPECTED = "an object with documents and a reference"
    key: Id
    title: label(300) = ""  # type: ignore[valid-type]
    domain: label(60) = ""  # type: ignore[valid-type]
    language: Language = "en"
    documents: Annotated[
        list[Annotated[SourceDocumentPart, BeforeValidator(as_object)]],
        Field(min_length=1),
        TextIsList,
        Expected("a text, or a list of at least one document"),
    ]
    reference: Annotated[list[Text], Field(min_length=1), TextIsList, Expected(A_REFERENCE)]
    query: label(2000) = ""  # type: ignore[valid-type]
    summaries: Annotated[list[SummaryPart], null_as(list), Expected("a list of summaries")] = Field(
        default_factory=list
    )


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A text of a system, or of a person, who is named.

    `visible_words` is how many words of the documents the writer saw, None for all.
    """

    writer: str
    is_person: bool
    text: str
    visible_words: int | None
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SourceText:
    """One source: its documents, query and reference as a haystack with one subtopic; `where` is its line."""

    topic: TopicFile
    language: str
    summaries: tuple[SourceSummary, ...]
    where: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """Its id in the dataset."""
        return self.topic.key

    @property
    def query(self) -> str:
        """The question that the summaries answer."""
        return self.topic.subtopics[0].query

    @property
    def reference(self) -> tuple[TopicInsight, ...]:
        """The reference, sentence by sentence."""
        return self.topic.subtopics[0].insights


@dataclass(frozen=True, slots=True)
class TextScores:
    """The scores of the text of a system or a person on a source; `where` is its line."""

    source: str
    writer: str
    is_person: bool
    scores: Mapping[str, float]
    where: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """The key of a line: the source with the writer."""
        return f"{self.source} · {self.writer}"


def parse(
    source: jsonlines.Source, *, problems: Problems | None = None, **limits: Unpack[Limits]
) -> tuple[SourceText, ...]:
    """Read all of a file, or of objects as its lines hold; raises `ImportFailed` if there is any error."""
    expected = "a document with its reference on each line"
    return jsonlines.all_rows(source, _source, problems, expected=expected, **limits)


def parse_scores(
    source: jsonlines.Source, *, problems: Problems | None = None, **limits: Unpack[Limits]
) -> tuple[TextScores, ...]:
    """Likewise of a file of scores."""
    expected = "a text with its scores on each line"
    return jsonlines.all_rows(source, _scores, problems, expected=expected, **limits)


def dump(sources: Iterable[SourceText]) -> Iterator[bytes]:
    """Print a line for each; parsing them gives the same sources again."""
    for source in sources:
        yield orjson.dumps(_as_json(source), option=orjson.OPT_APPEND_NEWLINE)


def _as_json(source: SourceText) -> dict[str, Any]:
    topic = source.topic
    line: dict[str, Any] = {"key": topic.key, "title": topic.title}
    line |= {"domain": topic.domain} if topic.domain else {}
    line |= {"language": source.language} if source.language != "en" else {}
    line["documents"] = [
        {"key": row.key, **({"title": row.title} if row.title else {}), "text": row.text, **row.metadata}
        for row in topic.documents
    ]
    line |= {"query": source.query, "reference": [insight.text for insight in source.reference]}
    if source.summaries:
        line["summaries"] = [_summary_json(row) for row in source.summaries]
    return line


def _summary_json(row: SourceSummary) -> dict[str, Any]:
    value: dict[str, Any] = {"person" if row.is_person else "system": row.writer, "text": row.text}
    value |= {"visible_words": row.visible_words} if row.visible_words else {}
    return value | ({"scores": dict(row.scores)} if row.scores else {})


def _source(where: str, value: Any, problems: Problems) -> SourceText | None:
    part = checked(SourcePart, value, where, problems, warns=True)
    if part is None:
        return None
    before = problems.n_errors
    documents = tuple(
        TopicDocument(
            row.key or str(number),
            number,
            row.text,
            row.title,
            {} if row.relevance is None else {RELEVANCE: row.relevance},
        )
        for number, row in enumerate(part.documents, 1)
    )
    report_twice(where, "documents", "key", [row.key for row in documents], problems)
    summaries = _summaries(where, part.summaries, problems)
    reference = sentences(part.reference[0]) if isinstance(value["reference"], str) else part.reference
    if not reference:
        problems.error("wrong_value", where, "reference", expected=A_REFERENCE, got=Got("one without a word"))
    if problems.n_errors > before:
        return None
    return SourceText(_topic(part, documents, reference), part.language, summaries, where)


def _summaries(where: str, parts: list[SummaryPart], problems: Problems) -> tuple[SourceSummary, ...]:
    rows = []
    for position, part in enumerate(parts):
        writer = _writer(part, joined(where, f"summaries[{position}]"), problems)
        row = SourceSummary(writer, part.system is None, part.text.strip(), part.visible_words, part.scores)
        rows.append(row)
    writers = [f"{'person' if row.is_person else 'system'} {row.writer}" for row in rows]
    report_twice(where, "summaries", "", writers, problems)
    return tuple(rows)


def _scores(where: str, value: Any, problems: Problems) -> TextScores | None:
    part = checked(ScorePart, value, where, problems, warns=True)
    if part is None:
        return None
    before = problems.n_errors
    row = TextScores(part.key, _writer(part, where, problems), part.system is None, part.scores, where)
    return None if problems.n_errors > before else row


def _writer(part: SummaryPart | ScorePart, where: str, problems: Problems) -> str:
    """Who wrote a text; an error where none or two did."""
    if (part.system is None) == (part.person is None):
        got = Got("neither" if part.system is None else "both")
        problems.error("wrong_value", where, "", expected="either a system or a person", got=got)
    return part.system or part.person or ""


def _topic(part: SourcePart, documents: tuple[TopicDocument, ...], reference: list[str]) -> TopicFile:
    query = part.query or f"Summarize the document{'s' if len(documents) > 1 else ''}."
    gold = (1,) if len(documents) == 1 else ()
    insights = tuple(
        TopicInsight(key=str(number), name="", text=text, gold_documents=gold)
        for number, text in enumerate(reference, 1)
    )
    title = part.title or part.key
    subtopic = TopicSubtopic(key=SUBTOPIC, number=1, name=title, description="", query=query, insights=insights)
    return TopicFile(key=part.key, title=title, documents=documents, subtopics=(subtopic,), domain=part.domain)
