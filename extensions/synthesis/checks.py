"""Free checks of a haystack: what the words of its documents show against its plan, and how far to trust them.

No meaning is read: a leak in other words and a changed value pass. Pure, without Django.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_set_ratio

from benchmarks.io.schemas.topics import TopicFile
from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences

BAND = (0.20, 0.50)
"""Scores between which words alone do not decide; in published haystacks one pair in six."""
DECIMALS = 6
OVERLAP = 60.0
"""From this likeness of two insights on, 0 to 100, a person should look at them."""
DUPLICATE_RUN, NEAR_DUPLICATE = 5, 0.5
"""Two documents that share half of the shorter one's runs of five words are near-duplicates."""
RUN = 8
"""Words in a row that nobody writes twice by chance."""

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
Runs = frozenset[tuple[str, ...]]
Evidence = Mapping[tuple[int, int], tuple[int, ...]]
"""Insight and document of a planted pair, with the positions of the sentences that hold it there."""


@dataclass(frozen=True)
class Plan:
    """Insights and documents by position from 0; `subtopics` has the position of each insight's subtopic.

    `planted` has shape (insights, documents) and is True where the document is meant to hold the insight.
    """

    insights: tuple[str, ...]
    subtopics: tuple[int, ...]
    documents: tuple[tuple[str, ...], ...]
    planted: NDArray[np.bool_]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Each document in one piece."""
        return tuple(" ".join(document) for document in self.documents)

    @cached_property
    def starts(self) -> NDArray[np.int_]:
        """Where each document begins among all sentences, and at the end how many there are."""
        return np.cumsum([0, *map(len, self.documents)])

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Those of all documents, one after the other."""
        return tuple(sentence for document in self.documents for sentence in document)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Insight and document of each planted pair, by insight."""
        return [(int(insight), int(document)) for insight, document in np.argwhere(self.planted)]


def plan_of(topic: TopicFile) -> Plan:
    insights = [
        (position, insight) for position, subtopic in enumerate(topic.subtopics) for insight in subtopic.insights
    ]
    columns = {document.number: column for column, document in enumerate(topic.documents)}
    return make_plan(
        [insight.text for _position, insight in insights],
        [position for position, _insight in insights],
        [document.text for document in topic.documents],
        [(row, columns[number]) for row, (_, insight) in enumerate(insights) for number in insight.gold_documents],
    )


def make_plan(
    insights: Sequence[str],
    subtopics: Sequence[int],
    documents: Sequence[str],
    planted: Sequence[tuple[int, int]],
) -> Plan:
    """A plan of texts; `planted` are pairs of an insight and a document, by position."""
    held = np.zeros((len(insights), len(documents)), dtype=bool)
    for insight, document in planted:
        held[insight, document] = True
    return Plan(tuple(insights), tuple(subtopics), tuple(tuple(sentences(text)) for text in documents), held)


class NothingToCompare(ValueError):
    """All pairs are planted, or none is: nothing can be told apart."""


@dataclass(frozen=True)
class Scores:
    """How close each sentence comes to each insight, shape (insights, sentences of all documents), 0 to 1.

    `best` is the score of the closest sentence of a document, 0 where it has none, and `sentence` the position of
    that sentence in its document; both have shape (insights, documents).
    """

    plan: Plan
    by_sentence: NDArray[np.float64]
    best: NDArray[np.float64]
    sentence: NDArray[np.int_]

    @property
    def planted(self) -> NDArray[np.float64]:
        return self.best[self.plan.planted]

    @property
    def others(self) -> NDArray[np.float64]:
        return self.best[~self.plan.planted]

    def evidence(self) -> dict[tuple[int, int], tuple[int, ...]]:
        """The position of the closest sentence of each planted pair, in its document; none in an empty one."""
        return {
            (insight, document): (int(self.sentence[insight, document]),) if self.plan.documents[document] else ()
            for insight, document in self.plan.pairs
        }


def compare(plan: Plan, judge: LexicalJudge | None = None) -> Scores:
    """Score each insight with each sentence; how telling a word is comes from the haystack as a whole."""
    background = Background(plan.texts, plan.insights)
    scores: Any = (judge or LexicalJudge()).similarities(plan.insights, plan.sentences, background)
    best = np.zeros(plan.planted.shape)
    sentence = np.zeros(plan.planted.shape, dtype=int)
    for column, (start, end) in enumerate(zip(plan.starts[:-1], plan.starts[1:], strict=True)):
        if end > start:
            sentence[:, column] = scores[:, start:end].argmax(axis=1)
            best[:, column] = scores[:, start:end].max(axis=1)
    return Scores(plan, scores, best, sentence)


def auc(scores: Scores) -> float:
    """How likely a planted pair scores above another one; ties count one half.

    Raises:
        NothingToCompare: there is only one sort of pair.
    """
    planted, others = _both(scores)
    others = np.sort(others)
    below = np.searchsorted(others, planted, side="left") + np.searchsorted(others, planted, side="right")
    return float(below.mean() / 2 / len(others))


def fit_threshold(scores: Scores) -> float:
    """The score from which a pair counts as held, with the best F1 against the plan.

    It lies halfway between two scores that occur, or on an end; of equally good ones it is the middle one.

    Raises:
        NothingToCompare: there is only one sort of pair.
    """
    planted, others = (np.sort(part) for part in _both(scores))
    values = np.unique(np.concatenate((planted, others)))
    candidates = np.concatenate((values[:1], (values[:-1] + values[1:]) / 2, values[-1:]))
    hits = len(planted) - np.searchsorted(planted, candidates, side="left")
    alarms = len(others) - np.searchsorted(others, candidates, side="left")
    f1 = 2 * hits / (len(planted) + hits + alarms)
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return round(float(candidates[best[len(best) // 2]]), DECIMALS)


class Decided(NamedTuple):
    """How a threshold decides the pairs of a plan; a share of nothing is None."""

    n_planted: int
    n_others: int
    n_hits: int
    n_alarms: int

    @property
    def precision(self) -> float | None:
        """Of the pairs that count as held, the planted ones."""
        return _share(self.n_hits, self.n_hits + self.n_alarms)

    @property
    def recall(self) -> float | None:
        """Of the planted pairs, those that count as held."""
        return _share(self.n_hits, self.n_planted)


def decide(scores: Scores, threshold: float) -> Decided:
    """Count what a threshold gets right."""
    return Decided(
        n_planted=len(scores.planted),
        n_others=len(scores.others),
        n_hits=int((scores.planted >= threshold).sum()),
        n_alarms=int((scores.others >= threshold).sum()),
    )


def undecided(scores: Scores) -> list[tuple[int, int]]:
    """Pairs of an insight and a document that words alone do not decide, by insight."""
    is_between = (scores.best >= BAND[0]) & (scores.best < BAND[1])
    return [(int(row), int(column)) for row, column in np.argwhere(is_between)]


class LexicalCheck:
    """Finds an insight in sentences of the haystack it was fitted to."""

    def __init__(self, scores: Scores, threshold: float) -> None:
        self.threshold = threshold
        self._scores = scores.by_sentence
        self._column = {sentence: column for column, sentence in enumerate(scores.plan.sentences)}

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """The position of the closest sentence, if it is close enough; `KeyError` for one of another haystack."""
        if not document:
            return ()
        row = self._scores[insight, [self._column[sentence] for sentence in document]]
        closest = int(row.argmax())
        return (closest,) if row[closest] >= self.threshold else ()


def _both(scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    planted, others = scores.planted, scores.others
    if not len(planted) or not len(others):
        raise NothingToCompare("Some insight has to be in some document, and not each in all of them.")
    return planted, others


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


class Kind(StrEnum):
    DELETION = "deletion"
    INSERTION = "insertion"
    CHANGE = "change"


class Check(Protocol):
    """Says which sentences of a document hold an insight."""

    def evidence(self, insight: int, document: Sequence[str]) -> tuple[int, ...]:
        """Positions of the sentences that together hold the insight; none where it is not there."""
        ...


class Mutant(NamedTuple):
    """A changed document, and whether it holds the insight now; `insight` and `document` are positions."""

    kind: Kind
    insight: int
    document: int
    sentences: tuple[str, ...]
    holds: bool


class Caught(NamedTuple):
    """How many of the changed documents of one kind a check judges rightly."""

    n: int
    n_caught: int

    @property
    def recall(self) -> float | None:
        """The share of them; None where there was nothing to change."""
        return _share(self.n_caught, self.n)


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
    return {kind: Caught(*count) for kind, count in counts.items()}


class Alike(NamedTuple):
    """Two insights or two documents by position, the first one lower, and how alike they are."""

    first: int
    second: int
    likeness: float


def runs(text: str, length: int) -> Runs:
    """The distinct runs of so many words of a text, in lower case and without punctuation."""
    words = _WORD.findall(text.lower())
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def _most_alike(pairs: Iterable[Alike]) -> tuple[Alike, ...]:
    return tuple(sorted(pairs, key=lambda pair: (-pair.likeness, pair.first, pair.second)))


def overlaps(texts: Sequence[str]) -> tuple[Alike, ...]:
    """Pairs of texts that are made of the same words (token set ratio), the most alike first."""
    lower = [text.lower() for text in texts]
    return _most_alike(
        Alike(first, second, likeness)
        for first, second in combinations(range(len(texts)), 2)
        if (likeness := token_set_ratio(lower[first], lower[second])) >= OVERLAP
    )


def near_duplicates(texts: Sequence[str]) -> tuple[Alike, ...]:
    """Pairs of texts that share many runs of five words, as a share of the shorter one's; the most alike first."""
    every = [runs(text, DUPLICATE_RUN) for text in texts]
    holders: dict[tuple[str, ...], list[int]] = {}
    pairs: set[tuple[int, int]] = set()
    for second, held in enumerate(every):
        for run in held:
            others = holders.setdefault(run, [])
            pairs.update((first, second) for first in others)
            others.append(second)
    alike = (Alike(a, b, len(every[a] & every[b]) / min(len(every[a]), len(every[b]))) for a, b in pairs)
    return _most_alike(pair for pair in alike if pair.likeness >= NEAR_DUPLICATE)


