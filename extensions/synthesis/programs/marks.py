"""Numbers and names by which a text may tell an insight in other words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.judges.lexical_terms import alike, sentences

RARE_IN = 2
"""Insights of a haystack that may have a mark in common, which still gives them away."""
_WORD = re.compile(r"[^\W\d_]\w+")


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers of two digits or more, words with a capital, and those of them that begin no sentence."""

    numbers: frozenset[str]
    capitals: frozenset[str]
    names: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All of them."""
        return self.numbers | self.capitals


@lru_cache(maxsize=1024)
def marks(text: str) -> Marks:
    """The marks of a text, numbers in words as digits."""
    capitals, names = set[str](), set[str]()
    for sentence in sentences(text):
        for at, word in enumerate(_WORD.findall(sentence)):
            if word[0].isupper():
                capitals.add(word.casefold())
                names |= {word.casefold()} if at else set()
    numbers = {word for word in alike(text) if word[0].isdigit() and len(word) > 1}
    return Marks(frozenset(numbers), frozenset(capitals), frozenset(names))


def gives_away(text: str, insight: str, *, insights: tuple[str, ...], planned: Sequence[str]) -> bool:
    """Whether a text has a mark of an insight that few others have, and none that the text is planned to tell."""
    said, its = marks(text), marks(insight)
    common = (said.numbers & its.numbers) | (said.names & its.capitals) | (said.capitals & its.names)
    told = frozenset[str]().union(*(marks(each).all for each in planned))
    counts = _counts(insights)
    return any(counts[mark] <= RARE_IN for mark in common - told)


@lru_cache(maxsize=16)
def _counts(insights: tuple[str, ...]) -> Counter[str]:
    return Counter(mark for insight in insights for mark in marks(insight).all)
