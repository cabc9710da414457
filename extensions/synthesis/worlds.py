"""Parts in the database as programs see them: the world that they are made in, and the replies that are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from extensions.synthesis.models import (
    PartKind,
    PartState,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
)
from extensions.synthesis.part_states import GONE, stands
from extensions.synthesis.planning import Draws
from extensions.synthesis.programs import asking, extracting, listing, screening, writing
from extensions.synthesis.programs.base import (
    Child,
    Piece,
    Program,
    Progress,
    Replies,
    Task,
    Wanted,
    World,
)
from extensions.synthesis.question_worlds import PROGRAMS as OF_QUESTIONS
from extensions.synthesis.question_worlds import SOURCES, tasks_of
from extensions.synthesis.settings import Settings

PROGRAMS: dict[str, Program] = {
    PartKind.TOPIC: listing.subtopics,
    PartKind.SUBTOPIC: listing.insights,
    PartKind.INSIGHT: screening.insight,
    PartKind.DOCUMENT: writing.document,
    PartKind.QUERY: asking.query,
}
GROUPING, SORTING = 1, 2
IN_TURN = 2
"""Number of the part on which the insights of conversations are asked for, one subtopic after the other."""
"""Numbers of the parts on which all points, and all insights, of documents of one's own are asked about."""
OF_MODELS = frozenset({PartState.PROPOSED, PartState.CLEAR, PartState.FLAGGED})
"""States in which no person has decided on a part, so that its checks may still change it."""
ARTICLES = (
    "a news report", "an interview in questions and answers", "a feature with scenes", "a column with an opinion",
    "a letter from a reader", "a newsletter", "a portrait of a person", "a report from a meeting",
)  # fmt: skip
CONVERSATIONS = ("a conversation", "a call", "a meeting", "a chat over a meal")


class Reading:
    """What is known of some parts, read in a fixed number of queries."""

    def __init__(self, parts: Sequence[SynthesisPart]) -> None:
        self.parts = parts
        self.replies = _replies(parts)
        self.worlds = _worlds({part.synthesis_id for part in parts})
        of_questions = [part for part in parts if self._kind(part) == SynthesisKind.QUESTIONS]
        self._tasks = tasks_of(of_questions) if of_questions else {}
        others = [part for part in parts if part.pk not in self._tasks]
        # Insights of documents are made from these; other documents are made from insights.
        of_documents = [part for part in others if self._is_of_documents(part)]
        of_insights = [part for part in others if not self._is_of_documents(part)]
        self._linked = {
            **_links(of_documents, "to_synthesispart", "from_synthesispart"),
            **_links(of_insights, "from_synthesispart", "to_synthesispart"),
        }

    def progress(self, part: SynthesisPart) -> Progress:
        """How far a part is; one on which people have decided is finished as it stands."""
        if not self.is_source(part) and part.state not in OF_MODELS:
            return Progress(title=part.title, text=part.text)
        return self._program(part)(self.world(part), self.task(part), self.replies[part.pk])

    def is_source(self, part: SynthesisPart) -> bool:
        """Whether other parts come out of it, and it stays as it is."""
        if part.pk in self._tasks:
            return part.kind in SOURCES
        return part.kind in {PartKind.TOPIC, PartKind.SUBTOPIC} or (
            part.kind == PartKind.DOCUMENT and self._is_of_documents(part)
        )

    def points(self, part: SynthesisPart) -> Sequence[Point]:
        """All points of the documents that a part's synthesis began with."""
        return self.worlds[part.synthesis_id].points

    def _is_of_documents(self, part: SynthesisPart) -> bool:
        return self._kind(part) == SynthesisKind.DOCUMENTS

    def _kind(self, part: SynthesisPart) -> str:
        return self.worlds[part.synthesis_id].synthesis.kind

    def _program(self, part: SynthesisPart) -> Program:
        if part.pk in self._tasks:
            return OF_QUESTIONS[part.kind]
        if part.kind == PartKind.TOPIC and part.number == IN_TURN and not self._is_of_documents(part):
            return listing.insights_in_turn
        if not self._is_of_documents(part):
            return PROGRAMS[part.kind]
        if part.kind == PartKind.DOCUMENT:
            return extracting.document
        return extracting.grouping if part.number == GROUPING else extracting.sorting

    def world(self, part: SynthesisPart) -> World:
        """The world of a part's synthesis; before the checks of insights it has those that wait for them."""
        is_screening = part.kind in {PartKind.INSIGHT, PartKind.SUBTOPIC}
        return self.worlds[part.synthesis_id].world(with_unchecked=is_screening)

    def task(self, part: SynthesisPart) -> Task:
        """A part as its program sees it."""
        if part.pk in self._tasks:
            return self._tasks[part.pk]
        known = self.worlds[part.synthesis_id]
        holds = [known.pieces[pk] for pk in self._linked[part.pk] if pk in known.pieces]
        return Task(
            piece=known.piece(part),
            holds=holds,
            parent=known.pieces.get(part.parent_id or 0),
            category=known.category(part),
            note=part.note,
            before=str(part.data.get("before", "")),
            more=[
                Wanted(row["n"], [Child(title, text) for title, text in row["there"]], row.get("parent", 0))
                for row in part.data.get("more", ())
            ],
        )


