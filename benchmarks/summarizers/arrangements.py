"""Experiments on the position of content (MiddleSum, section 4.1): which documents are shown in which order.

Position: one relevant document among documents of other sources, at each place in turn; the summarizer is told
which one it is. Infilling: the first and the last document of a source, alone or with documents of other sources
between them, beside all its documents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

AT, ALL, ENDS, FILLED = "at", "all", "ends", "filled"
POSITION, INFILLING = "position", "infilling"
EXPERIMENTS = (POSITION, INFILLING)
_NAME = re.compile(r"(?:at-(?P<place>[1-9]\d?)|(?P<kind>all|ends|filled))-of-(?P<size>[1-9]\d?)")
RELEVANT, IRRELEVANT = "relevant", "not relevant"
"""What documents are marked as."""
ONLY_RELEVANT = (
    "Each document is marked as relevant or not relevant. Summarize the relevant one only, and take nothing from "
    "the others."
)
LEAST, MOST = 3, 50
"""How many documents an experiment may show."""


@dataclass(frozen=True)
class Arrangement:
    """What is shown of a source: `size` documents in all (of `ends` two of them), the relevant one at `place`."""

    kind: str
    size: int
    place: int = 0

    @property
    def name(self) -> str:
        """As systems name it: at-2-of-5, all-of-5, ends-of-5, filled-of-5."""
        return f"{AT}-{self.place}-of-{self.size}" if self.kind == AT else f"{self.kind}-of-{self.size}"

    @classmethod
    def named(cls, name: str) -> Self | None:
        """The arrangement of this name; None of another."""
        found = _NAME.fullmatch(name)
        if found is None or not LEAST <= int(found["size"]) <= MOST:
            return None
        place = int(found["place"] or 0)
        return cls(found["kind"] or AT, int(found["size"]), place) if place <= int(found["size"]) else None

    @property
    def n_others(self) -> int:
        """How many documents of other sources it shows."""
        return {AT: self.size - 1, FILLED: self.size - 2}.get(self.kind, 0)

    def fits(self, n_documents: int) -> bool:
        """Whether a source with so many documents can be shown like this."""
        return n_documents >= 1 if self.kind == AT else n_documents == self.size

    def shown(self, own: Sequence[int], others: Sequence[int], *, relevant: int) -> list[int]:
        """The numbers of documents in the order shown."""
        if self.kind == AT:
            return [*others[: self.place - 1], relevant, *others[self.place - 1 : self.n_others]]
        if self.kind == ALL:
            return list(own)
        return [own[0], *others[: self.n_others], own[-1]]


def arrangements(experiment: str, size: int) -> list[Arrangement]:
    """All that an experiment compares; raises ValueError for an unknown one, or a size it does not take."""
    if experiment not in EXPERIMENTS or not LEAST <= size <= MOST:
        raise ValueError(f"an experiment is one of {', '.join(EXPERIMENTS)}, with {LEAST} to {MOST} documents")
    if experiment == POSITION:
        return [Arrangement(AT, size, place) for place in range(1, size + 1)]
    return [Arrangement(kind, size) for kind in (ALL, ENDS, FILLED)]


def in_turn(name: str) -> list[Arrangement]:
    """All arrangements of an experiment by its name, position-of-5 or infilling-of-5; none of another name."""
    experiment, _of, size = name.partition("-of-")
    try:
        return arrangements(experiment, int(size))
    except ValueError:
        return []


def drawn_others(n: int, pool: Mapping[int, Sequence[int]], *, but: int, seed: str) -> list[int]:
    """Documents of other sources: all of one drawn at random, in their order, then of the next, until there are n.

    `pool` has the documents by source; `but` is the source that they stand beside. They depend on the seed only:
    every arrangement and every summarizer gets the same. Fewer than n where there are no more.
    """
    names = sorted(name for name in pool if name != but)
    random.Random(seed).shuffle(names)  # noqa: S311 - by seed
    found: list[int] = []
    for name in names:
        if len(found) >= n:
            break
        found += pool[name]
    return found[:n]
