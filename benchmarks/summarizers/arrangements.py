"""Arrangements of sources in experiments (MiddleSum, section 4): which documents in which order, or how much.

Position: one relevant document among documents of other sources, at each place in turn; the summarizer is told
which one it is. Infilling: the first and the last document of a source, alone or with documents of other sources
between them, beside all its documents. Documents: the first of them, from one to all. Truncation: the documents
until so many tokens.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

AT, ALL, ENDS, FILLED, FIRST, UPTO = "at", "all", "ends", "filled", "first", "upto"
POSITION, INFILLING, DOCUMENTS, TRUNCATION = "position", "infilling", "documents", "truncation"
EXPERIMENTS = (POSITION, INFILLING, DOCUMENTS, TRUNCATION)
OF_KIND = {AT: POSITION, ALL: INFILLING, ENDS: INFILLING, FILLED: INFILLING, FIRST: DOCUMENTS, UPTO: TRUNCATION}
"""The experiment that an arrangement belongs to."""
STEP = 2_048
"""Tokens between two arrangements of truncation (section 4.3)."""
USUAL_MEASURE = "rouge1"
BY_FILE, RELEVANCE = "imported", "relevance"
"""The measure that a file brings, and what it is called beside a document."""
MEASURES = (USUAL_MEASURE, "rouge2", "rougeL", BY_FILE)
"""By which the relevant one of several documents is chosen: likeness to the reference, or what the file says."""
_NAME = re.compile(
    r"(?:at-(?P<at>[1-9]\d?)|first-(?P<first>[1-9]\d?)|(?P<kind>all|ends|filled))-of-(?P<size>[1-9]\d?)"
    rf"(?:-by-(?P<by>{'|'.join(MEASURES)}))?|upto-(?P<tokens>[1-9]\d{{0,6}})"
)
HEADERS = {"": ("[TO SUMMARIZE]", "[TO LEAVE OUT]"), "paper": ("[RELEVANT]", "[IRRELEVANT]")}
"""Heads of the relevant document and of the others, as a setting; `paper` is section 4.1's."""
LEAST, MOST = 2, 50
"""How many documents an experiment may show; infilling from 3 on."""


@dataclass(frozen=True)
class Arrangement:
    """An arrangement of a source: `size` documents in all (of `ends` two of them), the relevant one at `place`.

    `by` is the measure that chooses the relevant one. Of `first` there are the first `place` of `size` documents;
    of `upto` all of them, and `size` counts tokens.
    """

    kind: str
    size: int
    place: int = 0
    by: str = USUAL_MEASURE

    @property
    def name(self) -> str:
        """As systems name it: at-2-of-5, at-2-of-5-by-rouge2, all-of-5, ends-of-5, filled-of-5, first-2-of-5,
        upto-4096.
        """
        if self.kind == UPTO:
            return f"{UPTO}-{self.size}"
        place = f"-{self.place}" if self.kind in {AT, FIRST} else ""
        by = "" if self.by == USUAL_MEASURE else f"-by-{self.by}"
        return f"{self.kind}{place}-of-{self.size}{by}"

    @classmethod
    def named(cls, name: str) -> Self | None:
        """The arrangement of this name; None of another."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        if match["tokens"]:
            return cls(UPTO, int(match["tokens"]))
        kind = match["kind"] or (AT if match["at"] else FIRST)
        place, size = int(match["at"] or match["first"] or 0), int(match["size"])
        made = cls(kind, size, place, match["by"] or USUAL_MEASURE)
        is_known = least_of(OF_KIND[kind]) <= size <= MOST and place <= size and made.name == name
        return made if is_known and (kind == AT or made.by == USUAL_MEASURE) else None

    @property
    def experiment(self) -> str:
        return OF_KIND[self.kind]

    @property
    def n_others(self) -> int:
        return {AT: self.size - 1, FILLED: self.size - 2}.get(self.kind, 0)

    @property
    def tokens(self) -> int | None:
        """How many tokens are shown, None for all."""
        return self.size if self.kind == UPTO else None

    def fits(self, n_documents: int) -> bool:
        """Whether a source with so many documents can be shown like this."""
        return n_documents >= 1 if self.kind in {AT, UPTO} else n_documents == self.size

    def shown(self, relevant_lines: Sequence[int], others: Sequence[int], *, relevant: int) -> list[int]:
        """The numbers of documents in the order shown."""
        if self.kind == AT:
            return [*others[: self.place - 1], relevant, *others[self.place - 1 : self.n_others]]
        if self.kind == FIRST:
            return list(relevant_lines[: self.place])
        if self.kind in {ALL, UPTO}:
            return list(relevant_lines)
        return [relevant_lines[0], *others[: self.n_others], relevant_lines[-1]]


def only_relevant(headers: str) -> str:
    """The sentence that asks for the relevant document only."""
    relevant, other = HEADERS[headers]
    return (
        f"Above each document stands {relevant} or {other}. Summarize only the document under {relevant}, and "
        "take nothing from the others."
    )


def least_of(experiment: str) -> int:
    """How many documents an experiment takes at least; of truncation how many lengths."""
    return {INFILLING: 3, TRUNCATION: 1}.get(experiment, LEAST)


def arrangements(experiment: str, size: int, by: str = USUAL_MEASURE) -> list[Arrangement]:
    """All that an experiment compares; raises ValueError for an unknown one, or a size it does not take."""
    if experiment not in EXPERIMENTS or not least_of(experiment) <= size <= MOST:
        raise ValueError(f"an experiment is one of {', '.join(EXPERIMENTS)}, with {LEAST} to {MOST} documents")
    if by not in MEASURES or (by != USUAL_MEASURE and experiment != POSITION):
        raise ValueError(f"a measure is one of {', '.join(MEASURES)}, and of position only")
    places = range(1, size + 1)
    if experiment == POSITION:
        return [Arrangement(AT, size, place, by) for place in places]
    if experiment == DOCUMENTS:
        return [Arrangement(FIRST, size, place) for place in places]
    if experiment == TRUNCATION:
        return [Arrangement(UPTO, STEP * at) for at in places]
    return [Arrangement(kind, size) for kind in (ALL, ENDS, FILLED)]


def in_turn(name: str) -> list[Arrangement]:
    """All arrangements of an experiment by its name; none of another name.

    Names are position-of-5, position-of-5-by-rouge2, infilling-of-5, documents-of-5, truncation-of-6.
    """
    experiment, _of, rest = name.partition("-of-")
    size, _by, by = rest.partition("-by-")
    try:
        return arrangements(experiment, int(size), by or USUAL_MEASURE)
    except ValueError:
        return []


def drawn_others(n: int, pool: Mapping[int, Sequence[int]], *, but: int, seed: str) -> list[int]:
    """Documents of other sources: all of one drawn at random, in their order, then of the next, until there are n.

    `pool` has the documents by source; `but` is the source that they stand beside. They depend on the seed only:
    every arrangement and every summarizer gets the same. Fewer than n where there are no more.
    """
    names = sorted(name for name in pool if name != but)
    random.Random(seed).shuffle(names)  # noqa: S311 - by seed
    drawn: list[int] = []
    for name in names:
        if len(drawn) >= n:
            break
        drawn += pool[name]
    return drawn[:n]
