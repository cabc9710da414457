"""The free checks of a haystack file together: what its words show, and how far these checks can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.io.schemas.topics import TopicFile
from extensions.synthesis.checks import lexical, texts
from extensions.synthesis.checks.lexical import Decided, LexicalCheck, compare
from extensions.synthesis.checks.mutations import Caught, Kind, mutants, recall_of
from extensions.synthesis.checks.plans import Plan, plan_of
from extensions.synthesis.checks.texts import Alike


@dataclass(frozen=True)
class CheckReport:
    """Figures of a haystack against its plan; shares from 0 to 1, None where there is nothing to divide by.

    `missing` are planted pairs below the threshold, `leaks` other pairs from it on: insight id, document number
    and score, the worst first. `undecided` counts pairs in the band where words alone do not decide. `n_within` of
    the overlapping pairs of insights are of one subtopic.
    """

    n_insights: int
    n_documents: int
    n_sentences: int
    auc: float
    threshold: float
    decided: Decided
    caught: Mapping[Kind, Caught]
    undecided: int
    missing: tuple[tuple[str, int, float], ...]
    leaks: tuple[tuple[str, int, float], ...]
    overlapping: tuple[Alike, ...]
    n_within: int
    near_duplicates: tuple[Alike, ...]
    repeated: float | None
    verbatim: float | None
    number_precision: float | None

    @property
    def mutation_recall(self) -> float | None:
        """The share of all changed documents that the lexical check judges rightly."""
        n = sum(caught.n for caught in self.caught.values())
        return sum(caught.n_caught for caught in self.caught.values()) / n if n else None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        names = ("n_insights", "n_documents", "n_sentences", "auc", "threshold")
        return {
            **{name: getattr(self, name) for name in names},
            "precision": self.decided.precision,
            "recall": self.decided.recall,
            "mutation_recall": self.mutation_recall,
            "mutations": {
                str(kind): {"n": caught.n, "n_caught": caught.n_caught, "recall": caught.recall}
                for kind, caught in self.caught.items()
            },
            **asdict(self.decided),
            "n_undecided": self.undecided,
            "missing": [_pair(pair) for pair in self.missing],
            "leaks": [_pair(pair) for pair in self.leaks],
            "overlapping_insights": [asdict(alike) for alike in self.overlapping],
            "n_overlapping_within": self.n_within,
            "n_overlapping_between": len(self.overlapping) - self.n_within,
            "near_duplicate_documents": [asdict(alike) for alike in self.near_duplicates],
            "repeated": self.repeated,
            "verbatim": self.verbatim,
            "number_precision": self.number_precision,
        }


def check(topic: TopicFile) -> CheckReport:
    """Check a haystack.

    Raises:
        lexical.NothingToCompare: no insight is in any document, or each is in all.
    """
    plan = plan_of(topic)
    scores = compare(plan)
    auc, threshold = lexical.auc(scores), lexical.fit_threshold(scores)
    evidence = scores.evidence()
    lexical_check = LexicalCheck(scores, threshold)
    overlapping = tuple(texts.overlapping(plan.insights))
    return CheckReport(
        n_insights=len(plan.insights),
        n_documents=len(plan.documents),
        n_sentences=len(plan.sentences),
        auc=auc,
        threshold=threshold,
        decided=lexical.decide(scores, threshold),
        caught=recall_of(lexical_check, mutants(lexical_check, plan, evidence, seed=topic.key)),
        undecided=len(lexical.undecided(scores)),
        missing=_worst(topic, plan, scores, planted=True, threshold=threshold),
        leaks=_worst(topic, plan, scores, planted=False, threshold=threshold),
        overlapping=overlapping,
        n_within=sum(plan.subtopics[pair.first] == plan.subtopics[pair.second] for pair in overlapping),
        near_duplicates=tuple(texts.near_duplicates(plan.texts)),
        repeated=texts.repeated(plan.texts),
        verbatim=texts.verbatim_share(plan),
        number_precision=texts.number_precision(plan, evidence),
    )


def _worst(
    topic: TopicFile, plan: Plan, scores: lexical.Scores, *, planted: bool, threshold: float
) -> tuple[tuple[str, int, float], ...]:
    keys = [insight.key for subtopic in topic.subtopics for insight in subtopic.insights]
    numbers = [document.number for document in topic.documents]
    wrong = (plan.planted == planted) & ((scores.best >= threshold) != planted)
    likenesses = [
        (keys[row], numbers[column], float(scores.best[row, column]))
        for row, column in zip(*wrong.nonzero(), strict=True)
    ]
    return tuple(sorted(likenesses, key=lambda pair: pair[2], reverse=not planted))


def _pair(pair: tuple[str, int, float]) -> dict[str, Any]:
    return dict(zip(("insight_id", "document", "score"), pair, strict=True))
