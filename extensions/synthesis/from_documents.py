"""Steps of a synthesis that begins with documents of one's own: what each asks on, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisPart, SynthesisStep
from extensions.synthesis.part_states import stands
from extensions.synthesis.procedure import Procedure, StepKind
from extensions.synthesis.programs.base import closest
from extensions.synthesis.programs.extracting import MOST_POINTS, SAYS_LITTLE
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import Settings
from extensions.synthesis.sources import Source
from extensions.synthesis.topics import topic_part
from extensions.synthesis.worlds import GROUPING, SORTING, Reading


@transaction.atomic
def add_documents(*, synthesis: Synthesis, sources: Sequence[Source], now: datetime) -> None:
    """Take the documents in, as they are."""
    step = synthesis.steps.get(name="points")
    SynthesisPart.objects.bulk_create(
        SynthesisPart(
            synthesis=synthesis,
            step=step,
            kind=PartKind.DOCUMENT,
            number=number,
            state=PartState.ACCEPTED,
            title=source.title,
            text=source.text,
            created_at=now,
        )
        for number, source in enumerate(sources, 1)
    )


def subjects(step: SynthesisStep, *, now: datetime) -> list[SynthesisPart]:
    """The documents, or the one part on which all points or all insights are asked about.

    Raises:
        StepRefused: there is nothing to ask about, or too much for one question.
    """
    if step.name in {"points", "holding"}:
        return list(_documents(step.synthesis).select_related("synthesis"))
    if step.name == "grouping":
        n_points = sum(len(part.data.get("points", ())) for part in _documents(step.synthesis))
        if not 1 <= n_points <= MOST_POINTS:
            raise StepRefused(f"There are {n_points} points; from 1 to {MOST_POINTS} can be compared.")
    number = GROUPING if step.name == "grouping" else SORTING
    return [topic_part(step, number=number, now=now)]


def take(step: SynthesisStep, *, now: datetime) -> list[str]:
    """Make parts of what a step brought, once; why something was dropped."""
    takers = {"points": _points, "grouping": _insights, "sorting": _subtopics, "holding": _holding}
    parts = subjects(step, now=now) if step.name != "holding" else list(_documents(step.synthesis))
    reading = Reading(parts)
    takers[step.name](step, parts, reading, now)
    return [reason for part in parts for reason in reading.progress(part).dropped]


def _documents(synthesis: Synthesis) -> Any:
    return SynthesisPart.objects.filter(synthesis=synthesis, kind=PartKind.DOCUMENT).order_by("number")


def _points(step: SynthesisStep, parts: Sequence[SynthesisPart], reading: Reading, now: datetime) -> None:
    for part in parts:
        part.data = {**part.data, "points": reading.progress(part).data.get("points", [])}
        part.save(update_fields=["data"])


def _insights(step: SynthesisStep, parts: Sequence[SynthesisPart], reading: Reading, now: datetime) -> None:
    """An insight for each group, made from the documents of its points, with their passages as evidence."""
    value = reading.progress(parts[0]).data.get("groups")
    if value is None or SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.INSIGHT).exists():
        return
    points = reading.points(parts[0])
    for number, group in enumerate(value["insights"], 1):
        mine = [points[n - 1] for n in group["points"]]
        score, _sentence = closest("\n".join(point.quote for point in mine), (group["insight"],))[0]
        says_little = score < Settings.from_mapping(step.synthesis.settings).band[0]
        insight = SynthesisPart.objects.create(
            synthesis=step.synthesis,
            step=step,
            kind=PartKind.INSIGHT,
            number=number,
            state=PartState.FLAGGED if says_little else PartState.CLEAR,
            title=group["name"],
            text=group["insight"],
            data={
                "flags": [SAYS_LITTLE] * says_little,
                "evidence": [{"document": point.number, "quote": point.quote} for point in mine],
            },
            created_at=now,
        )
        insight.uses.add(*{point.document for point in mine})


def _subtopics(step: SynthesisStep, parts: Sequence[SynthesisPart], reading: Reading, now: datetime) -> None:
    """Subtopics whose text is their query; each insight is put into one."""
    value = reading.progress(parts[0]).data.get("subtopics")
    if value is None or SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.SUBTOPIC).exists():
        return
    insights = reading.world(parts[0]).insights
    for number, row in enumerate(value["subtopics"], 1):
        subtopic = SynthesisPart.objects.create(
            synthesis=step.synthesis,
            step=step,
            kind=PartKind.SUBTOPIC,
            number=number,
            state=PartState.CLEAR,
            title=row["name"],
            text=row["query"],
            data={"description": row["description"]},
            created_at=now,
        )
        chosen = [insights[n - 1].key for n in row["insights"]]
        SynthesisPart.objects.filter(pk__in=chosen).update(parent=subtopic)


def _holding(step: SynthesisStep, parts: Sequence[SynthesisPart], reading: Reading, now: datetime) -> None:
    """Further documents of insights, with the passage that says them."""
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=PartKind.INSIGHT)
    insights = {row.number: row for row in rows}
    for part in parts:
        for held in reading.progress(part).data.get("also", ()):
            insight = insights[held["insight"]]
            place = {"document": part.number, "quote": held["quote"]}
            if place not in insight.data["evidence"]:
                insight.data["evidence"].append(place)
                insight.save(update_fields=["data"])
            insight.uses.add(part)


def counts(step: SynthesisStep, parts: Sequence[SynthesisPart], settings: Settings) -> tuple[int, int, int]:
    """(how many were asked for, how many are needed, how many came) of a step with its parts."""
    n_continuing = sum(stands(part.kind, part.state) for part in parts)
    return {
        "points": (len(parts), 1, sum(bool(part.data.get("points")) for part in parts)),
        "grouping": (sum(len(part.data.get("evidence", ())) for part in parts), 1, n_continuing),
        "sorting": (settings.subtopics, 1, n_continuing),
        "holding": (len(parts), 1, len(parts)),
    }[step.name]


PROCEDURE = Procedure(
    steps=(
        StepKind("points", PartKind.DOCUMENT, has_gate=False),
        StepKind("grouping", PartKind.INSIGHT),
        StepKind("sorting", PartKind.SUBTOPIC),
        StepKind("holding", PartKind.DOCUMENT, has_gate=False),
    ),
    prepare=subjects,
    take=take,
    counts=counts,
)
