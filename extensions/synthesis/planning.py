"""Which document holds which insights: drawn at random across subtopics, each insight often enough. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class ImpossiblePlan(ValueError):
    """So many insights do not fit so many documents; the message says what would."""


@dataclass(frozen=True)
class Draws:
    """Numbers from 0 to 1 that depend on the seed and a name only, the same in every version of Python."""

    seed: int

    def of(self, *name: object) -> float:
        """The number of this name."""
        content = "/".join(map(str, (self.seed, *name)))
        return int.from_bytes(hashlib.sha256(content.encode()).digest()[:7], "big") / 2**56


def plan(
    insights: Sequence[Key], *, n_documents: int, per_document: tuple[int, int], at_least: int, seed: int
) -> list[tuple[Key, ...]]:
    """The insights of each document, in the order in which they are to be told.

    Every insight is in `at_least` documents or more, every document has from `per_document[0]` to
    `per_document[1]` insights, or all where there are fewer.

    Raises:
        ImpossiblePlan: the documents have too little room.
    """
    draws, n = Draws(seed), len(insights)
    least, most = (min(bound, n) for bound in per_document)
    if not n:
        raise ImpossiblePlan("There is no insight to plan with.")
    check_room(n, n_documents=n_documents, most=most, at_least=at_least)
    room = _sizes(draws, n_documents=n_documents, least=least, most=most, needed=n * at_least)
    held: list[list[int]] = [[] for _ in range(n_documents)]

    def put(insight: int, document: int) -> None:
        held[document].append(insight)
        room[document] -= 1

    for insight in sorted(range(n), key=lambda i: draws.of("insight", i)):
        fullest = sorted(range(n_documents), key=lambda d: (-room[d], draws.of("place", insight, d)))
        for document in fullest[:at_least]:
            put(insight, document)
    for document in range(n_documents):
        others = sorted(set(range(n)) - set(held[document]), key=lambda i: draws.of("rest", document, i))
        for insight in others[: room[document]]:
            put(insight, document)
    return [
        tuple(insights[i] for i in sorted(chosen, key=lambda i: draws.of("order", document, i)))
        for document, chosen in enumerate(held)
    ]


def check_room(n: int, *, n_documents: int, most: int, at_least: int) -> None:
    """Whether so many insights fit.

    Raises:
        ImpossiblePlan: they do not.
    """
    if at_least > n_documents or n * at_least > n_documents * most:
        raise ImpossiblePlan(
            f"{n} insights in at least {at_least} documents each need {n * at_least} places; "
            f"{n_documents} documents of at most {most} insights have {n_documents * most}."
        )


def _sizes(draws: Draws, *, n_documents: int, least: int, most: int, needed: int) -> list[int]:
    """How many insights each document has: drawn evenly, then raised one by one until all that is needed fits."""
    sizes = [least + int(draws.of("size", d) * (most - least + 1)) for d in range(n_documents)]
    raised = 0
    while sum(sizes) < needed:
        small = [d for d in range(n_documents) if sizes[d] < most]
        sizes[min(small, key=lambda d: (sizes[d], draws.of("raise", raised, d)))] += 1
        raised += 1
    return sizes
