"""The offline baseline: sentences of the documents that are close to the query and repeat across documents.

Maximal marginal relevance: each sentence counts by its relevance less what was said before. No model, no network;
the same input always gives the same summary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.judges.lexical_terms import sentences
from benchmarks.retrieval.lexical import content_words
from benchmarks.summarizers.config import ExtractiveConfig
from benchmarks.summarizers.documents import Passage

CANDIDATES = 300
"""Sentences, the most relevant, among which is chosen."""
SAME = 0.3
"""The cosine from which another sentence says the same: its document is cited too, and it is passed over."""
ROUNDING = 1e-9
SHORTEST, LONGEST = 8, 60
"""Words of a sentence that can stand alone."""
TELLING = 5
"""Different content words that it must have."""
OF_QUERY, OF_CENTRE, OF_REPEATS = 0.4, 0.2, 0.4
"""Parts of relevance: likeness to the query and to what all documents say, and how many say the same."""
MOST_CITED = 8
BULLETS = 6
"""Where the number is free."""

Vector = Mapping[str, float]


def summarize(
    passages: Sequence[Passage], query: str, *, language: str, n_bullets: int | None, config: ExtractiveConfig
) -> str:
    """Bullets with citations: at most `n_bullets` (6 where it is None) and `words_to` words, "" of nothing."""
    numbered = _sentences(passages, language)
    counts = [Counter(content_words(text, language)) for _number, text in numbered]
    held_by = Counter(word for words in counts for word in words)
    idf = {word: math.log((1 + len(numbered)) / (1 + n)) for word, n in held_by.items()}
    vectors = [_unit(words, idf) for words in counts]
    wanted = _unit(Counter(content_words(query, language)), idf)
    centre = _centroid(passages, idf, language)
    of_query = _of_most([_dot(wanted, value) for value in vectors])
    central = _of_most([_dot(centre, value) for value in vectors])
    near = [
        OF_QUERY * value + OF_CENTRE * central_value
        for value, central_value in zip(of_query, central, strict=True)
    ]
    ranked = sorted(range(len(numbered)), key=lambda index: (-near[index], index))[:CANDIDATES]
    holders = _holders(ranked, vectors)
    sources = {index: _sources(index, holders, vectors, numbered) for index in ranked}
    relevance = {index: near[index] + OF_REPEATS * len(sources[index]) / MOST_CITED for index in ranked}
    chosen = _chosen(relevance, vectors, numbered, n_bullets or BULLETS, config)
    return "\n".join(f"- {numbered[index][1]} [{', '.join(map(str, sources[index]))}]" for index in chosen)


def _sentences(passages: Sequence[Passage], language: str) -> list[Passage]:
    numbered = []
    for number, text in passages:
        for sentence in sentences(text):
            plain = " ".join(sentence.split()).lstrip("#*->• ").replace("[", "(").replace("]", ")")
            if not SHORTEST <= len(plain.split()) <= LONGEST or plain.endswith("?"):
                continue
            if len(set(content_words(plain, language))) >= TELLING:
                numbered.append((number, plain))
    return numbered


def _unit(words: Counter[str], idf: Mapping[str, float]) -> dict[str, float]:
    weights = {word: (1 + math.log(n)) * idf[word] for word, n in words.items() if idf.get(word, 0) > 0}
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _centroid(passages: Sequence[Passage], idf: Mapping[str, float], language: str) -> dict[str, float]:
    """Words weigh by how many documents say them."""
    held_by = Counter(word for _number, text in passages for word in set(content_words(text, language)))
    return _unit(Counter({word: n for word, n in held_by.items() if n > 1}), idf)


def _of_most(values: Sequence[float]) -> list[float]:
    most = max(values, default=0.0) or 1.0
    return [value / most for value in values]


def _dot(first: Vector, second: Vector) -> float:
    if len(first) > len(second):
        first, second = second, first
    return sum(weight * second.get(word, 0.0) for word, weight in first.items())


def _chosen(
    relevance: Mapping[int, float],
    vectors: Sequence[Vector],
    numbered: Sequence[Passage],
    n_bullets: int,
    config: ExtractiveConfig,
) -> list[int]:
    """Take the best sentence that still fits, one by one."""
    chosen: list[int] = []
    redundancy = dict.fromkeys(relevance, 0.0)
    room = config.words_to
    while redundancy and len(chosen) < n_bullets:
        best = max(
            redundancy,
            key=lambda index: (
                (1 - config.diversity) * relevance[index] - config.diversity * redundancy[index],
                -index,
            ),
        )
        del redundancy[best]
        n_words = len(numbered[best][1].split())
        if n_words > room:
            continue
        chosen.append(best)
        room -= n_words
        alike = {index: _dot(vectors[best], vectors[index]) for index in redundancy}
        redundancy = {
            index: max(redundancy[index], likeness) for index, likeness in alike.items() if likeness < SAME
        }
    return chosen


def _holders(ranked: Sequence[int], vectors: Sequence[Vector]) -> dict[str, list[tuple[int, float]]]:
    """Each word with the sentences that hold it, and how much it weighs there."""
    holders: dict[str, list[tuple[int, float]]] = {}
    for index in ranked:
        for word, weight in vectors[index].items():
            holders.setdefault(word, []).append((index, weight))
    return holders


def _sources(
    index: int,
    holders: Mapping[str, Sequence[tuple[int, float]]],
    vectors: Sequence[Vector],
    numbered: Sequence[Passage],
) -> list[int]:
    """The document that the sentence is from, and those that say nearly the same, the closest ones."""
    close: dict[int, float] = {numbered[index][0]: 2.0}
    for other in _perhaps_same(vectors[index], holders):
        likeness = _dot(vectors[index], vectors[other])
        if likeness >= SAME:
            close[numbered[other][0]] = max(close.get(numbered[other][0], 0.0), likeness)
    kept = sorted(close, key=lambda number: (-close[number], number))[:MOST_CITED]
    return sorted(kept)


def _perhaps_same(vector: Vector, holders: Mapping[str, Sequence[tuple[int, float]]]) -> list[int]:
    """Sentences whose cosine reaches the bound but for rounding; most share no word, and are never looked at."""
    likeness: dict[int, float] = {}
    for word, weight in vector.items():
        for other, its in holders[word]:
            likeness[other] = likeness.get(other, 0.0) + weight * its
    return [other for other, likely in likeness.items() if likely > SAME - ROUNDING]
