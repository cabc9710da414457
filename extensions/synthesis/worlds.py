"""Parts in the database as programs see them: the world that they are made in, and the replies that are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db.models import Q

from extensions.synthesis.models import (
    GONE,
    STANDS,
    PartKind,
    PartState,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
    stands,
)
from extensions.synthesis.programs import (
    Child,
    Piece,
    Program,
    Progress,
    Task,
    Value,
    Wanted,
    World,
    lists,
    points,
    questions,
    writing,
)
from extensions.synthesis.settings import Draws, Settings

OF_TOPICS: dict[str, Program] = {
    PartKind.TOPIC: lists.subtopics,
    PartKind.SUBTOPIC: lists.insights,
    PartKind.INSIGHT: lists.insight,
    PartKind.DOCUMENT: writing.document,
    PartKind.QUERY: lists.query,
}
OF_QUESTIONS: dict[str, Program] = {
    PartKind.SEED: questions.seed,
    PartKind.CELL: questions.cell,
    PartKind.QUESTION: questions.question,
    PartKind.QUERY: questions.subquestions,
    PartKind.DOCUMENT: points.document,
    PartKind.TOPIC: points.aggregation,
    PartKind.POINT: points.score,
}
GROUPING, SORTING = 1, 2
"""Numbers of the parts on which all points, and all insights, of documents of one's own are asked about."""
IN_TURN = 2
"""Number of the part on which the insights of conversations are asked for, one subtopic after the other."""
OF_MODELS = frozenset({PartState.PROPOSED, PartState.CLEAR, PartState.FLAGGED})
"""States in which no person has decided on a part, so that its checks may still change it."""
_OUT_OF_TOPICS = frozenset({PartKind.TOPIC, PartKind.SUBTOPIC})
SOURCES = {
    SynthesisKind.NEWS: _OUT_OF_TOPICS,
    SynthesisKind.CONVERSATION: _OUT_OF_TOPICS,
    SynthesisKind.DOCUMENTS: _OUT_OF_TOPICS | {PartKind.DOCUMENT},
    SynthesisKind.QUESTIONS: frozenset({PartKind.CELL, PartKind.DOCUMENT, PartKind.TOPIC}),
}
"""Kinds that other parts come out of, and that stay as they are."""
ARTICLES = (
    "a news report", "an interview in questions and answers", "a feature with scenes", "a column with an opinion",
    "a letter from a reader", "a newsletter", "a portrait of a person", "a report from a meeting",
)  # fmt: skip
CONVERSATIONS = ("a conversation", "a call", "a meeting", "a chat over a meal")
OwnPoint = tuple[SynthesisPart, Value]
"""A document of one's own, and a point of it with the passage that says it."""


class Reading:
    """Facts about some parts, read in a fixed number of queries."""

    def __init__(self, parts: Sequence[SynthesisPart]) -> None:
        self.parts = parts
        self.replies: dict[int, dict[str, Any]] = {part.pk: {} for part in parts}
        rows = SynthesisReply.objects.filter(part__in=self.replies).values_list("part", "ask", "value")
        for pk, ask, value in rows:
            self.replies[pk][ask] = value
        self._known = _known({part.synthesis_id for part in parts})
        of_questions = [part for part in parts if self._kind(part) == SynthesisKind.QUESTIONS]
        self._tasks = _tasks_of_questions(of_questions) if of_questions else {}
        # Insights of documents are made from these; other documents are made from insights.
        own_keys = [part.pk for part in parts if self._kind(part) == SynthesisKind.DOCUMENTS]
        others = [part.pk for part in parts if part.pk not in self._tasks and part.pk not in own_keys]
        self._linked = {
            **_links(own_keys, "to_synthesispart", "from_synthesispart"),
            **_links(others, "from_synthesispart", "to_synthesispart"),
        }

    def progress(self, part: SynthesisPart) -> Progress:
        """How far a part is; one on which people have decided is finished as it stands."""
        if not self.is_source(part) and part.state not in OF_MODELS:
            return Progress(title=part.title, text=part.text)
        return self._program(part)(self.world(part), self.task(part), self.replies[part.pk])

    def is_source(self, part: SynthesisPart) -> bool:
        """Whether other parts come out of it, and it stays as it is."""
        return part.kind in SOURCES[SynthesisKind(self._kind(part))]

    def points(self, part: SynthesisPart) -> Sequence[OwnPoint]:
        """All points of the documents that a part's synthesis began with."""
        return self._known[part.synthesis_id].points

    def world(self, part: SynthesisPart) -> World:
        """The world of a part's synthesis; before the checks of insights it has those that wait for them."""
        is_screening = part.kind in {PartKind.INSIGHT, PartKind.SUBTOPIC}
        return self._known[part.synthesis_id].world(is_screening)

    def task(self, part: SynthesisPart) -> Task:
        """A part as its program sees it."""
        if part.pk in self._tasks:
            return self._tasks[part.pk]
        known = self._known[part.synthesis_id]
        return Task(
            piece=known.piece(part),
            holds=[known.pieces[pk] for pk in self._linked[part.pk] if pk in known.pieces],
            parent=known.pieces.get(part.parent_id or 0),
            category=known.category(part),
            **_wishes(part),
        )

    def _kind(self, part: SynthesisPart) -> str:
        return self._known[part.synthesis_id].synthesis.kind

    def _program(self, part: SynthesisPart) -> Program:
        kind = self._kind(part)
        if kind == SynthesisKind.QUESTIONS:
            return OF_QUESTIONS[part.kind]
        if kind == SynthesisKind.DOCUMENTS:
            if part.kind == PartKind.DOCUMENT:
                return points.own_document
            return points.grouping if part.number == GROUPING else points.sorting
        if part.kind == PartKind.TOPIC and part.number == IN_TURN:
            return lists.insights_in_turn
        return OF_TOPICS[part.kind]


