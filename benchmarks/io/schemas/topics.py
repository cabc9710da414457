"""Contents of a haystack file, whatever its format: frozen rows between a parser, the database and a printer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.scoring.summhay import Coverage, Probabilities
from benchmarks.system_names import TopicSystem


@dataclass(frozen=True, slots=True)
class TopicDocument:
    """One document; `number` is its position from 1, which is what summaries cite."""

    key: str
    number: int
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_words(self) -> int:
        """Words between white space."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class TopicInsight:
    """A reference fact; `gold_documents` are the sorted numbers of the documents that hold it."""

    key: str
    name: str
    text: str
    gold_documents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicVerdict:
    """A published judgment of one insight in one summary.

    `lines` are 1-based and exist in the summary; `coverage` and `bullet` as published are in `raw`. Coverage is
    empty where the judge's answer could not be used. Few judges give `probabilities`.
    """

    insight_key: str
    coverage: str
    lines: tuple[int, ...]
    raw: Mapping[str, Any] = field(default_factory=dict)
    probabilities: Probabilities | None = None

    @property
    def breaks_rule(self) -> bool:
        """Whether it is covered without a line, or not covered with one."""
        return bool(self.coverage) and (self.coverage == Coverage.NONE) == bool(self.lines)


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """The lines of one system for one subtopic, and what the published judge said of them."""

    system_key: str
    lines: tuple[str, ...]
    verdicts: tuple[TopicVerdict, ...] = ()

    @property
    def text(self) -> str:
        """All lines; line n of the text is the n-th line."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class TopicSubtopic:
    """A query with its insights, summaries and {retriever: {document number: score}}."""

    key: str
    number: int
    name: str
    description: str
    query: str
    insights: tuple[TopicInsight, ...] = ()
    summaries: tuple[TopicSummary, ...] = ()
    scores: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicFile:
    """One haystack; `source_name` is the stem of the file it came from."""

    key: str
    title: str
    documents: tuple[TopicDocument, ...]
    subtopics: tuple[TopicSubtopic, ...]
    systems: tuple[TopicSystem, ...] = ()
    domain: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source_name: str = ""

    def summaries(self) -> Iterator[tuple[TopicSubtopic, TopicSummary]]:
        for subtopic in self.subtopics:
            for summary in subtopic.summaries:
                yield subtopic, summary
