"""Which documents the oracle shows to a summarizer or a writer, and how long they take to read.

Standard library only: the study form computes this while it is filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

TOKEN_BUDGET = 15_000
TOKENS_PER_WORD = 1.25
WORDS_PER_MINUTE = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen document numbers in rank order, their size, and how many of them hold no insight.

    `tokens` is an estimate, words times a constant; the last document may cross the budget.
    """

    numbers: tuple[int, ...]
    tokens: float
    n_words: int


def select_documents(
    documents: Iterable[tuple[int, int]],
    insight_counts: Mapping[int, int],
    *,
    token_budget: float = TOKEN_BUDGET,
    include_zero: bool = False,
) -> Selection:
    """Rank documents by how many of the subtopic's insights they hold and fill the token budget.

    `documents` are (number, words); ties go to the lower number; the document that crosses the budget is
    included and is the last. Documents without an insight are shown only with `include_zero`, as the
    published systems saw them where there was room.
    """
    ranked = sorted(documents, key=lambda document: (-insight_counts.get(document[0], 0), document[0]))
    chosen: list[int] = []
    n_words = 0
    for number, words in ranked:
        if n_words * TOKENS_PER_WORD >= token_budget or not (include_zero or insight_counts.get(number, 0) > 0):
            break
        chosen.append(number)
        n_words += words
    return Selection(numbers=tuple(chosen), tokens=n_words * TOKENS_PER_WORD, n_words=n_words)


def select_by_scores(
    documents: Iterable[tuple[int, int]], scores: Mapping[int, float], *, token_budget: float = TOKEN_BUDGET
) -> Selection:
    """Fill the token budget by a retriever's scores, the best first, whatever their scale and sign.

    `documents` are (number, words); those without a score are left out; ties go to the lower number; the document
    that crosses the budget is included and is the last.
    """
    known = [document for document in documents if document[0] in scores]
    best_first = ranked_by_scores(known, scores)
    ranks = {number: rank for rank, number in enumerate(reversed(best_first), 1)}
    return select_documents(known, ranks, token_budget=token_budget, include_zero=True)


def ranked_by_scores(documents: Iterable[tuple[int, int]], scores: Mapping[int, float]) -> list[int]:
    """The numbers of documents, given as (number, words), by score, the best first; ties go to the lower number.

    Those without a score are left out.
    """
    known = (number for number, _words in documents if number in scores)
    return sorted(known, key=lambda number: (-scores[number], number))


def reading_minutes(n_words: int) -> float:
    """Minutes to read `n_words` once; the paper's 12,000 words are one hour (§5.3)."""
    return n_words / WORDS_PER_MINUTE
