"""The plan of a synthesis as a picture: a row for each insight, a column for each document, filled as it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisPart
from extensions.synthesis.part_states import GONE, stands

LARGE = 1500
"""Squares from which the picture is folded."""


@dataclass(frozen=True)
class Square:
    """An insight in a document: planned, said, said partly, missing, leaked or stale."""

    x: int
    y: int
    state: str


@dataclass(frozen=True)
class Picture:
    """Squares that are not blank; `counts` by state."""

    n_documents: int
    n_insights: int
    squares: list[Square]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_large(self) -> bool:
        """Whether it is better folded."""
        return self.n_documents * self.n_insights > LARGE


def picture(synthesis: Synthesis) -> Picture | None:
    """The plan as it stands; None where there is none yet. Four queries."""
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind__in=[PartKind.INSIGHT, PartKind.DOCUMENT])
    parts = list(rows.exclude(state__in=GONE).order_by("number", "generation"))
    documents = [part for part in parts if part.kind == PartKind.DOCUMENT]
    if not documents:
        return None
    insights = [part for part in parts if part.kind == PartKind.INSIGHT and stands(part.kind, part.state)]
    rows_of = {part.pk: y for y, part in enumerate(insights)}
    numbers = {part.number: y for y, part in enumerate(insights)}
    columns = {part.pk: x for x, part in enumerate(documents)}
    states: dict[tuple[int, int], str] = {}
    links: Any = SynthesisPart.uses.through
    planned = links.objects.filter(from_synthesispart__in=columns, to_synthesispart__in=rows_of)
    for document, insight in planned.values_list("from_synthesispart", "to_synthesispart"):
        states[columns[document], rows_of[insight]] = "planned"
    held = links.objects.filter(from_synthesispart__in=rows_of, to_synthesispart__in=columns)
    for insight, document in held.values_list("from_synthesispart", "to_synthesispart"):
        states[columns[document], rows_of[insight]] = "said"
    for part in documents:
        for pair in part.data.get("pairs", ()):
            y = numbers.get(pair["insight"])
            if y is not None and (state := _state(pair)):
                states[columns[part.pk], y] = state
        if part.state == PartState.STALE:
            states |= {place: "stale" for place in states if place[0] == columns[part.pk]}
    squares = [Square(x, y, state) for (x, y), state in sorted(states.items())]
    return Picture(len(documents), len(insights), squares, dict(Counter(states.values())))


def _state(pair: Mapping[str, Any]) -> str:
    """What a checked pair is drawn as; nothing where it is not planned and not there."""
    if pair["is_planned"]:
        return {"yes": "said", "partly": "partly", "no": "missing"}.get(pair["present"] or "", "planned")
    return "leaked" if pair["present"] in {"yes", "partly"} else ""