def _wishes(part: SynthesisPart) -> dict[str, Any]:
    """Parts of a task that somebody asked for."""
    more = [
        Wanted(row["n"], [Child(title, text) for title, text in row["there"]], row.get("parent", 0))
        for row in part.data.get("more", ())
    ]
    return {"note": part.note, "before": str(part.data.get("before", "")), "more": more}


class _Known:
    """Settings, subtopics and insights of one synthesis."""

    def __init__(self, synthesis: Synthesis, rows: Sequence[SynthesisPart]) -> None:
        self.synthesis = synthesis
        self.rows = [row for row in rows if row.kind != PartKind.DOCUMENT]
        documents = [row for row in rows if row.kind == PartKind.DOCUMENT]
        self.points: list[OwnPoint] = [(row, point) for row in documents for point in row.data.get("points", ())]
        self.settings = Settings.from_mapping(synthesis.settings)
        self._numbers = {row.pk: row.number for row in self.rows}
        self.pieces = {row.pk: self.piece(row) for row in self.rows}
        self.world = cache(self._world)

    def piece(self, part: SynthesisPart) -> Piece:
        parent = self._numbers.get(part.parent_id or 0, 0)
        return Piece(part.pk, part.number, part.title, part.text, parent)

    def category(self, part: SynthesisPart) -> str:
        """The kind of text that a document is, drawn by seed."""
        kinds = CONVERSATIONS if self.synthesis.kind == SynthesisKind.CONVERSATION else ARTICLES
        return kinds[int(Draws(self.synthesis.seed).of("category", part.number) * len(kinds))]

    def _world(self, with_unchecked: bool) -> World:
        return World(
            topic=self.synthesis.topic,
            settings=self.settings,
            seed=self.synthesis.seed,
            subtopics=self._continuing(PartKind.SUBTOPIC, STANDS),
            insights=self._continuing(PartKind.INSIGHT, OF_MODELS | STANDS if with_unchecked else STANDS),
            points=[f"(text {document.number}) {point['point']}" for document, point in self.points],
            ideas=[row.text for row in self.rows if row.kind == PartKind.UPLOAD],
            in_chapters=self.synthesis.kind == SynthesisKind.CONVERSATION,
        )

    def _continuing(self, kind: str, states: frozenset[PartState]) -> list[Piece]:
        rows = [row for row in self.rows if row.kind == kind]
        return [self.pieces[row.pk] for row in rows if row.state in states or stands(kind, row.state)]


def _known(keys: Iterable[int]) -> dict[int, _Known]:
    of_documents = Q(kind=PartKind.DOCUMENT, synthesis__kind=SynthesisKind.DOCUMENTS)
    ideas = Q(kind=PartKind.UPLOAD, synthesis__kind__in=[SynthesisKind.NEWS, SynthesisKind.CONVERSATION])
    rows = SynthesisPart.objects.filter(
        Q(kind__in=[PartKind.SUBTOPIC, PartKind.INSIGHT]) | of_documents | ideas, synthesis__in=list(keys)
    ).order_by("kind", "number", "generation")
    by_synthesis: dict[int, list[SynthesisPart]] = defaultdict(list)
    for row in rows:
        by_synthesis[row.synthesis_id].append(row)
    return {pk: _Known(row, by_synthesis[pk]) for pk, row in Synthesis.objects.in_bulk(list(keys)).items()}


def _links(keys: Sequence[int], here: str, there: str) -> Mapping[int, list[int]]:
    """Keys of what parts are made from, or of what is made from them, in the order of their plan."""
    links: Any = SynthesisPart.uses.through
    linked: dict[int, list[int]] = {pk: [] for pk in keys}
    rows = links.objects.filter(**{f"{here}__in": linked}).order_by("pk")
    for part, used in rows.values_list(here, there):
        linked[part].append(used)
    return linked


# Questions with key points


