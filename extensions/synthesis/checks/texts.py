"""How alike texts are, word by word: insights that overlap, documents that repeat each other, what is verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import token_set_ratio

from extensions.synthesis.checks.mutations import Evidence
from extensions.synthesis.checks.plans import Plan

OVERLAP = 60.0
"""From this likeness of two insights on, 0 to 100, a person should look at them."""
DUPLICATE_RUN, NEAR_DUPLICATE = 5, 0.5
"""Two documents that share half of the shorter one's runs of five words are near-duplicates."""
RUN = 8
"""Words in a row that nobody writes twice by chance."""

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
Runs = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Alike:
    """Two insights or two documents by position, the first one lower, and how alike they are."""

    first: int
    second: int
    likeness: float


def runs(text: str, length: int) -> Runs:
    """The distinct runs of so many words of a text, in lower case and without punctuation."""
    words = _WORD.findall(text.lower())
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def overlapping(texts: Sequence[str], *, least: float = OVERLAP) -> list[Alike]:
    """Pairs of texts that are made of the same words (token set ratio), the most alike first."""
    alike = [
        Alike(first, second, likeness)
        for first, text in enumerate(texts)
        for second in range(first + 1, len(texts))
        if (likeness := token_set_ratio(text.lower(), texts[second].lower())) >= least
    ]
    return sorted(alike, key=lambda pair: (-pair.likeness, pair.first, pair.second))


def near_duplicates(texts: Sequence[str], *, least: float = NEAR_DUPLICATE) -> list[Alike]:
    """Pairs of texts that share many runs of five words, as a share of the shorter one's; the most alike first."""
    every = [runs(text, DUPLICATE_RUN) for text in texts]
    alike = []
    for first, second in _sharing(every):
        shorter = min(len(every[first]), len(every[second]))
        if (likeness := len(every[first] & every[second]) / shorter) >= least:
            alike.append(Alike(first, second, likeness))
    return sorted(alike, key=lambda pair: (-pair.likeness, pair.first, pair.second))


def repeated(texts: Sequence[str], *, length: int = RUN) -> float | None:
    """The mean over texts of the share of their runs that another text has too; None without runs."""
    every = [runs(text, length) for text in texts]
    counts = Counter(run for runs in every for run in runs)
    return _mean([sum(counts[run] > 1 for run in runs) / len(runs) for runs in every if runs])


def verbatim_share(plan: Plan) -> float | None:
    """The mean over planted pairs of the share of the insight's runs that the document has word for word."""
    documents = [runs(text, RUN) for text in plan.texts]
    insights = [runs(text, RUN) for text in plan.insights]
    shares = [
        len(insights[row] & documents[column]) / len(insights[row]) for row, column in plan.pairs if insights[row]
    ]
    return _mean(shares)


def number_precision(plan: Plan, evidence: Evidence) -> float | None:
    """Of the sentences with a digit, the share that is evidence: how far numbers alone give evidence away."""
    starts = plan.starts
    held = {int(starts[column]) + at for (_insight, column), places in evidence.items() for at in places}
    return _mean([float(at in held) for at, sentence in enumerate(plan.sentences) if _DIGIT.search(sentence)])


def _sharing(every: Sequence[Runs]) -> Iterator[tuple[int, int]]:
    """Pairs of positions with a run in common."""
    holders: dict[tuple[str, ...], list[int]] = {}
    pairs: set[tuple[int, int]] = set()
    for position, runs in enumerate(every):
        for run in runs:
            held = holders.setdefault(run, [])
            pairs.update((other, position) for other in held)
            held.append(position)
    yield from sorted(pairs)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
