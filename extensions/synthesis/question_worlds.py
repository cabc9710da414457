"""Parts of questions with key points as their programs see them: what each is made from, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from extensions.synthesis.models import PartKind, PartState, SynthesisPart
from extensions.synthesis.part_states import GONE, STANDS, stands
from extensions.synthesis.programs import decomposing, evolving, key_points, seeding
from extensions.synthesis.programs.base import Child, Piece, Program, Task, Wanted

PROGRAMS: dict[str, Program] = {
    PartKind.SEED: seeding.seed,
    PartKind.CELL: evolving.cell,
    PartKind.QUESTION: evolving.question,
    PartKind.QUERY: decomposing.subquestions,
    PartKind.DOCUMENT: key_points.document,
    PartKind.TOPIC: key_points.aggregation,
    PartKind.POINT: key_points.score,
}
SOURCES = frozenset({PartKind.CELL, PartKind.DOCUMENT, PartKind.TOPIC})
"""Kinds that other parts come out of, and that stay as they are."""


@dataclass(frozen=True)
class Point:
    """A key point as it was taken from a document, with passages as {quote, start, end}."""

    document: SynthesisPart
    text: str
    spans: Sequence[Mapping[str, Any]]


def piece(part: SynthesisPart) -> Piece:
    """A part as programs see it."""
    return Piece(part.pk, part.number, part.title, part.text)


def tasks_of(parts: Sequence[SynthesisPart]) -> Mapping[int, Task]:
    """What each part is, by its key; a fixed number of queries, whatever the number of parts."""
    above = _above(parts)
    seeds = _seeds([*parts, *above.values()])
    points = points_of([part for part in parts if part.kind == PartKind.TOPIC])
    return {part.pk: _task(part, above, seeds, points) for part in parts}


def _task(
    part: SynthesisPart,
    above: Mapping[int, SynthesisPart],
    seeds: Mapping[tuple[int, int], SynthesisPart],
    points: Mapping[int, Sequence[Point]],
) -> Task:
    up = above.get(part.parent_id or 0)
    cell = part if part.kind == PartKind.CELL else up
    is_made = part.kind in {PartKind.CELL, PartKind.QUESTION}
    names = dict(cell.data) if is_made and cell else {}
    numbers = names.get("seeds", ()) if part.kind == PartKind.CELL else [part.data.get("seed", 0)]
    known = [seeds[part.synthesis_id, number] for number in numbers if (part.synthesis_id, number) in seeds]
    question = part.title if part.kind == PartKind.TOPIC else ""
    if part.kind in {PartKind.QUERY, PartKind.POINT} and up:
        question = up.text
    elif part.kind == PartKind.DOCUMENT and up and (over := above.get(up.parent_id or 0)):
        question = over.text
    return Task(
        piece=piece(part),
        category=str(names.get("category", part.data.get("category", ""))),
        domain=str(names.get("domain", "")),
        note=part.note,
        before=str(part.data.get("before", "")),
        more=[
            Wanted(row["n"], [Child(title, text) for title, text in row["there"]])
            for row in part.data.get("more", ())
        ],
        question=str(part.data.get("question", question)),
        seeds=[piece(row) for row in known] if is_made else [],
        method=str(part.data.get("method", "")),
        points=[point.text for point in points.get(part.pk, ())],
        flags=part.data.get("found", ()),
    )


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


def points_of(topics: Sequence[SynthesisPart]) -> dict[int, list[Point]]:
    """The points of each question that no key point is made of yet, in their order, by the key of the topic.

    They come from documents that stand. A key point that was rejected keeps those that it is made of.
    """
    if not topics:
        return {}
    numbers = {(topic.synthesis_id, topic.number): topic.pk for topic in topics}
    rows = SynthesisPart.objects.filter(
        kind=PartKind.DOCUMENT,
        synthesis__in={topic.synthesis_id for topic in topics},
        parent__parent__number__in={topic.number for topic in topics},
    ).exclude(state__in=[*GONE, PartState.STALE])
    by_topic: dict[int, list[Point]] = {topic.pk: [] for topic in topics}
    used = _used(topics)
    rows = rows.select_related("parent__parent").defer("text", "parent__text", "parent__parent__text")
    for row in rows.order_by("number", "generation"):
        query = row.parent
        question = query.parent if query else None
        if query is None or question is None or not _is_whole(row, query, question):
            continue
        topic = numbers.get((row.synthesis_id, question.number))
        if topic is not None:
            points = [Point(row, value["point"], value["spans"]) for value in row.data.get("points", ())]
            by_topic[topic] += [
                point for point in points if (row.synthesis_id, row.number, point.text) not in used
            ]
    return by_topic


def _used(topics: Sequence[SynthesisPart]) -> set[tuple[int, int, str]]:
    """(synthesis, number of the document, text) of the points that key points are made of."""
    rows = SynthesisPart.objects.filter(
        kind=PartKind.POINT,
        synthesis__in={topic.synthesis_id for topic in topics},
        parent__number__in={topic.number for topic in topics},
    ).exclude(state__in=[PartState.REGENERATED, PartState.STALE])
    return {
        (synthesis, point["document"], point["text"])
        for synthesis, data in rows.values_list("synthesis", "data")
        for point in data.get("made_of", ())
    }


def _is_whole(document: SynthesisPart, query: SynthesisPart, question: SynthesisPart) -> bool:
    """Whether all that a document hangs on stands."""
    return stands(document.kind, document.state) and stands(query.kind, query.state) and question.state in STANDS
