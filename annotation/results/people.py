"""How far people agree among themselves: the cards, every pair, without each person, and category by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from annotation.results.table import LabelTable
from benchmarks.scoring.agreement import (
    CategoryAgreement,
    Level,
    Measure,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    leave_one_out,
    per_category,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.components import about_these
from benchmarks.scoring.formulas import Rate
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.pairs import CONSTANT, Blocks, add_pair, estimates_of, pair_figures, stats_of
from benchmarks.scoring.ratings import MISSING
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.sums import DEFAULT, People, Resampling, people_of, shared_draws

PAIR_NAMES = ("exact_agreement", "randolph_kappa", "cohen_kappa", "pearson")
NO_PAIR = "no item was labelled by two"
MAX_PAIRS = 66
"""Pairs of people whose figures are drawn: those of twelve; more would be a table nobody reads."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two people on the items that both labelled."""

    a: str
    b: str
    n: int
    percent: Stat
    randolph: Stat
    cohen: Stat
    pearson: Stat
    linking: Stat


@dataclass(frozen=True, slots=True)
class Agreement:
    """All figures of people; `cards` by name, `without` by person and card, `too_many` if pairs were left out."""

    cards: Mapping[str, Stat]
    correlation: Stat
    linking: Stat
    pairs: tuple[PairRow, ...]
    without: Mapping[str, Mapping[str, Stat]]
    categories: tuple[CategoryAgreement, ...]
    q: int
    n_items: int
    n_pairable: int
    n_clusters: int
    cluster_unit: str
    people: tuple[str, ...]
    too_many: bool


def agreement(table: LabelTable, *, resampling: Resampling | None = DEFAULT) -> Agreement:
    """Every figure of the people of a table."""
    names = tuple(person.name for person in table.people)
    ratings, resampling = table.ratings(), table.resampled(resampling)
    measures: dict[str, Measure] = {
        "percent": percent_agreement,
        "randolph": randolph_kappa,
        "fleiss": fleiss_kappa,
        "alpha_nominal": krippendorff_alpha,
        "alpha_ordinal": partial(krippendorff_alpha, level=Level.ORDINAL),
        "ac1": gwet_ac1,
    }
    with shared_draws():
        cards = {name: measure(ratings, resampling=resampling) for name, measure in measures.items()}
        pairs, correlation, linking, too_many = _pairs(table, names, resampling)
        without: dict[str, dict[str, Stat]] = {}
        for card in ("percent", "randolph", "alpha_ordinal"):
            for key, stat in leave_one_out(measures[card], ratings, resampling=resampling).items():
                without.setdefault(names[ratings.raters.index(key)], {})[card] = stat
        categories = per_category(ratings, resampling=resampling)
    return Agreement(
        cards=cards,
        correlation=correlation,
        linking=linking,
        pairs=pairs,
        without=without,
        categories=categories,
        q=len(table.categories),
        n_items=int(table.rated.sum()),
        n_pairable=cards["percent"].n_items,
        n_clusters=table.n_clusters,
        cluster_unit=table.cluster_unit,
        people=names,
        too_many=too_many,
    )


def _pairs(
    table: LabelTable, names: Sequence[str], resampling: Resampling | None
) -> tuple[tuple[PairRow, ...], Stat, Stat, bool]:
    chosen = list(combinations(range(table.n_people), 2))
    batch = Batch(table.n_clusters, resampling)
    items, columns = table.pair_items(), table.columns_of_people()
    blocks_of: dict[tuple[str, str], Blocks] = {}
    who: list[tuple[int, ...]] = []
    for a, b in chosen[:MAX_PAIRS]:
        blocks = add_pair(batch, items, columns[a], columns[b], rules=("linking",))
        if blocks.n_items:
            blocks_of[names[a], names[b]] = blocks
            who.append((a, b))
    people = people_of(who, table.n_people, resampling)
    figures = pair_figures(table.worth, has_covered=table.has_covered)
    rows = []
    for pair, blocks in blocks_of.items():
        stats = stats_of(batch, [blocks], estimates_of(batch, [blocks], figures, names=PAIR_NAMES))
        rows.append(PairRow(*pair, blocks.n_items, *(stats[name] for name in (*PAIR_NAMES, "linking"))))
    pairs = list(blocks_of.values())
    # Mean Pearson over pairs of people (Table 1).
    figure = replace(
        figures["pearson"],
        method="mean Pearson over pairs of people",
        reason=CONSTANT if pairs else NO_PAIR,
    )
    n_items = max((blocks.n_items for blocks in pairs), default=0)
    estimate = batch.estimate(figure, [blocks.cells for blocks in pairs], people=people)
    stat = estimate.stat(n_items=n_items, n_pairs=len(pairs))
    correlation = stat if people is not None else about_these(stat, table.n_people, "annotators")
    return tuple(rows), correlation, _linking(table, batch, pairs, people), len(chosen) > MAX_PAIRS


def _linking(table: LabelTable, batch: Batch, pairs: Sequence[Blocks], people: People | None) -> Stat:
    """Share of pairs of labels that link a common line, all pairs of people pooled (Table 1).

    `n_pairs` counts these pairs, `n_items` the items with one.
    """
    figure = Rate.of("pairs of labels that both cover and link: a line in common", "no insight is linked by two")
    if not pairs:
        return Stat.undefined(NO_PAIR, method=figure.method)
    estimate = batch.pooled(figure, [blocks.links["linking"] for blocks in pairs], people=people)
    codes, links = table.codes[:, : table.n_people], table.links[:, : table.n_people]
    covers = (codes > 0 if table.has_covered else codes != MISSING) & links.astype(bool)
    n_pairs = None if estimate.counts is None else estimate.counts[1]
    stat = replace(estimate.stat(), n_items=int((covers.sum(axis=1) >= 2).sum()), n_pairs=n_pairs)
    return stat if people is not None else about_these(stat, table.n_people, "annotators")


def as_json(agreement: Agreement) -> dict[str, Any]:
    """Plain values by name, null where undefined, with `intervals` and `reasons` beside them."""
    stats = dict(agreement.cards) | {"correlation": agreement.correlation, "linking": agreement.linking}
    return {
        **stat_json(stats),
        "q": agreement.q,
        "n_items": agreement.n_items,
        "n_pairable": agreement.n_pairable,
        "n_clusters": agreement.n_clusters,
        "clusters": agreement.cluster_unit,
        "annotators": list(agreement.people),
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "n": pair.n,
                **stat_json(
                    {name: getattr(pair, name) for name in ("percent", "randolph", "cohen", "pearson", "linking")}
                ),
            }
            for pair in agreement.pairs
        ],
        "leave_one_out": {name: stat_json(dict(stats)) for name, stats in agreement.without.items()},
        "categories": [
            {"category": row.category, "share": row.share, **stat_json({"agreement": row.agreement})}
            for row in agreement.categories
        ],
    }
