"""How well a retriever finds what a subtopic's insights stand in, within the token budget a reader has.

A subtopic's documents are ranked by score, ties by the lower number, and taken until the budget is crossed. All
figures are shares from 0 to 1; means are over subtopics, which intervals resample.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.scoring.formulas import SAME, SHARE, Figure, Shares
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import TOKEN_BUDGET, select_by_scores
from benchmarks.scoring.sums import ratio, shared_draws

FIGURES = ("recall_documents", "recall_insights", "ndcg")
BY_CONSTRUCTION = "1 by construction: it ranks by the gain itself"
NO_ENDS: dict[str, Any] = {"low": None, "high": None, "seed": None, "n_resamples": None}
NO_GOLD = "no insight has a gold document"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Figures of a retriever for one subtopic, None where no insight has a gold document."""

    subtopic: int
    n_documents: int
    n_gold: int
    n_gold_found: int
    n_insights: int
    n_insights_found: int
    ndcg: float | None

    @property
    def recall_documents(self) -> float | None:
        return self.n_gold_found / self.n_gold if self.n_gold else None

    @property
    def recall_insights(self) -> float | None:
        """The share of insights, of those with gold documents, with at least one of them taken."""
        return self.n_insights_found / self.n_insights if self.n_insights else None

    def units(self, measure: str) -> tuple[int, int]:
        """The smallest things behind a figure and how many of them were found: insights, else gold documents."""
        if measure == "recall_insights":
            return self.n_insights, self.n_insights_found
        return self.n_gold, self.n_gold_found


@dataclass(frozen=True, slots=True)
class Quality:
    """A retriever's figures over subtopics; `n_without_gold` subtopics are in none of them."""

    recall_documents: Stat
    recall_insights: Stat
    ndcg: Stat
    n_subtopics: int
    n_without_gold: int
    mean_documents: float


def retrieved(
    *,
    subtopic: int,
    documents: Sequence[tuple[int, int]],
    scores: Mapping[int, float],
    golds: Iterable[frozenset[int]],
    token_budget: float = TOKEN_BUDGET,
) -> Retrieved:
    """Take documents, given as (number, words), by score within the budget and compare them with the gold ones.

    A gold document without a score counts as one that was not found.
    """
    known = {number for number, _words in documents}
    held = [gold & known for gold in golds]
    held = [gold for gold in held if gold]
    taken = select_by_scores(documents, scores, token_budget=token_budget).numbers
    gains = {number: sum(number in gold for gold in held) for number in known}
    gold_documents = {number for number, gain in gains.items() if gain}
    return Retrieved(
        subtopic=subtopic,
        n_documents=len(taken),
        n_gold=len(gold_documents),
        n_gold_found=len(gold_documents & set(taken)),
        n_insights=len(held),
        n_insights_found=sum(not gold.isdisjoint(taken) for gold in held),
        ndcg=ndcg([gains[number] for number in taken], gains.values()),
    )


def ndcg(gains: Sequence[float], all_gains: Iterable[float]) -> float | None:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen 2002) of gains in the order of a ranking.

    The sum of gain / log2(rank + 1), divided by the largest that as many documents can have. None where no
    document has any gain.
    """
    ideal = sorted(all_gains, reverse=True)
    if not ideal or not ideal[0]:
        return None
    ours, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(order, 1))
        for order in (gains, ideal[: len(gains)])
    )
    return ours / best if gains else 0.0


def qualities(
    by_retriever: Mapping[str, Sequence[Retrieved]], *, oracles: Collection[str] = ()
) -> dict[str, Quality]:
    """The mean of each figure over subtopics for each retriever; all draw the same subtopics.

    The nDCG of `oracles` has no interval: it is 1 by construction, since they rank by the gain itself.
    """
    subtopics = sorted({row.subtopic for rows in by_retriever.values() for row in rows})
    at = {subtopic: place for place, subtopic in enumerate(subtopics)}
    figure = Figure("mean over subtopics", ratio, NO_GOLD, SHARE)
    batch = Batch(max(1, len(at)))
    blocks = {}
    for name, rows in by_retriever.items():
        for measure in FIGURES:
            sums, units, missed = np.zeros((max(1, len(at)), 2)), np.zeros(max(1, len(at))), 0
            for row in rows:
                value = getattr(row, measure)
                if value is not None:
                    n, n_found = row.units(measure)
                    sums[at[row.subtopic]] += (value, 1.0)
                    units[at[row.subtopic]] += n
                    missed += n - n_found
            shares = Shares(sums[:, 0], sums[:, 1], units, n_rare=min(missed, float(units.sum()) - missed))
            blocks[name, measure] = batch.add(sums), int(sums[:, 1].sum()), shares
    with shared_draws():
        stats = {
            key: batch.estimate(figure, [block], shares=shares).stat(n_items=n_items)
            for key, (block, n_items, shares) in blocks.items()
        }
    for name in oracles:
        stat = stats.get((name, "ndcg"))
        if stat is not None and stat.value is not None and stat.value > 1 - SAME:
            stats[name, "ndcg"] = replace(stat, interval_reason=BY_CONSTRUCTION, method=figure.method, **NO_ENDS)
    return {
        name: Quality(
            **{measure: stats[name, measure] for measure in FIGURES},
            n_subtopics=len(rows),
            n_without_gold=sum(not row.n_gold for row in rows),
            mean_documents=sum(row.n_documents for row in rows) / len(rows) if rows else 0.0,
        )
        for name, rows in by_retriever.items()
    }