@dataclass(frozen=True)
class Point:
    """A point of a document, with the passage that says it."""

    document: int
    number: int
    point: str
    quote: str


class _Known:
    """Settings, subtopics and insights of one synthesis."""

    def __init__(self, synthesis: Synthesis, rows: Iterable[SynthesisPart]) -> None:
        everything = list(rows)
        self.synthesis = synthesis
        self.rows = [row for row in everything if row.kind != PartKind.DOCUMENT]
        self.points = [
            Point(row.pk, row.number, point["point"], point["quote"])
            for row in everything
            if row.kind == PartKind.DOCUMENT and synthesis.kind == SynthesisKind.DOCUMENTS
            for point in row.data.get("points", ())
        ]
        self.settings = Settings.from_mapping(synthesis.settings)
        self._numbers = {row.pk: row.number for row in self.rows}
        self.pieces = {row.pk: self.piece(row) for row in self.rows}
        self._worlds: dict[bool, World] = {}

    def piece(self, part: SynthesisPart) -> Piece:
        parent = self._numbers.get(part.parent_id or 0, 0)
        return Piece(part.pk, part.number, part.title, part.text, parent)

    def category(self, part: SynthesisPart) -> str:
        """What kind of text a document is, drawn by seed."""
        kinds = CONVERSATIONS if self.synthesis.kind == Synthesis.Kind.CONVERSATION else ARTICLES
        return kinds[int(Draws(self.synthesis.seed).of("category", part.number) * len(kinds))]

    def world(self, *, with_unchecked: bool) -> World:
        if with_unchecked not in self._worlds:
            self._worlds[with_unchecked] = World(
                topic=self.synthesis.topic,
                settings=self.settings,
                seed=self.synthesis.seed,
                subtopics=self._continuing(PartKind.SUBTOPIC),
                insights=self._continuing(PartKind.INSIGHT, with_unchecked=with_unchecked),
                points=[f"(text {point.number}) {point.point}" for point in self.points],
                ideas=[row.text for row in self.rows if row.kind == PartKind.UPLOAD],
                in_chapters=self.synthesis.kind == SynthesisKind.CONVERSATION,
            )
        return self._worlds[with_unchecked]

    def _continuing(self, kind: str, *, with_unchecked: bool = False) -> list[Piece]:
        return [
            self.pieces[row.pk]
            for row in self.rows
            if row.kind == kind
            and (stands(kind, row.state) or (with_unchecked and row.state not in GONE | {PartState.STALE}))
        ]


def _worlds(keys: Iterable[int]) -> dict[int, _Known]:
    of_documents = Q(kind=PartKind.DOCUMENT, synthesis__kind=SynthesisKind.DOCUMENTS)
    ideas = Q(kind=PartKind.UPLOAD, synthesis__kind__in=[SynthesisKind.NEWS, SynthesisKind.CONVERSATION])
    rows = SynthesisPart.objects.filter(
        Q(kind__in=[PartKind.SUBTOPIC, PartKind.INSIGHT]) | of_documents | ideas, synthesis__in=list(keys)
    ).order_by("kind", "number", "generation")
    by_synthesis: dict[int, list[SynthesisPart]] = defaultdict(list)
    for row in rows:
        by_synthesis[row.synthesis_id].append(row)
    return {pk: _Known(row, by_synthesis[pk]) for pk, row in Synthesis.objects.in_bulk(list(keys)).items()}


def _replies(parts: Sequence[SynthesisPart]) -> Mapping[int, Replies]:
    replies: dict[int, dict[str, Any]] = {part.pk: {} for part in parts}
    rows = SynthesisReply.objects.filter(part__in=replies).values_list("part", "ask", "value")
    for part, ask, value in rows:
        replies[part][ask] = value
    return replies


def _links(parts: Sequence[SynthesisPart], here: str, there: str) -> Mapping[int, list[int]]:
    """Keys of what parts are made from, or of what is made from them, in the order of their plan."""
    links: Any = SynthesisPart.uses.through
    linked: dict[int, list[int]] = {part.pk: [] for part in parts}
    rows = links.objects.filter(**{f"{here}__in": linked}).order_by("pk")
    for part, used in rows.values_list(here, there):
        linked[part].append(used)
    return linked
