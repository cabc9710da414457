"""What a haystack was planned to be: its insights, its documents as sentences, and which insight is in which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.io.schemas.topics import TopicFile
from benchmarks.judges.lexical_terms import sentences


@dataclass(frozen=True)
class Plan:
    """Insights and documents by position from 0; `subtopics` has the position of each insight's subtopic.

    `planted` has shape (insights, documents) and is True where the document is meant to hold the insight.
    """

    insights: tuple[str, ...]
    subtopics: tuple[int, ...]
    documents: tuple[tuple[str, ...], ...]
    planted: NDArray[np.bool_]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Each document in one piece."""
        return tuple(" ".join(document) for document in self.documents)

    @cached_property
    def starts(self) -> NDArray[np.int_]:
        """Where each document begins among all sentences, and at the end how many there are."""
        return np.cumsum([0, *map(len, self.documents)])

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Those of all documents, one after the other."""
        return tuple(sentence for document in self.documents for sentence in document)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Insight and document of each planted pair, by insight."""
        return [(int(insight), int(document)) for insight, document in np.argwhere(self.planted)]


def plan_of(topic: TopicFile) -> Plan:
    """The plan that a haystack file states."""
    insights = [
        (position, insight) for position, subtopic in enumerate(topic.subtopics) for insight in subtopic.insights
    ]
    columns = {document.number: column for column, document in enumerate(topic.documents)}
    return make_plan(
        [insight.text for _position, insight in insights],
        [position for position, _insight in insights],
        [document.text for document in topic.documents],
        [(row, columns[number]) for row, (_, insight) in enumerate(insights) for number in insight.gold_documents],
    )


def make_plan(
    insights: Sequence[str],
    subtopics: Sequence[int],
    documents: Sequence[str],
    planted: Sequence[tuple[int, int]],
) -> Plan:
    """A plan of texts; `planted` are pairs of an insight and a document, by position."""
    held = np.zeros((len(insights), len(documents)), dtype=bool)
    for insight, document in planted:
        held[insight, document] = True
    return Plan(tuple(insights), tuple(subtopics), tuple(tuple(sentences(text)) for text in documents), held)
