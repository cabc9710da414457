"""Pairs of an insight and a document to be read by people, by stratum: misses and leaks get intervals."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.synthesis.checks.lexical import BAND, compare
from benchmarks.synthesis.checks.plans import Plan


class Stratum(StrEnum):
    """What is known of a pair before anybody reads: planned, or not and more or less alike by words."""

    PLANNED = "planned"
    CLOSE = "close"
    FAR = "far"


@dataclass(frozen=True, slots=True)
class Pair:
    """An insight and a document of a plan, by position."""

    stratum: Stratum
    insight: int
    document: int


def strata(plan: Plan) -> dict[Stratum, list[Pair]]:
    """All pairs of a haystack; not planned ones are close from the lower end of the band on where words decide."""
    pairs: dict[Stratum, list[Pair]] = {stratum: [] for stratum in Stratum}
    best = compare(plan).best
    for insight in range(len(plan.insights)):
        for document in range(len(plan.documents)):
            is_close = best[insight, document] >= BAND[0]
            stratum = Stratum.CLOSE if is_close else Stratum.FAR
            if plan.planted[insight, document]:
                stratum = Stratum.PLANNED
            pairs[stratum].append(Pair(stratum, insight, document))
    return pairs


def draw(by_stratum: dict[Stratum, list[Pair]], n: int, *, seed: int) -> list[Pair]:
    """Half of `n` planned, the others in equal parts close and far, or all where there are fewer; by document."""
    shares = {Stratum.PLANNED: n - n // 2, Stratum.CLOSE: n // 2 - n // 4, Stratum.FAR: n // 4}
    chosen = [
        pair
        for stratum, n_wanted in shares.items()
        for pair in sorted(by_stratum[stratum], key=lambda pair: _place(pair, seed))[:n_wanted]
    ]
    return sorted(chosen, key=lambda pair: (pair.document, _place(pair, seed)))


def _place(pair: Pair, seed: int) -> str:
    return hashlib.sha256(f"{seed}|{pair.insight}|{pair.document}".encode()).hexdigest()


def sizes(by_stratum: dict[Stratum, list[Pair]]) -> dict[Stratum, int]:
    """How many pairs each stratum has."""
    return {stratum: len(pairs) for stratum, pairs in by_stratum.items()}


def key_of(pair: Pair) -> str:
    """The key of a pair among those of its document: its stratum and the place of its insight."""
    return f"{pair.stratum}:{pair.insight + 1}"


def stratum_of(key: str) -> Stratum:
    """The stratum that a key names."""
    return Stratum(key.partition(":")[0])
