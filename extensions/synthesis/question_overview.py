"""What pages show of questions with key points: how full each cell is, what a reviewer must know of a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisKind, SynthesisPart
from extensions.synthesis.part_states import STANDS
from extensions.synthesis.settings import Settings

READ = frozenset({PartState.ACCEPTED, PartState.EDITED})


@dataclass(frozen=True)
class CellCount:
    """Questions of a category in a domain that stand, those that people have read, and how many it needs."""

    n: int
    n_read: int
    n_wanted: int

    @property
    def is_full(self) -> bool:
        """Whether none is missing."""
        return self.n >= self.n_wanted


@dataclass(frozen=True)
class Cells:
    """A row for each category, a cell for each domain."""

    domains: Sequence[str]
    rows: Sequence[tuple[str, Sequence[CellCount]]]


def cells_of(synthesis: Synthesis) -> Cells | None:
    """How full the cells are; None before there are any. Two queries."""
    if synthesis.kind != SynthesisKind.QUESTIONS:
        return None
    numbers = Settings.from_mapping(synthesis.settings).questions
    parts = SynthesisPart.objects.filter(synthesis=synthesis)
    cells = {(row.data["category"], row.data["domain"]): row.pk for row in parts.filter(kind=PartKind.CELL)}
    if not cells:
        return None
    states = parts.filter(kind=PartKind.QUESTION, state__in=STANDS).values_list("parent", "state")
    n, n_read = Counter[int | None](), Counter[int | None]()
    for cell, state in states:
        n[cell] += 1
        n_read[cell] += state in READ
    rows = [
        (
            category,
            [CellCount(n[pk], n_read[pk], numbers.per_cell) for pk in _of(category, numbers.domains, cells)],
        )
        for category in numbers.categories
    ]
    return Cells(numbers.domains, rows)


def _of(category: str, domains: Sequence[str], cells: Mapping[tuple[str, str], int]) -> list[int]:
    return [cells.get((category, domain), 0) for domain in domains]


@dataclass(frozen=True)
class Fact:
    """A line of what is known of a part; `is_link` where the value is an address."""

    label: str
    value: str
    is_link: bool = False


def facts_of(part: SynthesisPart, *, is_blind: bool) -> list[Fact]:
    """What a reviewer needs to know of a part beside its text; on a blind one nothing of what checks say."""
    data = part.data
    facts: list[Fact] = []
    if question := _question(part):
        facts.append(Fact("Question", question))
    if part.kind == PartKind.SEED:
        facts.append(Fact("Category", part.title or "–"))
        if data.get("answer"):
            facts.append(Fact("Answer, words", str(data["n_words"])))
        if not is_blind and "criteria" in data:
            met = "  ".join(f"{'✓' if is_met else '✗'} {name}" for name, is_met in data["criteria"].items())
            facts.append(Fact("Criteria", met))
    if part.kind == PartKind.QUESTION and "seed" in data:
        how = "made harder" if data.get("method") == "deeper" else "new, of the same kind"
        seed = part.uses.filter(kind=PartKind.SEED).first()
        facts.append(Fact("From the seed", f"{seed.text if seed else data['seed']} ({how})"))
        facts.append(Fact(_("Words"), str(len(part.text.split()))))
    if part.kind == PartKind.QUERY and part.title:
        facts.append(Fact("Kind of question", part.title))
    if part.kind == PartKind.DOCUMENT and data.get("url"):
        facts.append(Fact("Address", data["url"], is_link=data["url"].startswith(("http://", "https://"))))
    if part.kind == PartKind.POINT and not is_blind and data.get("autods") is not None:
        facts.append(Fact("AutoDS score", f"{data['autods']:.2f}"))
    return facts


def _question(part: SynthesisPart) -> str:
    """The question that a part is about."""
    above = part.parent
    if part.kind == PartKind.DOCUMENT and above is not None:
        above = above.parent
    is_below = part.kind in {PartKind.QUERY, PartKind.DOCUMENT, PartKind.POINT}
    return above.text if is_below and above is not None and above.kind == PartKind.QUESTION else ""
