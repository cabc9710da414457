"""How far people agree among themselves: the cards, every pair, without each person, and category by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from annotation.figures.pairs import Blocks, add_pair, column, figures_of
from annotation.figures.plain import stat_json
from annotation.figures.table import LabelTable
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
from benchmarks.scoring.cross_table import CONSTANT, LINKED, pair_figures
from benchmarks.scoring.intervals import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.resampled import Batch, rate_stat, spread
from benchmarks.scoring.stat import Stat

PAIR_NAMES = ("exact_agreement", "randolph_kappa", "cohen_kappa", "pearson")
CARDS = ("percent", "randolph", "fleiss", "alpha_nominal", "alpha_ordinal", "ac1")
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


def agreement(table: LabelTable, *, resampling: Resampling = DEFAULT, public: bool = False) -> Agreement:
    """Every figure of the people of a table; with `public` they appear under their pseudonyms."""
    names = tuple(person.pseudonym if public else person.name for person in table.people)
    ratings = table.ratings()
    measures: dict[str, Measure] = {
        "percent": percent_agreement,
        "randolph": randolph_kappa,
        "fleiss": fleiss_kappa,
        "alpha_nominal": krippendorff_alpha,
        "alpha_ordinal": partial(krippendorff_alpha, level=Level.ORDINAL),
        "ac1": gwet_ac1,
    }
    with shared_draws():
        cards = {name: measures[name](ratings, resampling=resampling) for name in CARDS}
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
    table: LabelTable, names: Sequence[str], resampling: Resampling
) -> tuple[tuple[PairRow, ...], Stat, Stat, bool]:
    chosen = list(combinations(range(table.n_people), 2))
    too_many = len(chosen) > MAX_PAIRS
    batch = Batch(table.n_clusters, resampling)
    figures = pair_figures(table.worth, has_covered=table.has_covered)
    columns = [column(table, index) for index in range(table.n_people)]
    rows: list[PairRow] = []
    found: list[Blocks] = []
    for a, b in chosen[:MAX_PAIRS]:
        blocks = add_pair(batch, table, columns[a], columns[b], rules=("linking",))
        if blocks.n_items:
            found.append(blocks)
            rows.append(PairRow(names[a], names[b], blocks.n_items, *[Stat.undefined("-")] * 5))
    made = tuple(_with_figures(row, batch, blocks, figures) for row, blocks in zip(rows, found, strict=True))
    return made, _correlation(batch, found, figures), _linking(table, batch, found), too_many


def _with_figures(row: PairRow, batch: Batch, blocks: Blocks, figures: Any) -> PairRow:
    stats, _, _ = figures_of(batch, [blocks], figures, names=PAIR_NAMES)
    values = (stats[name] for name in (*PAIR_NAMES, "linking"))
    return PairRow(row.a, row.b, row.n, *values)


def _correlation(batch: Batch, found: Sequence[Blocks], figures: Any) -> Stat:
    """Mean Pearson over pairs of people (Table 1)."""
    figure, _ = figures.others["pearson"]
    cells = [blocks.cells for blocks in found]
    n_items = max((blocks.n_items for blocks in found), default=0)
    return spread(batch, cells, figure).stat(
        n_items=n_items,
        n_pairs=len(found),
        method="mean Pearson over pairs of people",
        reason=CONSTANT if found else "no item was labelled by two",
        resampling=batch.resampling,
    )


def _linking(table: LabelTable, batch: Batch, found: Sequence[Blocks]) -> Stat:
    """Share of pairs of labels that link a common line, all pairs of people pooled (Table 1).

    `n_pairs` counts these pairs, `n_items` the items with one.
    """
    method = "pairs of labels that both cover and link: a line in common"
    if not found:
        return Stat.undefined("no item was labelled by two", method=method)
    pooled = Batch(batch.n_clusters, batch.resampling)
    block = pooled.add(np.sum([batch.blocks[blocks.links["linking"]] for blocks in found], axis=0))
    hits, n = LINKED.counts(pooled.total(block))
    codes, links = table.codes[:, : table.n_people], table.links[:, : table.n_people]
    says = (codes > 0 if table.has_covered else codes >= 0) & links.astype(bool)
    stat = rate_stat(
        spread(pooled, [block], LINKED),
        hits=hits,
        n=n,
        method=method,
        reason="no insight is linked by two",
        resampling=batch.resampling,
    )
    return replace(stat, n_items=int((says.sum(axis=1) >= 2).sum()), n_pairs=n)


def as_json(found: Agreement) -> dict[str, Any]:
    """Plain values by name, null where undefined, with `intervals` and `reasons` beside them."""
    stats = dict(found.cards) | {"correlation": found.correlation, "linking": found.linking}
    return {
        **stat_json(stats),
        "q": found.q,
        "n_items": found.n_items,
        "n_pairable": found.n_pairable,
        "n_clusters": found.n_clusters,
        "clusters": found.cluster_unit,
        "annotators": list(found.people),
        "pairs": [pair_json(pair) for pair in found.pairs],
        "leave_one_out": {name: stat_json(dict(stats)) for name, stats in found.without.items()},
        "categories": [
            {"category": row.category, "share": row.share, **stat_json({"agreement": row.agreement})}
            for row in found.categories
        ],
    }


def pair_json(pair: PairRow) -> dict[str, Any]:
    """One pair as plain values."""
    stats = {name: getattr(pair, name) for name in ("percent", "randolph", "cohen", "pearson", "linking")}
    return {"a": pair.a, "b": pair.b, "n": pair.n, **stat_json(stats)}