def repeated(texts: Sequence[str]) -> float | None:
    """The mean over texts of the share of their runs that another text has too; None without runs."""
    every = [runs(text, RUN) for text in texts]
    counts = Counter(run for runs in every for run in runs)
    return mean([sum(counts[run] > 1 for run in runs) / len(runs) for runs in every if runs])


def verbatim_share(plan: Plan) -> float | None:
    """The mean over planted pairs of the share of the insight's runs that the document has word for word."""
    documents = [runs(text, RUN) for text in plan.texts]
    insights = [runs(text, RUN) for text in plan.insights]
    shares = [
        len(insights[row] & documents[column]) / len(insights[row]) for row, column in plan.pairs if insights[row]
    ]
    return mean(shares)


def number_precision(plan: Plan, evidence: Evidence) -> float | None:
    """Of the sentences with a digit, the share that is evidence: how far numbers alone give evidence away."""
    starts = plan.starts
    held = {int(starts[column]) + at for (_insight, column), places in evidence.items() for at in places}
    return mean([float(at in held) for at, sentence in enumerate(plan.sentences) if _DIGIT.search(sentence)])


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def check(topic: TopicFile) -> dict[str, Any]:
    """The figures of a haystack against its plan, as JSON: shares from 0 to 1, None where nothing is divided.

    `missing` are planted pairs below the threshold, `leaks` other pairs from it on, the worst first. `n_undecided`
    counts pairs in the band where words alone do not decide. `mutation_recall` is the share of all changed
    documents that the lexical check judges rightly.

    Raises:
        NothingToCompare: no insight is in any document, or each is in all.
    """
    plan = plan_of(topic)
    scores = compare(plan)
    threshold, evidence = fit_threshold(scores), scores.evidence()
    lexical = LexicalCheck(scores, threshold)
    decided = decide(scores, threshold)
    caught = recall_of(lexical, mutants(lexical, plan, evidence, seed=topic.key))
    overlapping = overlaps(plan.insights)
    n_within = sum(plan.subtopics[pair.first] == plan.subtopics[pair.second] for pair in overlapping)
    return {
        "n_insights": len(plan.insights),
        "n_documents": len(plan.documents),
        "n_sentences": len(plan.sentences),
        "auc": auc(scores),
        "threshold": threshold,
        "mutation_recall": _share(
            sum(row.n_caught for row in caught.values()), sum(row.n for row in caught.values())
        ),
        "precision": decided.precision,
        "recall": decided.recall,
        "mutations": {str(kind): {**row._asdict(), "recall": row.recall} for kind, row in caught.items()},
        **decided._asdict(),
        "n_undecided": len(undecided(scores)),
        "missing": _worst(topic, plan, scores, planted=True, threshold=threshold),
        "leaks": _worst(topic, plan, scores, planted=False, threshold=threshold),
        "overlapping_insights": [alike._asdict() for alike in overlapping],
        "n_overlapping_within": n_within,
        "n_overlapping_between": len(overlapping) - n_within,
        "near_duplicate_documents": [alike._asdict() for alike in near_duplicates(plan.texts)],
        "repeated": repeated(plan.texts),
        "verbatim": verbatim_share(plan),
        "number_precision": number_precision(plan, evidence),
    }


def _worst(
    topic: TopicFile, plan: Plan, scores: Scores, *, planted: bool, threshold: float
) -> list[dict[str, Any]]:
    keys = [insight.key for subtopic in topic.subtopics for insight in subtopic.insights]
    wrong = (plan.planted == planted) & ((scores.best >= threshold) != planted)
    pairs = [
        {
            "insight_id": keys[row],
            "document": topic.documents[column].number,
            "score": float(scores.best[row, column]),
        }
        for row, column in zip(*wrong.nonzero(), strict=True)
    ]
    return sorted(pairs, key=lambda pair: pair["score"], reverse=not planted)
