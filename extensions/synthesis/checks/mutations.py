"""Do the checks see what they are for? Documents are changed so that the right answer is known.

The sentences of evidence are taken out, and the insight must be missed; those of another document are put in, and
they must be noticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from extensions.synthesis.checks.plans import Plan

Evidence = Mapping[tuple[int, int], tuple[int, ...]]
"""Insight and document of a planted pair, with the positions of the sentences that hold it there."""


class Kind(StrEnum):
    """What was done to a document."""

    DELETION = "deletion"
    INSERTION = "insertion"
    CHANGE = "change"


class Check(Protocol):
    """Says which sentences of a document hold an insight."""

    @property
    def name(self) -> str: ...

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """Positions of the sentences that together hold the insight; none where it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed document, and whether it holds the insight now; `insight` and `document` are positions."""

    kind: Kind
    insight: int
    document: int
    sentences: tuple[str, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Caught:
    """How many of the changed documents of one kind a check judges rightly."""

    kind: Kind
    n: int
    n_caught: int

    @property
    def recall(self) -> float | None:
        """The share of them; None where there was nothing to change."""
        return self.n_caught / self.n if self.n else None


def mutants(check: Check, plan: Plan, evidence: Evidence, *, seed: str = "") -> Iterator[Mutant]:
    """A deletion for each planted pair that the check finds, and an insertion for each that has evidence.

    Inserted is the evidence of the pair, together, into a document without the insight of which the check was
    silent before; which document and where in it depends on the seed and the pair.
    """
    silent = {
        insight: [
            column
            for column, document in enumerate(plan.documents)
            if not plan.planted[insight, column] and not check.evidence(insight, document)
        ]
        for insight in range(len(plan.insights))
    }
    for (insight, column), positions in evidence.items():
        document = plan.documents[column]
        if positions and check.evidence(insight, document):
            kept = tuple(text for position, text in enumerate(document) if position not in positions)
            yield Mutant(Kind.DELETION, insight, column, kept, holds=False)
        if positions and silent[insight]:
            draw = int(hashlib.sha256(f"{seed}|{insight}|{column}".encode()).hexdigest(), 16)
            target = silent[insight][draw % len(silent[insight])]
            other = plan.documents[target]
            at = draw // len(silent[insight]) % (len(other) + 1)
            foreign = tuple(document[position] for position in positions)
            yield Mutant(Kind.INSERTION, insight, target, (*other[:at], *foreign, *other[at:]), holds=True)


def recall_of(check: Check, changed: Iterable[Mutant]) -> dict[Kind, Caught]:
    """How many changed documents the check judges as it should, by kind; kinds that do not occur are left out."""
    counts: dict[Kind, list[int]] = {}
    for mutant in changed:
        count = counts.setdefault(mutant.kind, [0, 0])
        count[0] += 1
        count[1] += bool(check.evidence(mutant.insight, mutant.sentences)) == mutant.holds
    return {kind: Caught(kind, n, n_caught) for kind, (n, n_caught) in counts.items()}