class KeyPoint(NamedTuple):
    """A key point as it was taken from a document, with passages as {quote, start, end}."""

    document: SynthesisPart
    text: str
    spans: Sequence[Mapping[str, Any]]


def _tasks_of_questions(parts: Sequence[SynthesisPart]) -> Mapping[int, Task]:
    """Sources of each part, by its key; a fixed number of queries, whatever the number of parts."""
    above = _above(parts)
    seeds = _seeds([*parts, *above.values()])
    points = points_of([part for part in parts if part.kind == PartKind.TOPIC])

    def piece(part: SynthesisPart) -> Piece:
        return Piece(part.pk, part.number, part.title, part.text)

    def task(part: SynthesisPart) -> Task:
        up = above.get(part.parent_id or 0)
        over = above.get(up.parent_id or 0) if up else None
        cell = {PartKind.CELL: part, PartKind.QUESTION: up}.get(PartKind(part.kind))
        names = cell.data if cell else {}
        numbers = names.get("seeds", ()) if part.kind == PartKind.CELL else [part.data.get("seed", 0)]
        known = [seeds[part.synthesis_id, number] for number in numbers if (part.synthesis_id, number) in seeds]
        about = {PartKind.QUERY: up, PartKind.POINT: up, PartKind.DOCUMENT: over}.get(PartKind(part.kind))
        question = part.title if part.kind == PartKind.TOPIC else about.text if about else ""
        return Task(
            piece=piece(part),
            category=str(names.get("category", part.data.get("category", ""))),
            domain=str(names.get("domain", "")),
            question=str(part.data.get("question", question)),
            seeds=[piece(row) for row in known] if cell else [],
            method=str(part.data.get("method", "")),
            points=[point.text for point in points.get(part.pk, ())],
            flags=part.data.get("found", ()),
            **_wishes(part),
        )

    return {part.pk: task(part) for part in parts}


def _above(parts: Iterable[SynthesisPart]) -> dict[int, SynthesisPart]:
    """Parents of parts, and parents of these."""
    rows_above: dict[int, SynthesisPart] = {}
    keys = {part.parent_id for part in parts if part.parent_id}
    for _level in range(2):
        rows = SynthesisPart.objects.in_bulk(keys - rows_above.keys())
        rows_above |= rows
        keys = {row.parent_id for row in rows.values() if row.parent_id}
    return rows_above


def _seeds(parts: Iterable[SynthesisPart]) -> dict[tuple[int, int], SynthesisPart]:
    """The newest generation of the seeds that cells and questions name, by synthesis and number."""
    numbers: dict[int, set[int]] = defaultdict(set)
    for part in parts:
        numbers[part.synthesis_id] |= {*part.data.get("seeds", ()), *filter(None, [part.data.get("seed")])}
    wanted = Q(pk=None)
    for synthesis, chosen in numbers.items():
        wanted |= Q(synthesis=synthesis, number__in=chosen)
    rows = SynthesisPart.objects.filter(wanted, kind=PartKind.SEED).order_by("generation")
    return {(row.synthesis_id, row.number): row for row in rows}


def points_of(topics: Sequence[SynthesisPart]) -> dict[int, list[KeyPoint]]:
    """The points of each question that no key point is made of yet, in their order, by the key of the topic.

    They come from documents that stand. A key point that was rejected keeps those that it is made of.
    """
    if not topics:
        return {}
    numbers = {(topic.synthesis_id, topic.number): topic.pk for topic in topics}
    by_topic: dict[int, list[KeyPoint]] = {topic.pk: [] for topic in topics}
    syntheses, places = {topic.synthesis_id for topic in topics}, {topic.number for topic in topics}
    made = SynthesisPart.objects.filter(kind=PartKind.POINT, synthesis__in=syntheses, parent__number__in=places)
    used = {
        (synthesis, point["document"], point["text"])
        for synthesis, data in made.exclude(state__in=[PartState.REGENERATED, PartState.STALE]).values_list(
            "synthesis", "data"
        )
        for point in data.get("made_of", ())
    }
    documents = SynthesisPart.objects.filter(
        kind=PartKind.DOCUMENT, synthesis__in=syntheses, parent__parent__number__in=places
    ).exclude(state__in=[*GONE, PartState.STALE])
    documents = documents.select_related("parent__parent").defer("text", "parent__text", "parent__parent__text")
    for row in documents.order_by("number", "generation"):
        query = row.parent
        question = query.parent if query else None
        if query is None or question is None or question.state not in STANDS:
            continue
        topic = numbers.get((row.synthesis_id, question.number))
        if topic is not None and stands(row.kind, row.state) and stands(query.kind, query.state):
            points = [KeyPoint(row, value["point"], value["spans"]) for value in row.data.get("points", ())]
            by_topic[topic] += [
                point for point in points if (row.synthesis_id, row.number, point.text) not in used
            ]
    return by_topic
